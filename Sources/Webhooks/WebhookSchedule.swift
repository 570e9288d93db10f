package import MediaCore

/// When a failed delivery is tried again. Pure.
package struct WebhookSchedule: Sendable, Equatable {
    package var firstDelay = MediaTime.seconds(1)
    package var longestDelay = MediaTime.seconds(300)
    /// Attempts for one delivery, at least 1.
    package var maximumAttempts: Int

    package init(maximumAttempts: Int) { self.maximumAttempts = maximumAttempts }

    /// The time until the next attempt: each delay is twice the one before, minus a random part of up to half, so that
    /// many daemons do not come back to a server at once.
    ///
    /// - Parameters:
    ///   - attempts: the failed attempts so far.
    ///   - asked: the delay that the server asked for (Retry-After). The result is at least this, within
    ///     `longestDelay`.
    /// - Returns: nil after the last attempt.
    package func delay(
        after attempts: Int, asked: MediaTime?, using random: inout some RandomNumberGenerator
    ) -> MediaTime? {
        guard attempts < maximumAttempts else { return nil }
        var full = firstDelay
        for _ in 1..<max(1, attempts) where full < longestDelay { full = full * 2 }
        full = min(full, longestDelay)
        let least = full.nanoseconds / 2
        let delay = MediaTime(nanoseconds: Int64.random(in: least...full.nanoseconds, using: &random))
        return max(delay, min(asked ?? .zero, longestDelay))
    }
}
