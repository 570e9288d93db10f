internal import Glibc
package import Grabbing
package import LinuxSystem
package import MediaCore
package import UpcastClient

/// Sends the frames of an output to the daemon when the output changes, and no faster than the frame rate. One thread.
package final class WaylandGrabber {
    package struct Settings: Equatable, Sendable {
        /// The output's name; nil for the only one, or the first.
        package var output: String?
        /// A part of the output, in logical pixels from its upper left corner; nil for all of it.
        package var part: CaptureRectangle?
        package var rate: FrameRate
        package var showsPointer: Bool

        package init(output: String?, part: CaptureRectangle?, rate: FrameRate, showsPointer: Bool) {
            (self.output, self.part, self.rate, self.showsPointer) = (output, part, rate, showsPointer)
        }
    }

    package enum Notice: Equatable, Sendable {
        /// The reason why nothing can be captured for the moment; the last frame stays.
        case waiting(String)
        /// What is captured from now on.
        case capturing(String)
        /// Information for the user.
        case hint(String)
    }

    private let settings: Settings
    private let compositor: WaylandConnection
    private let connection: CaptureConnection
    private let clock = MonotonicClock()
    private let interval: MediaTime
    private var schedule: GrabSchedule
    private let choice: Monitor<OutputChoice>
    private var output: WaylandOutput?
    private var part: CaptureRectangle?
    /// Pictures show the whole output, and the part is cut out of them here.
    private var isCut = false
    private var frame: CaptureFrame?
    /// For frames that this grabber fills.
    private let places = FramePlaces()
    /// A frame that is used again, so that nothing is allocated.
    private var spare: CaptureFrame?
    private var format: WaylandFormat?
    private var damage = DamageList()
    private var time = PictureTime()
    private var attempts = FailedAttempts()
    /// The compositor is not asked for a picture before this time.
    private var pauseEnd = MediaTime.zero
    /// False for the first picture of an output, which comes whether or not anything changes.
    private var waitsForChange = false
    /// The last reported reason why there is no output; nil while there is one.
    private var told: String?

    /// - Parameters:
    ///   - choice: shared by all connections to a compositor.
    ///   - compositor: a connection that has had no grabber before.
    package init(
        _ settings: Settings, _ choice: Monitor<OutputChoice>, _ compositor: WaylandConnection,
        _ connection: CaptureConnection
    ) {
        self.settings = settings
        self.compositor = compositor
        self.connection = connection
        interval = MediaTime(sample: Int64(settings.rate.denominator), rate: settings.rate.numerator)
        schedule = GrabSchedule(settings.rate)
        self.choice = choice
        choice.withLock { $0.connect() }
    }

    /// Checks what can be checked before the first picture.
    ///
    /// - Throws: an error that says what to change.
    package static func check(
        _ settings: Settings, _ choice: OutputChoice, _ compositor: WaylandConnection
    ) throws(ScreenError) {
        var choice = choice
        let output = try choice.choose(among: compositor.outputs)
        _ = try output.place(of: settings.part)
    }

    /// Runs until it is told to stop.
    ///
    /// - Parameters:
    ///   - control: the orders of other threads.
    ///   - sent: called after each frame.
    ///   - notice: called when the output comes, goes or changes.
    /// - Throws: `WaylandConnection.Failure.lost`, `ScreenError`, or `CaptureError` of the daemon.
    package func run(_ control: GrabControl, sent: () -> Void, notice: (Notice) -> Void) throws {
        defer {
            compositor.endSession()
            compositor.endCheck()
            frame = nil
        }
        while true {
            let orders = control.take()
            if orders.isStopped { return }
            // Old pictures are not wanted. The next one is whole, and does not wait for a change.
            if orders.isPaused || orders.sendsAgain { forgetOutput() }
            try compositor.read()
            if compositor.outputsHaveChanged() { try findOutput(notice) }
            let now = clock.now()
            compositor.check(now: now)
            if try !orders.isPaused && advance(now, sent, notice) { continue }
            let isAsking = !orders.isPaused && output != nil && compositor.stage == .idle
            var wait = GrabWait(orders: control.descriptor, now: now)
            // The compositor may not have accepted all requests yet.
            wait.note(compositor.descriptor, events: Int16(try compositor.flush() ? POLLIN : POLLIN | POLLOUT))
            wait.note(isAsking ? nextAsk : nil)
            wait.note(compositor.nextCheck)
            wait.wait()
        }
    }

    // MARK: The output

    private func findOutput(_ notice: (Notice) -> Void) throws(ScreenError) {
        let outputs = compositor.outputs
        do throws(ScreenError) {
            let found = try choice.withLock { choice throws(ScreenError) in try choice.choose(among: outputs) }
            let place = try found.place(of: settings.part)
            if let output, output.looksLike(found), part == place {
                // It may have looked otherwise when the picture was made.
                if isCut { forgetOutput() }
                return self.output = found
            }
            let isNew = output?.name != found.name
            forgetOutput()
            (output, part, attempts) = (found, place, FailedAttempts())
            isCut = place != nil && (found.transform != .normal || compositor.means(ofRegion: true) == nil)
            told = nil
            notice(.capturing(Self.sentence(found, place)))
            if isNew, let hint = choice.withLock({ $0.hint(found, among: outputs) }) { notice(.hint(hint)) }
        } catch {
            guard error.isTemporary else { throw error }
            forgetOutput()
            output = nil
            if told != error.description { notice(.waiting(error.description)) }
            told = error.description
        }
    }

    /// Discards pictures of an output that has changed, including those on their way: they are of no use.
    private func forgetOutput() {
        compositor.endSession()
        frame = nil
        damage.noteAll()
        waitsForChange = false
        pauseEnd = .zero
    }

    private static func sentence(_ output: WaylandOutput, _ part: CaptureRectangle?) -> String {
        let tag = output.transform.orientation()
        return "\(part.map { "\($0.name) of " } ?? "")output \(output.name), \(output.width)x\(output.height) pixels"
            + (tag == .up ? "" : ", orientation \(tag.rawValue)")
    }

    // MARK: Pictures

    /// The compositor gives a picture at its next refresh. The request is sent a little earlier, so that the picture
    /// comes in time.
    private var lead: MediaTime {
        let period = min(output?.refresh ?? .zero, interval)
        return MediaTime(nanoseconds: period.nanoseconds / 2)
    }

    /// When to ask for the next picture.
    private var nextAsk: MediaTime { max((schedule.due(now: .zero) ?? .zero) - lead, pauseEnd) }

    /// Advances the picture by one stage. False if the compositor has to act, or time has to pass.
    private func advance(_ now: MediaTime, _ sent: () -> Void, _ notice: (Notice) -> Void) throws -> Bool {
        guard let output else { return false }
        switch compositor.stage {
        case .idle:
            let region = isCut ? nil : part
            let means = compositor.means(ofRegion: part != nil) ?? compositor.means(ofRegion: false)
            guard nextAsk <= now, let means else { return false }
            compositor.ask(means, output, pointer: settings.showsPointer, region: region)
            // A session may have described its pictures already.
            return compositor.stage != .asked
        case .asked, .copying: return false
        case .described: try copy(output, now, notice)
        case .ready: try send(output, now, sent, notice)
        case .failed: giveUp(now, notice, "the compositor gives no picture of \(output.name); it may be switched off")
        }
        return true
    }

    private func copy(_ output: WaylandOutput, _ now: MediaTime, _ notice: (Notice) -> Void) throws {
        let format: WaylandFormat
        do throws(ScreenError) { format = try compositor.format(isCut: isCut) } catch {
            guard error.isTemporary else { throw error }
            // The mode of the output has to change first.
            return giveUp(now, notice, error.description)
        }
        let size = cut(output, format) ?? CaptureRectangle(x: 0, y: 0, width: format.width, height: format.height)
        guard ScreenArea.canBeSent(width: size.width, height: size.height) else {
            // The size of a part was checked with another rounding.
            return giveUp(
                now, notice, "the area of the output \(output.name) is \(size.width)x\(size.height) pixels, which "
                    + "cannot be sent: \(ScreenArea.limits)")
        }
        guard try takeFrame(format, width: size.width, height: size.height) else {
            // There is no room for another frame until the daemon has read one.
            compositor.endPicture()
            pauseEnd = now + interval
            return
        }
        self.format = format
        try compositor.copy(into: isCut ? nil : frame, format, waits: waitsForChange)
    }

    /// What is cut out of a picture; nil if all of it is sent.
    private func cut(
        _ output: WaylandOutput, _ format: WaylandFormat, isUpsideDown: Bool = false
    ) -> CaptureRectangle? {
        isCut ? part.map { output.stored($0, in: format, isUpsideDown: isUpsideDown) } : nil
    }

    /// False if there is no room for another frame.
    private func takeFrame(_ format: WaylandFormat, width: Int, height: Int) throws -> Bool {
        let layout = CaptureVideoFormat(
            layout: VideoSampleFormat(
                packed: format.pixelFormat, width: width, height: height,
                color: ColorDescription(matrix: .bt709, range: .full)))
        // A picture with changes beside the part has not used the frame.
        if let frame, frame.format == layout { return true }
        // If the frame is not sent, its memory is given back when the frame is released.
        frame = try connection.frame(layout, filledBy: isCut ? places : compositor, reusing: spare)
        if frame != nil { spare = nil }
        return frame != nil
    }

    private func send(
        _ output: WaylandOutput, _ now: MediaTime, _ sent: () -> Void, _ notice: (Notice) -> Void
    ) throws {
        guard let frame, let format else { return compositor.endPicture() }
        let picture = compositor.picture(now: now)
        let transform = picture.transform ?? output.transform
        let cut = cut(output, format, isUpsideDown: picture.isUpsideDown)
        compositor.note(in: &damage, of: cut)
        // Compositors disagree on where the damage lies if they give a part, or reverse the rows. The library then
        // compares the frame with the last one.
        if picture.isUpsideDown || part != nil && cut == nil { damage.noteAll() }
        let isChanged = !damage.isEmpty
        let fits = transform == output.transform && output.width == format.width && output.height == format.height
        if isCut, isChanged || !fits {
            // What the output was like when the picture was made decides where the part lies in it.
            try compositor.catchUp()
            if compositor.outputsHaveChanged() { return try findOutput(notice) }
        }
        guard !isCut || fits else {
            return giveUp(
                now, notice, "the compositor's pictures of \(output.name) do not have its size or transform, so that "
                    + "no part can be cut out")
        }
        if isChanged, cut != nil || frame.writerPlace == nil { compositor.fill(frame, format, part: cut) }
        compositor.endPicture()
        schedule.grabbed(at: now)
        schedule.noteChange()
        attempts.succeeded()
        waitsForChange = true
        guard isChanged else { return }
        self.frame = nil
        let time = time.time(stamp: picture.stamp, arrival: clock.now())
        try connection.send(
            frame, at: .nanoseconds(time.nanoseconds),
            orientation: transform.orientation(isUpsideDown: picture.isUpsideDown), damage: damage.damage)
        if frame.isDone { spare = frame }
        damage.clear()
        sent()
    }

    /// - Parameter reason: why there is no picture. It is reported if the failure lasts.
    private func giveUp(_ now: MediaTime, _ notice: (Notice) -> Void, _ reason: String) {
        compositor.endPicture()
        frame = nil
        // The awaited change may be lost with the picture.
        damage.noteAll()
        waitsForChange = false
        let (pause, isNews) = attempts.failed()
        pauseEnd = now + pause
        if isNews { notice(.waiting(reason)) }
    }
}
