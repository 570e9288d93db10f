package import MediaCore
internal import Synchronization

/// Where a thread marks that it begins and ends one piece of work, so that another can see whether it still gets on.
///
/// The thread that works only counts: two stores, no clock, no lock, no system call. Another looks now and then, and
/// sees whether it is still the same piece. One thread marks, one looks.
package final class WorkMark: Sendable {
    /// Name of the thread's work in messages: "the video encoder".
    package let name: String
    /// Odd inside a piece of work; each has a number of its own.
    private let count = Atomic<UInt64>(0)
    private let allowance = Atomic<Int64>(0)
    /// The looking thread's: the piece that it saw last, and for how long it has seen it.
    private let seen = Atomic<UInt64>(0)
    private let inside = Atomic<Int64>(0)

    package init(_ name: String) { self.name = name }

    /// Starts a piece of work and ends the previous one.
    ///
    /// - Parameter allowance: how much longer than others it may take, because it waits with a deadline of its own.
    package func begin(allowing allowance: MediaTime = .zero) {
        self.allowance.store(allowance.nanoseconds, ordering: .relaxed)
        let count = count.load(ordering: .relaxed)
        self.count.store(count | 1 == count ? count &+ 2 : count &+ 1, ordering: .releasing)
    }

    /// Ends the piece of work. The thread waits for the next one.
    package func end() {
        let count = count.load(ordering: .relaxed)
        if count | 1 == count { self.count.store(count &+ 1, ordering: .releasing) }
    }

    /// The current piece of work.
    package struct Piece: Equatable, Sendable {
        package let number: UInt64
        package let allowance: MediaTime
    }

    /// One look: how long the thread has been seen in the piece of work that it is in, and how much longer than others
    /// that may take. Nil where it waits.
    ///
    /// - Parameter step: since the look before.
    package func look(after step: MediaTime) -> (inside: MediaTime, allowance: MediaTime)? {
        guard let piece = current else { return nil }
        let isSame = seen.exchange(piece.number, ordering: .relaxed) == piece.number
        let time = isSame ? inside.load(ordering: .relaxed) + step.nanoseconds : 0
        inside.store(time, ordering: .relaxed)
        return (MediaTime(nanoseconds: time), piece.allowance)
    }

    /// Nil where it waits.
    package var current: Piece? {
        let count = count.load(ordering: .acquiring)
        guard count | 1 == count else { return nil }
        return Piece(number: count, allowance: MediaTime(nanoseconds: allowance.load(ordering: .relaxed)))
    }
}
