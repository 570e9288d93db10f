package import MediaCore

/// When a failed destination makes another attempt.
package struct ReconnectPolicy: Sendable, Equatable {
    /// The delay before the first new attempt. Each further delay is `growth` times as long, up to `longestDelay`.
    package var firstDelay = MediaTime.milliseconds(500)
    package var longestDelay = MediaTime.seconds(30)
    package var growth = 1.6
    /// The number of new attempts in a row before the destination is given up; nil for no limit.
    package var maximumAttempts: Int?
    /// If media flows for this long, the next failure starts at `firstDelay` again. The time protects a server that
    /// accepts connections and closes them.
    package var healthyAfter = MediaTime.seconds(10)

    package init() {}

    package static let never: ReconnectPolicy = {
        var policy = ReconnectPolicy()
        policy.maximumAttempts = 0
        return policy
    }()
}

/// The delays between failed attempts. Pure; the caller passes the random numbers.
struct Backoff {
    let policy: ReconnectPolicy
    /// The number of attempts since the last success.
    private(set) var attempts = 0

    init(_ policy: ReconnectPolicy) { self.policy = policy }

    /// Returns the delay before the next attempt; nil if there is none. Half of the delay is random, so that the
    /// publishers of a server that comes back do not all connect at once.
    mutating func next(using random: inout some RandomNumberGenerator) -> MediaTime? {
        if let most = policy.maximumAttempts, attempts >= most { return nil }
        var delay = policy.firstDelay.secondsAsDouble
        for _ in 0..<min(attempts, 64) where delay < policy.longestDelay.secondsAsDouble { delay *= policy.growth }
        attempts += 1
        let whole = min(delay, policy.longestDelay.secondsAsDouble)
        return MediaTime(seconds: whole * Double.random(in: 0.5...1, using: &random))
    }

    mutating func reset() { attempts = 0 }
}
