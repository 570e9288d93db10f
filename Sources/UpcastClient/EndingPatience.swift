internal import MediaCore

/// Decides when a program that ends waits no more for its daemon. Pure.
///
/// A daemon that sends out what it has says so each second, however long that takes. One that says nothing for two
/// seconds stands still, and could not end the broadcast in good order.
struct EndingPatience: Equatable {
    /// The daemon has begun the broadcast.
    var hasBegun = false
    /// A signal has come.
    private(set) var isSignalled = false
    private var began: MediaTime?
    private static let silence = MediaTime.seconds(2)
    /// GNU timeout signals its child, and then its group: both signals are one.
    private static let sameSignal = MediaTime.milliseconds(200)

    var isEnding: Bool { began != nil }

    mutating func end(now: MediaTime) { began = began ?? now }

    /// A signal has come.
    ///
    /// - Returns: whether it ends the program at once, because one has come before.
    mutating func signalled(now: MediaTime) -> Bool {
        defer {
            end(now: now)
            isSignalled = true
        }
        return began.map { now - $0 >= Self.sameSignal } ?? false
    }

    /// - Parameter heard: when the daemon has said something last.
    func isOver(now: MediaTime, heard: MediaTime) -> Bool {
        guard let began else { return false }
        return !hasBegun || now - max(began, heard) >= Self.silence
    }
}
