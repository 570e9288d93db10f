internal import LinuxSystem
package import MediaCore

/// The mailbox between ingest and the video thread: one waiting frame, and the newest wins.
///
/// Owns the pictures. The video thread always holds one, the one that it shows; with a second and a third, one can wait
/// while another is filled. With only two, a picture that waits is given up as soon as the next begins to come, which
/// matters only where encoding is too slow anyway. Neither thread ever waits for the other to give one back. `Tag`
/// travels with the picture. Memory: two or three pictures, reserved at `init`, resident once written.
package final class FrameSlot<Tag: Sendable>: Sendable {
    package enum Outcome: Sendable {
        case frame(Picture, Tag)
        /// The picture that is shown is to be shown once more.
        case again(Tag)
        /// `wake` or `throwAway` was called.
        case woken
        case timeout
        /// The slot was closed and holds nothing any more.
        case closed
    }

    private struct State {
        var free: [Picture]
        var waiting: (picture: Picture, tag: Tag)?
        /// Nothing waits but the wish to have the last picture again.
        var again: Tag?
        /// The last one that was handed over, unless it was given up.
        var newest: Picture?
        var isClosed = false
        var isWoken = false
        var superseded: UInt64 = 0
        var thrownAway: UInt64 = 0
        /// Pictures that exist, those that the threads hold among them.
        var count: Int
        /// A picture is to go as soon as one is free.
        var shedsOne = false

        mutating func giveBack(_ picture: Picture) {
            guard shedsOne else { return free.append(picture) }
            shedsOne = false
            count -= 1
        }
    }

    private let monitor: Monitor<State>
    private let width: Int
    private let height: Int

    /// - Parameters:
    ///   - shown: what the video thread holds from the start: it recycles it when it takes another.
    ///   - others: 1 or 2 pictures of the same size.
    package init(shown: Picture, others: Int) {
        precondition((1...2).contains(others), "one picture to fill, and one more to wait")
        var free = (0..<others).map { _ in Picture(width: shown.width, height: shown.height) }
        free.reserveCapacity(others + 1)
        (width, height) = (shown.width, shown.height)
        monitor = Monitor(State(free: free, count: others + 1))
    }

    /// Any thread: how many pictures there are.
    package var pictureCount: Int { monitor.withLock { $0.count } }

    /// Any thread: one picture fewer, where there are three, as soon as one is free.
    package func shedPicture() {
        monitor.withLock { state in
            guard state.count == 3, !state.shedsOne else { return }
            state.shedsOne = true
            if let picture = state.free.popLast() { state.giveBack(picture) }
        }
    }

    /// Any thread: three pictures again, where there are two.
    package func restorePicture() {
        monitor.withLock { state in
            if state.shedsOne {
                state.shedsOne = false
            } else if state.count == 2 {
                state.free.append(Picture(width: width, height: height))
                state.count += 1
            }
        }
    }

    /// Ingest thread: a picture to fill. With one thread on each side there always is one.
    package func acquire() -> Picture? {
        monitor.withLock { state in
            if let picture = state.free.popLast() { return picture }
            guard let old = state.waiting else { return nil }
            state.waiting = nil
            state.newest = nil
            state.superseded += 1
            return old.picture
        }
    }

    /// Video thread: a picture that nobody uses. The frame that waits stays; nil where no picture is left beside it.
    package func acquireFree() -> Picture? { monitor.withLock { $0.free.popLast() } }

    /// Ingest thread: the picture that was handed over last, which waits or is shown; the video thread may be reading
    /// it, too. Nil before the first, and where the last had to be given up.
    package var newest: Picture? { monitor.withLock { $0.newest } }

    /// Any thread: what was handed over last is shown otherwise than it came; nothing is to be compared with it.
    package func forgetNewest() { monitor.withLock { $0.newest = nil } }

    /// Ingest thread: hands a filled picture over; the one that was still waiting is superseded and counted.
    package func offer(_ picture: Picture, _ tag: Tag) {
        monitor.signal { state in
            if let old = state.waiting {
                state.giveBack(old.picture)
                state.superseded += 1
            }
            if state.again != nil {
                state.again = nil
                state.superseded += 1
            }
            state.waiting = (picture, tag)
            state.newest = picture
        }
    }

    /// Ingest thread: `newest` once more. Where it has not been taken yet, or is already wanted again, the two are one,
    /// which counts as superseded.
    package func offerAgain(_ tag: Tag) {
        monitor.signal { state in
            if state.waiting != nil || state.again != nil { state.superseded += 1 }
            if state.waiting == nil { state.again = tag }
        }
    }

    /// Any thread: the frame that waits is not wanted any more, and no later one is to be compared with it; wakes the
    /// video thread.
    ///
    /// - Returns: whether one waited.
    @discardableResult
    package func throwAway() -> Bool {
        monitor.signal { state in
            let waited = state.waiting != nil || state.again != nil
            state.thrownAway += (state.waiting == nil ? 0 : 1) + (state.again == nil ? 0 : 1)
            if let waiting = state.waiting { state.giveBack(waiting.picture) }
            state.waiting = nil
            state.again = nil
            state.newest = nil
            state.isWoken = true
            return waited
        }
    }

    /// Any thread: makes the video thread's `take`, or its next one that has no frame, return `.woken`.
    package func wake() { monitor.signal { $0.isWoken = true } }

    /// Either thread: gives a picture back, unused or done with.
    package func recycle(_ picture: Picture) {
        monitor.withLock { $0.giveBack(picture) }
    }

    /// Video thread: the waiting frame, or waits for one until `deadline`. After `close` a waiting frame still comes
    /// out.
    package func take(until deadline: MediaTime?) -> Outcome {
        monitor.wait(until: deadline) { state -> Outcome? in
            if let waiting = state.waiting {
                state.waiting = nil
                return .frame(waiting.picture, waiting.tag)
            }
            if let tag = state.again {
                state.again = nil
                return .again(tag)
            }
            // Checked last, so that repeated wake-ups cannot starve frames.
            if state.isWoken {
                state.isWoken = false
                return .woken
            }
            return state.isClosed ? .closed : nil
        } ?? .timeout
    }

    /// Any thread: no more frames will come; wakes the video thread.
    package func close() { monitor.signal { $0.isClosed = true } }

    package var isClosed: Bool { monitor.withLock { $0.isClosed } }

    /// Frames that `throwAway` has thrown away.
    package var thrownAway: UInt64 { monitor.withLock { $0.thrownAway } }

    /// Frames that a newer one replaced before the encoder was free.
    package var superseded: UInt64 { monitor.withLock { $0.superseded } }
}
