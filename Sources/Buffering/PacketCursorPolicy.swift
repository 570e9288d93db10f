package import MediaCore

/// When a cursor sheds: how far it may be behind the newest packet, in decode time.
package struct CursorPolicy: Equatable, Sendable {
    /// Behind this, frames that no other refers to are left out.
    package var softLimit: MediaTime
    /// Behind this, video is left out up to a keyframe that is not; one is asked for if there is none.
    package var hardLimit: MediaTime

    package init(softLimit: MediaTime = .milliseconds(700), hardLimit: MediaTime = .milliseconds(1500)) {
        precondition(softLimit <= hardLimit, "the soft limit comes first")
        self.softLimit = softLimit
        self.hardLimit = hardLimit
    }

    /// Nothing is left out but what the log itself forgets: for files.
    package static let keepEverything = CursorPolicy(
        softLimit: MediaTime(nanoseconds: .max), hardLimit: MediaTime(nanoseconds: .max))
}
