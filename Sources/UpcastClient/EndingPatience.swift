internal import MediaCore

/// Decides when a program that ends no longer waits for the daemon. Pure.
///
/// A daemon that is sending its last packets says so each second, however long that takes. A daemon that says nothing
/// for two seconds hangs, and could not end the broadcast in good order.
struct EndingPatience: Equatable {
    /// The daemon has begun the broadcast.
    var hasBegun = false
    /// A signal has come.
    private(set) var isSignalled = false
    private var began: MediaTime?
    private static let silence = MediaTime.seconds(2)
    /// GNU timeout signals its child, and then its process group. Both signals count as one.
    private static let sameSignal = MediaTime.milliseconds(200)

    var isEnding: Bool { began != nil }

    mutating func end(now: MediaTime) { began = began ?? now }

    /// A signal has come.
    ///
    /// - Returns: whether the signal ends the program at once, because the program was ending already.
    mutating func signalled(now: MediaTime) -> Bool {
        defer {
            end(now: now)
            isSignalled = true
        }
        return began.map { now - $0 >= Self.sameSignal } ?? false
    }

    /// - Parameter heard: when the daemon last sent something.
    func isOver(now: MediaTime, heard: MediaTime) -> Bool {
        guard let began else { return false }
        return !hasBegun || now - max(began, heard) >= Self.silence
    }
}
