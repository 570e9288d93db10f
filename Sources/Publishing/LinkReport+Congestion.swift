internal import MediaCore

extension LinkReport {
    /// Beyond a burst, the log says so.
    private static let lastingCongestion = MediaTime.seconds(2)

    /// Whether the log is to say that packets are late, or no longer.
    func isCongestionNews(isTold: Bool) -> Bool {
        guard let congestedSince else { return isTold }
        return !isTold && time - congestedSince >= Self.lastingCongestion
    }

    mutating func noteLateness(_ behind: MediaTime, at now: MediaTime) {
        self.behind = behind
        congestedSince = lateness > Self.congestedLateness ? congestedSince ?? now : nil
    }
}
