package import LinuxSystem
package import MediaCore

/// The mailbox between ingest and the video thread. It holds one waiting frame, and the newest wins.
///
/// The slot owns two or three pictures, reserved at `init` and resident once written. The video thread always holds
/// one, the shown picture. With two others, one can wait while another is filled. With one other, the waiting picture
/// is superseded as soon as the next one begins to come, which matters only if encoding is too slow. No thread waits
/// for the other to return a picture. `Tag` travels with the picture.
package final class FrameSlot<Tag: Sendable>: Sendable {
    package enum Outcome: Sendable {
        case frame(Picture, Tag)
        /// The current picture is shown again.
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
        /// A requested repeat of the last picture; nil while a frame waits.
        var again: Tag?
        /// The last picture that was offered; nil if it was superseded or thrown away.
        var newest: Picture?
        var isClosed = false
        var isWoken = false
        var superseded: UInt64 = 0
        var thrownAway: UInt64 = 0
        /// The number of pictures, including those that the threads hold.
        var count: Int
        /// Whether to remove a picture as soon as one is free.
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
    private let clock: any TimeSource

    /// - Parameters:
    ///   - shown: the first picture of the video thread, which recycles it when it takes another.
    ///   - others: 1 or 2 pictures of the same size.
    ///   - clock: the clock of `take`.
    package init(shown: Picture, others: Int, clock: any TimeSource = MonotonicClock()) {
        precondition((1...2).contains(others), "one picture to fill, and one more to wait")
        var free = (0..<others).map { _ in Picture(width: shown.width, height: shown.height) }
        free.reserveCapacity(others + 1)
        (width, height, self.clock) = (shown.width, shown.height, clock)
        monitor = Monitor(State(free: free, count: others + 1))
    }

    /// The number of pictures. Any thread.
    package var pictureCount: Int { monitor.withLock { $0.count } }

    /// Reduces three pictures to two as soon as one is free. Any thread.
    package func shedPicture() {
        monitor.withLock { state in
            guard state.count == 3, !state.shedsOne else { return }
            state.shedsOne = true
            if let picture = state.free.popLast() { state.giveBack(picture) }
        }
    }

    /// Increases two pictures to three. Any thread.
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

    /// Returns a picture to fill. Ingest thread.
    ///
    /// - Returns: nil if the slot has two pictures and the video thread holds both, as it does for a moment when it
    ///   takes one and has not returned the other.
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

    /// Returns a picture that no thread uses, and leaves the waiting frame alone; nil if there is none. Video thread.
    package func acquireFree() -> Picture? { monitor.withLock { $0.free.popLast() } }

    /// The last picture that was offered, which waits or is shown. The video thread may be reading it, too. Nil before
    /// the first, and if the last one was superseded, thrown away or forgotten. Ingest thread.
    package var newest: Picture? { monitor.withLock { $0.newest } }

    /// Marks the last frame as shown in another form, so that no frame is compared with it. Any thread.
    package func forgetNewest() { monitor.withLock { $0.newest = nil } }

    /// Hands over a filled picture. A frame that still waits is superseded and counted. Ingest thread.
    ///
    /// - Parameter isWanted: asked under the slot's lock. After a change that makes it false, call `throwAway`: the
    ///   picture is then either refused here or thrown away there.
    /// - Returns: false if it is not wanted; the caller keeps the picture.
    @discardableResult
    package func offer(_ picture: Picture, _ tag: Tag, if isWanted: () -> Bool = { true }) -> Bool {
        monitor.signal { state in
            guard isWanted() else { return false }
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
            return true
        }
    }

    /// Offers `newest` again. If it still waits, or a repeat is already requested, they become one, and one counts as
    /// superseded. Ingest thread.
    package func offerAgain(_ tag: Tag) {
        monitor.signal { state in
            if state.waiting != nil || state.again != nil { state.superseded += 1 }
            if state.waiting == nil { state.again = tag }
        }
    }

    /// Throws the waiting frame away, keeps later frames from being compared with it, and wakes the video thread. Any
    /// thread.
    ///
    /// - Returns: whether a frame waited.
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

    /// Makes the current `take`, or the next one without a frame, return `.woken`. Any thread.
    package func wake() { monitor.signal { $0.isWoken = true } }

    /// Returns a picture to the slot, where it will be filled again. Ingest or video thread.
    package func recycle(_ picture: Picture) {
        monitor.withLock { state in
            if state.newest === picture { state.newest = nil }
            state.giveBack(picture)
        }
    }

    /// Takes the waiting frame, or waits for one until `deadline`. After `close` it still returns a waiting frame.
    /// Video thread.
    package func take(until deadline: MediaTime?) -> Outcome {
        monitor.wait(until: deadline, by: clock) { state -> Outcome? in
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

    /// Closes the slot: no more frames follow. Wakes the video thread. Any thread.
    package func close() { monitor.signal { $0.isClosed = true } }

    package var isClosed: Bool { monitor.withLock { $0.isClosed } }

    /// Frames that `throwAway` discarded.
    package var thrownAway: UInt64 { monitor.withLock { $0.thrownAway } }

    /// Frames that a newer one replaced before the video thread took them.
    package var superseded: UInt64 { monitor.withLock { $0.superseded } }
}
