import TestSupport

extension Daemon {
    /// Pictures that came; 0 before a broadcast.
    func receivedPictures() throws -> Int { try videoCount("frames_received") }

    /// Pictures that were encoded, repetitions included; 0 before a broadcast.
    func encodedPictures() throws -> Int { try videoCount("frames_encoded") }

    /// Pictures of which the daemon has redrawn only a part; 0 before a broadcast.
    func partialPictures() throws -> Int { try videoCount("frames_partial") }

    private func videoCount(_ name: String) throws -> Int {
        (try status()["video"] as? [String: Any])?[name] as? Int ?? 0
    }

    /// Pictures encoded or not changed, repetitions left out, once every one that was received is accounted for.
    @discardableResult
    func settledFrames(received: Int? = nil) throws -> Int {
        try waitFor("every picture to be accounted for", evidence: { (try? self.statusText()) ?? "" }) {
            let status = try status()
            guard let video = status["video"] as? [String: Any], let drops = status["drops"] as? [String: Any] else {
                throw TestFailure("no video in the status")
            }
            func count(_ name: String) -> Int { video[name] as? Int ?? 0 }
            let encoded = count("frames_encoded") - count("frames_repeated") + count("frames_unchanged")
            let dropped = drops.filter { $0.key.hasPrefix("video_") }.values.reduce(0) { $0 + ($1 as? Int ?? 0) }
            let seen = count("frames_received")
            return seen == encoded + dropped && seen == received ?? seen ? encoded : nil
        }
    }
}
