package import MediaCore

/// When a destination that has failed is tried again.
package struct ReconnectPolicy: Sendable, Equatable {
    /// Before the first new attempt; each further one takes `growth` times as long.
    package var firstDelay = MediaTime.milliseconds(500)
    package var longestDelay = MediaTime.seconds(30)
    package var growth = 1.6
    /// New attempts in a row before the destination is given up; nil never gives up.
    package var maximumAttempts: Int?
    /// Media that flows for as long counts as success: the next failure starts at `firstDelay` again. A server that
    /// accepts and then throws out is not to be hammered.
    package var healthyAfter = MediaTime.seconds(10)

    package init() {}

    package static let never: ReconnectPolicy = {
        var policy = ReconnectPolicy()
        policy.maximumAttempts = 0
        return policy
    }()
}

/// The delays between attempts that fail in a row: pure, with the caller's dice.
struct Backoff {
    let policy: ReconnectPolicy
    /// Attempts announced since the last success.
    private(set) var attempts = 0

    init(_ policy: ReconnectPolicy) { self.policy = policy }

    /// How long to wait before the next attempt, or nil where there is to be none. Half of it is chance: a server that
    /// comes back must not be met by all its publishers at once.
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
