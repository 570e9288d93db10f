internal import Glibc
internal import LinuxSystem
package import MediaCore
package import UpcastClient

/// Sends the frames of a screen to the daemon: when it changes, and no faster than the frame rate. One thread.
package final class ScreenGrabber {
    package struct Settings: Sendable {
        package var area: ScreenArea
        package var rate: FrameRate
        package var showsPointer: Bool
        /// Which windows are hidden, beside those that ask for it.
        package var rules: WindowRules
        /// The application that has to be in front, or nothing is sent; nil for none.
        package var front: WindowRules?

        package init(
            area: ScreenArea, rate: FrameRate, showsPointer: Bool, rules: WindowRules = WindowRules(),
            front: WindowRules? = nil
        ) {
            (self.area, self.rate, self.showsPointer, self.rules) = (area, rate, showsPointer, rules)
            self.front = front
        }
    }

    /// What the grabber cannot do for the moment.
    package enum Notice: Equatable, Sendable {
        /// The area is not there, or cannot be sent; the last frame stays.
        case waiting(String)
        case capturing(CaptureRectangle)
        /// The application that has to be in front is, or is not any more; before it is, nothing is sent.
        case inFront(Bool)
    }

    private let settings: Settings
    private let display: X11Connection
    private let connection: CaptureConnection
    private let clock = MonotonicClock()
    private var schedule: GrabSchedule
    private var damage = DamageList()
    private var area: CaptureRectangle?
    private var pointerImage = PointerImage.none
    private var pointer: (x: Int, y: Int)?
    private var windows: WindowWatch
    private var isInFront: Bool
    /// Where the pointer is in the last frame that was sent.
    private var drawnPointer: CaptureRectangle?

    package init(_ settings: Settings, _ display: X11Connection, _ connection: CaptureConnection) {
        self.settings = settings
        self.display = display
        self.connection = connection
        schedule = GrabSchedule(settings.rate)
        windows = WindowWatch(settings.rules, front: settings.front, display)
        isInFront = settings.front == nil
    }

    /// Runs until it is told to stop.
    ///
    /// - Parameters:
    ///   - control: what other threads tell.
    ///   - sent: called after each frame.
    ///   - notice: called when the area comes, goes or moves.
    /// - Throws: `X11Connection.GrabError.lost`, or `CaptureError` of the daemon.
    package func run(_ control: GrabControl, sent: () -> Void, notice: (Notice) throws -> Void) throws {
        try placeArea(notice)
        if drawsPointer { pointerImage = try display.pointerImage() }
        try windows.begin()
        while true {
            let orders = control.take()
            if orders.isStopped { return }
            if orders.sendsAgain {
                damage.noteAll()
                schedule.noteChange()
            }
            let hasMore = try display.takeEvents { try take($0, notice) }
            let now = clock.now()
            if windows.wake(now: now) { schedule.noteChange() }
            // What windows do is followed all the time.
            let due = orders.isHeld ? nil : schedule.due(now: now)
            if let due, due <= now {
                try grab(sent, notice)
            } else if !hasMore {
                try wait(until: due, now, control.descriptor)
            }
        }
    }

    private var drawsPointer: Bool { settings.showsPointer && display.hasPointer }

    /// Waits until something happens or is due.
    private func wait(until due: MediaTime?, _ now: MediaTime, _ orders: CInt) throws {
        var deadline = due
        // Nobody reports where the pointer is, and without DAMAGE nothing is reported.
        if drawsPointer || !display.hasDamage {
            let look = schedule.nextLook(now: now)
            deadline = due.map { min($0, look) } ?? look
        }
        if let wake = windows.nextWake { deadline = deadline.map { min($0, wake) } ?? wake }
        var waiting = (
            pollfd(fd: display.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: orders, events: Int16(POLLIN), revents: 0)
        )
        let milliseconds = deadline.map { CInt(clamping: max(0, ($0 - now).nanoseconds + 999_999) / 1_000_000) } ?? -1
        _ = unsafe withUnsafeMutableBytes(of: &waiting) {
            unsafe poll($0.assumingMemoryBound(to: pollfd.self).baseAddress!, 2, milliseconds)
        }
        if due == nil, waiting.0.revents == 0, waiting.1.revents == 0 { try look() }
    }

    /// Looks at what nobody reports.
    private func look() throws {
        if !display.hasDamage { schedule.noteChange() }
        guard drawsPointer else { return }
        let now = try display.pointer()
        if now?.x != pointer?.x || now?.y != pointer?.y { schedule.noteChange() }
        pointer = now
    }

    private func take(_ event: X11Connection.Event, _ notice: (Notice) throws -> Void) throws {
        switch event {
        case .damaged: schedule.noteChange()
        case .pointerShapeChanged where drawsPointer:
            pointerImage = try display.pointerImage()
            schedule.noteChange()
        case .pointerShapeChanged: break
        case .screenChanged:
            try display.refresh()
            try placeArea(notice)
        case .window(let event):
            windows.take(event, now: clock.now())
            schedule.noteChange()
        case .activeChanged:
            windows.activeChanged()
            if settings.front != nil { schedule.noteChange() }
        case .drawn(let area):
            windows.drawn(area)
            schedule.noteChange()
        }
    }

    /// Finds the area, which may have moved, or be gone for a while.
    private func placeArea(_ notice: (Notice) throws -> Void) throws {
        let monitors = try display.monitors()
        windows.resize()
        let place: CaptureRectangle
        do throws(ScreenError) {
            place = try settings.area.place(width: display.width, height: display.height, monitors: monitors)
        } catch {
            guard error.isTemporary, area != nil else { throw error }
            area = nil
            return try notice(.waiting(error.description))
        }
        guard place != area else { return }
        area = place
        damage.noteAll()
        schedule.noteChange()
        try notice(.capturing(place))
    }

    private func grab(_ sent: () -> Void, _ notice: (Notice) throws -> Void) throws {
        let now = clock.now()
        schedule.grabbed(at: now)
        guard let area else { return }
        let format = VideoSampleFormat(
            packed: display.format.pixelFormat, width: area.width, height: area.height,
            color: ColorDescription(matrix: .bt709, range: .full))
        guard let frame = try connection.frame(CaptureVideoFormat(layout: format), filledBy: display) else {
            // The daemon reads all frames that there is room for: the newest picture is sent when one is free.
            return schedule.noteChange()
        }
        let moment: X11Connection.Moment
        do {
            moment = try display.grab(area, into: frame)
        } catch .notThere {
            // The screen changes at this moment; its event follows.
            try display.refresh()
            try placeArea(notice)
            // What had changed until now is not reported again.
            damage.noteAll()
            return schedule.noteChange()
        }
        note(moment, area)
        // Exactly what had happened when the picture was made.
        while let event = display.nextEvent(before: moment.sequence) { try take(event, notice) }
        guard let secrets = try windows.judge(now: now), self.area == area else { return schedule.retry() }
        let isInFront = try windows.isInFront(now: now)
        if isInFront != self.isInFront {
            self.isInFront = isInFront
            try notice(.inFront(isInFront))
            damage.noteAll()
        }
        guard isInFront else { return }
        draw(moment, into: frame, area)
        try connection.send(
            frame, at: .nanoseconds(now.nanoseconds), orientation: .up, secure: secrets.regions(in: area),
            damage: damage.damage)
        damage.clear()
        sent()
    }

    private func note(_ moment: X11Connection.Moment, _ area: CaptureRectangle) {
        guard let changed = moment.damage else { return damage.noteAll() }
        for rectangle in changed {
            if let inside = rectangle.intersection(area) { damage.note(inside.relative(to: area)) }
        }
    }

    private func draw(_ moment: X11Connection.Moment, into frame: CaptureFrame, _ area: CaptureRectangle) {
        pointer = moment.pointer
        guard drawsPointer else { return }
        // Where it was is a change, too.
        if let drawnPointer { damage.note(drawnPointer) }
        drawnPointer = nil
        guard let pointer, case .rgb(let red, let blue) = display.format.pixelFormat.layout else { return }
        let (x, y) = (pointer.x - area.x, pointer.y - area.y)
        unsafe pointerImage.draw(
            into: frame.bytes, width: area.width, height: area.height, red: red, blue: blue, x: x, y: y)
        let covered = pointerImage.area(x: x, y: y)
        damage.note(covered)
        drawnPointer = covered
    }
}
