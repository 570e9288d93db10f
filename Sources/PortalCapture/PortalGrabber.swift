package import Grabbing
internal import LinuxSystem
package import MediaCore
package import UpcastClient
internal import WaylandCapture

/// Sends the frames of a shared screen to the daemon when it changes, and no faster than the frame rate. One thread.
///
/// PipeWire brings pictures in memory of their sender. Only the changed parts are copied, once, into memory that the
/// daemon reads.
package final class PortalGrabber {
    package enum Notice: Equatable, Sendable {
        /// The user is asked what to share.
        case asking
        /// The reason why nothing can be captured for the moment; the last frame stays.
        case waiting(String)
        /// What is captured from now on.
        case capturing(String)
        case hint(String)
    }

    private let screen: SharedScreen
    private let connection: CaptureConnection
    private let clock = MonotonicClock()
    private let interval: MediaTime
    private var schedule: GrabSchedule
    private let places = FramePlaces()
    private var stale = StaleParts()
    /// The damage since the last frame that was sent.
    private var damage = DamageList()
    private var lost = LostPicture()
    private var time = PictureTime()
    /// Where the pointer is in the last frame that was sent.
    private var drawnPointer: CaptureRectangle?
    /// Whether the picture in hand has not been sent yet. Its frame then gets the time at which the picture was shown.
    private var isNew = true
    private var told: String?
    /// Nothing is sent before this time.
    private var pauseEnd = MediaTime.zero
    /// When to report that no picture comes; nil once one has come.
    private var silenceEnd: MediaTime?
    private var isPaused = false
    private static let silence = MediaTime.seconds(10)
    /// How long an old picture is held back after a pause, because a newer one may come.
    private static let renewal = MediaTime.milliseconds(500)

    package init(_ rate: FrameRate, _ screen: SharedScreen, _ connection: CaptureConnection) {
        self.screen = screen
        self.connection = connection
        interval = MediaTime(sample: Int64(rate.denominator), rate: rate.numerator)
        schedule = GrabSchedule(rate)
    }

    /// Runs until it is told to stop.
    ///
    /// - Parameters:
    ///   - control: the orders of other threads.
    ///   - sent: called after each frame.
    ///   - notice: called when the picture comes, goes or changes.
    /// - Throws: `SharedScreen.Failure`, `SharingRefused`, `ScreenError`, or `CaptureError` of the daemon.
    package func run(_ control: GrabControl, sent: () -> Void, notice: (Notice) -> Void) throws {
        let isShared = try screen.share(stop: control.descriptor, { control.take().isStopped }) {
            switch $0 {
            case .asking: notice(.asking)
            case .hint(let text): notice(.hint(text))
            }
        }
        guard isShared, let stream = screen.stream, let hand = screen.hand else { return }
        silenceEnd = clock.now() + Self.silence
        pauseEnd = clock.now() + Self.renewal
        stream.enter()
        defer {
            stream.activate(false)
            stream.leave()
        }
        tell(hand, notice)
        while true {
            let orders = control.take()
            if orders.isStopped { return }
            pause(orders.isPaused, stream)
            if orders.sendsAgain { renew() }
            try screen.process()
            // Call this before the pictures are taken: the first one may have come with the start.
            lost.note(isStreaming: stream.stage == .streaming && !isPaused, starts: stream.starts, at: clock.now())
            try hand.takeBuffers { try take($0, hand, notice) }
            let now = clock.now()
            if let end = silenceEnd, end <= now { complain(stream, notice) }
            if let due = lost.due, due <= now {
                lost.noteAsked(at: now)
                stream.askAgain()
            }
            let picture = unsafe isPaused || screen.mayHaveEnded || hand.memory == nil ? nil : hand.picture
            let due = picture == nil ? nil : schedule.due(now: .zero).map { max($0, pauseEnd) }
            if let picture, let due, due <= now {
                try send(hand, picture, now, sent)
            } else {
                wait(until: due, now, control.descriptor, stream)
            }
        }
    }

    /// Pauses the capture while nothing may be sent.
    private func pause(_ isPaused: Bool, _ stream: PipeWireStream) {
        stream.activate(!isPaused)
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        guard !isPaused else { return lost.notePicture() }
        pauseEnd = clock.now() + Self.renewal
        if screen.hand?.picture == nil { silenceEnd = clock.now() + Self.silence }
    }

    /// Sends the picture again, because the daemon does not have it.
    private func renew() {
        damage.noteAll()
        schedule.noteChange()
    }

    private func complain(_ stream: PipeWireStream, _ notice: (Notice) -> Void) {
        silenceEnd = nil
        guard !isPaused else { return }
        let cause = switch stream.stage {
        case .streaming:
            "the desktop sends no picture of what is shared; it may be minimized, or comes when something changes"
        default: "PipeWire does not link the desktop's stream; its session manager has to run, such as WirePlumber"
        }
        notice(.waiting(cause))
    }

    // MARK: Pictures

    private func take(_ change: PictureInHand.Change, _ hand: PictureInHand, _ notice: (Notice) -> Void) throws {
        switch change {
        case .pointer: break
        case .missing: return lost.noteLoss(at: clock.now())
        case .unusable(let error):
            guard error.isTemporary else { throw error }
            // The picture has come. If it is asked for again, the same one comes.
            lost.notePicture()
            if told != error.description { notice(.waiting(error.description)) }
            told = error.description
            return
        case .picture(let changed):
            (silenceEnd, pauseEnd, isNew) = (nil, .zero, true)
            lost.notePicture()
            note(changed, hand)
            tell(hand, notice)
        }
        schedule.noteChange()
    }

    private func note(_ changed: [CaptureRectangle]?, _ hand: PictureInHand) {
        guard let changed, let origin = hand.picture?.origin else {
            damage.noteAll()
            return stale.note(nil)
        }
        for rectangle in changed {
            let rectangle = rectangle.moved(by: origin)
            damage.note(rectangle)
            stale.note(rectangle)
        }
    }

    private func tell(_ hand: PictureInHand, _ notice: (Notice) -> Void) {
        guard let picture = hand.picture else { return }
        let tag = hand.transform.orientation()
        let text = "what the desktop shares, \(picture.width)x\(picture.height) pixels"
            + (tag == .up ? "" : ", orientation \(tag.rawValue)")
        if told != text { notice(.capturing(text)) }
        told = text
    }

    private func send(
        _ hand: PictureInHand, _ picture: StreamPicture, _ now: MediaTime, _ sent: () -> Void
    ) throws {
        let format = CaptureVideoFormat(layout: picture.layout)
        guard let frame = try connection.frame(format, filledBy: places), let memory = unsafe hand.memory else {
            // There is no room for another frame until the daemon has read one.
            pauseEnd = now + interval
            return
        }
        schedule.grabbed(at: now)
        let covered = hand.pointer.area(in: picture)
        unsafe fill(frame, picture, memory, but: covered)
        if let covered {
            unsafe hand.pointer.draw(into: frame.bytes, picture)
            damage.note(covered)
        }
        if let drawnPointer { damage.note(drawnPointer) }
        drawnPointer = covered
        let time = time.time(stamp: isNew ? hand.stamp : nil, arrival: now)
        isNew = false
        try connection.send(
            frame, at: .nanoseconds(time.nanoseconds), orientation: hand.transform.orientation(),
            damage: damage.damage)
        damage.clear()
        sent()
    }

    /// Updates the memory of a frame to the picture in hand.
    private func fill(
        _ frame: CaptureFrame, _ picture: StreamPicture, _ memory: UnsafeRawBufferPointer, but drawn: CaptureRectangle?
    ) {
        guard let place = frame.writerPlace.map({ StaleParts.Place(memory: $0.memory, offset: $0.offset) }) else {
            return unsafe picture.copy(nil, from: memory, to: frame.bytes)
        }
        if let parts = stale.parts(of: place) {
            for part in parts { unsafe picture.copy(part, from: memory, to: frame.bytes) }
        } else {
            unsafe picture.copy(nil, from: memory, to: frame.bytes)
        }
        stale.filled(place, but: drawn)
    }

    /// Waits until something happens, or `due`.
    private func wait(until due: MediaTime?, _ now: MediaTime, _ orders: CInt, _ stream: PipeWireStream) {
        var wait = GrabWait(orders: orders, now: now)
        wait.note(stream.descriptor)
        screen.note(in: &wait)
        wait.note(due)
        wait.note(silenceEnd)
        wait.note(lost.due)
        wait.wait()
    }
}

extension CaptureRectangle {
    /// The rectangle in a crop that starts at `origin` of the sender's picture.
    fileprivate func moved(by origin: (x: Int, y: Int)) -> Self {
        Self(x: x - origin.x, y: y - origin.y, width: width, height: height)
    }
}
