internal import MediaCore

extension LinkReport {
    /// The log mentions only congestion that lasts this long, not bursts.
    private static let lastingCongestion = MediaTime.seconds(2)

    /// Whether the log should now say that packets are late, or on time again.
    func isCongestionNews(isTold: Bool) -> Bool {
        guard let congestedSince else { return isTold }
        return !isTold && time - congestedSince >= Self.lastingCongestion
    }

    mutating func noteLateness(_ behind: MediaTime, at now: MediaTime) {
        self.behind = behind
        congestedSince = lateness > Self.congestedLateness ? congestedSince ?? now : nil
    }

    /// - Parameter packets: shed since the destination began.
    mutating func noteShed(_ packets: Int, at now: MediaTime) {
        if packets > shedPackets { shedAt = now }
        shedPackets = packets
    }
}
