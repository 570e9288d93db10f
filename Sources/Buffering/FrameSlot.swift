internal import LinuxSystem
package import MediaCore

/// The mailbox between ingest and the video thread: one waiting frame, and the newest wins.
///
/// Owns the pictures: three of them, so that while one is filled and one is encoded there is always a third, and
/// neither thread ever waits for the other to give one back. `Tag` travels with the picture (when it is shown, how it
/// is painted). Memory: `pictureCount` times the capacity, reserved at `init`, resident once written.
package final class FrameSlot<Tag: Sendable>: Sendable {
    package static var pictureCount: Int { 3 }

    package enum Outcome: Sendable {
        case frame(Picture, Tag)
        case timeout
        /// The slot was closed and holds nothing any more.
        case closed
    }

    private struct State {
        var free: [Picture]
        var waiting: (picture: Picture, tag: Tag)?
        /// The last one that was handed over, unless it is filled anew.
        var newest: Picture?
        var isClosed = false
        var superseded: UInt64 = 0
    }

    private let monitor: Monitor<State>

    /// - Parameter pictureCapacity: bytes of each picture, as `Picture.requiredCapacity` says for the largest one.
    package init(pictureCapacity: Int) {
        monitor = Monitor(State(free: (0..<Self.pictureCount).map { _ in Picture(capacity: pictureCapacity) }))
    }

    /// Ingest thread: a picture to fill. With one thread on each side there always is one.
    package func acquire() -> Picture? {
        monitor.withLock { state in
            // The newest is the last to be taken: with three pictures there always is another one.
            guard let index = state.free.lastIndex(where: { $0 !== state.newest }) else {
                state.newest = nil
                return state.free.popLast()
            }
            return state.free.remove(at: index)
        }
    }

    /// Ingest thread: the picture that was handed over last, whole and unchanged until the next is; the video thread
    /// may be reading it, too. Nil before the first.
    package var newest: Picture? { monitor.withLock { $0.newest } }

    /// Ingest thread: hands a filled picture over; the one that was still waiting is superseded and counted.
    package func offer(_ picture: Picture, _ tag: Tag) {
        monitor.signal { state in
            if let old = state.waiting {
                state.free.append(old.picture)
                state.superseded += 1
            }
            state.waiting = (picture, tag)
            state.newest = picture
        }
    }

    /// Either thread: gives a picture back, unused or done with.
    package func recycle(_ picture: Picture) {
        monitor.withLock { $0.free.append(picture) }
    }

    /// Video thread: the waiting frame, or waits for one until `deadline`. After `close` a waiting frame still comes
    /// out.
    package func take(until deadline: MediaTime?) -> Outcome {
        monitor.wait(until: deadline) { state -> Outcome? in
            if let waiting = state.waiting {
                state.waiting = nil
                return .frame(waiting.picture, waiting.tag)
            }
            return state.isClosed ? .closed : nil
        } ?? .timeout
    }

    /// Any thread: no more frames will come; wakes the video thread.
    package func close() { monitor.signal { $0.isClosed = true } }

    /// Frames that a newer one replaced before the encoder was free.
    package var superseded: UInt64 { monitor.withLock { $0.superseded } }
}
