package import MediaCore
internal import Synchronization

/// Marks where a thread begins and ends a piece of work, so that another thread can detect that it is stuck.
///
/// A mark is two stores: no clock, no lock, no system call. The watching thread checks periodically whether the piece
/// is still the same. One thread marks, and one thread watches.
package final class WorkMark: Sendable {
    /// The thread's work in messages: "the video encoder".
    package let name: String
    /// Odd during a piece of work; each piece has its own number.
    private let count = Atomic<UInt64>(0)
    private let allowance = Atomic<Int64>(0)
    /// Used by the watching thread: the last piece that it has seen, and for how long.
    private let seen = Atomic<UInt64>(0)
    private let inside = Atomic<Int64>(0)

    package init(_ name: String) { self.name = name }

    /// Begins a piece of work and ends the previous one.
    ///
    /// - Parameter allowance: extra time for this piece, because it waits with its own deadline.
    package func begin(allowing allowance: MediaTime = .zero) {
        self.allowance.store(allowance.nanoseconds, ordering: .relaxed)
        let count = count.load(ordering: .relaxed)
        self.count.store(count | 1 == count ? count &+ 2 : count &+ 1, ordering: .releasing)
    }

    /// Ends the piece of work. The thread then waits for the next one.
    package func end() {
        let count = count.load(ordering: .relaxed)
        if count | 1 == count { self.count.store(count &+ 1, ordering: .releasing) }
    }

    /// The current piece of work.
    package struct Piece: Equatable, Sendable {
        package let number: UInt64
        package let allowance: MediaTime
    }

    /// Checks once. Returns how long the current piece has been seen, and its allowance; nil if the thread waits.
    ///
    /// - Parameter step: the time since the previous check.
    package func look(after step: MediaTime) -> (inside: MediaTime, allowance: MediaTime)? {
        guard let piece = current else { return nil }
        let isSame = seen.exchange(piece.number, ordering: .relaxed) == piece.number
        let time = isSame ? inside.load(ordering: .relaxed) + step.nanoseconds : 0
        inside.store(time, ordering: .relaxed)
        return (MediaTime(nanoseconds: time), piece.allowance)
    }

    /// The current piece; nil if the thread waits.
    package var current: Piece? {
        let count = count.load(ordering: .acquiring)
        guard count | 1 == count else { return nil }
        return Piece(number: count, allowance: MediaTime(nanoseconds: allowance.load(ordering: .relaxed)))
    }
}
