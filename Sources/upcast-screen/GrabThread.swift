import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import PortalCapture
import ScreenCapture
import UpcastClient
import WaylandCapture

/// The thread that grabs the screen, and waits for an X server or a compositor that is gone. Between two broadcasts, it
/// follows the windows of an X server, so that what is secret stays known.
final class GrabThread: Sendable {
    enum Failure: Sendable {
        case daemon(CaptureError)
        case screen(String)
        /// The user does not share a screen, or not any more.
        case notShared(String)
    }

    /// Where a thread gets its screen from.
    enum Start: Sendable {
        /// Nil to open the screen.
        case with(ScreenSource?)
        /// The screen of the thread that has followed it, which has been told to stop.
        case after(GrabThread)
    }

    /// The broadcast that gets the frames.
    struct Broadcast: Sendable {
        let connection: CaptureConnection
        let pause: PauseKeeper
        /// Nothing is sent until the thread is told otherwise.
        let isPaused: Bool
    }

    private let failed = Monitor<Failure?>(nil)
    private let end: EventDescriptor
    /// Signalled when the thread has ended, for whatever reason.
    private let over: EventDescriptor
    private let shared = Monitor<ScreenSource?>(nil)
    /// What the thread is told.
    let control: GrabControl
    private let thread = Monitor<WorkerThread?>(nil)
    private static let retryMilliseconds: CInt = 1000

    /// Why the thread has ended by itself.
    var failure: Failure? { failed.withLock { $0 } }
    /// Readable when there is a failure.
    var descriptor: CInt { end.raw }

    /// - Parameters:
    ///   - broadcast: nil to follow the screen between two broadcasts.
    ///   - output: which output of a compositor is captured.
    ///   - answers: is told when the thread waits for the display server.
    init(
        _ plan: ScreenPlan, _ broadcast: Broadcast?, _ start: Start, _ output: Monitor<OutputChoice>,
        _ answers: AnswerWatch
    ) throws(Errno) {
        (control, end, over) = (try GrabControl(), try EventDescriptor(), try EventDescriptor())
        if broadcast?.isPaused ?? false { control.pause(true) }
        let worker = try WorkerThread(
            name: "screen-grab", stackBytes: 512 * 1024
        ) { [failed, shared, control, end, over] in
            defer { over.signal() }
            do {
                let display = try Self.screen(start)
                return try Self.run(plan, broadcast, display, output, answers, control) { source in
                    shared.withLock { $0 = source }
                }
            } catch let error as CaptureError {
                failed.withLock { $0 = .daemon(error) }
            } catch let error as SharingRefused {
                // Hides the screen from viewers, even if frames are still on their way.
                try? broadcast?.pause.set(.notShared, true)
                failed.withLock { $0 = .notShared("\(error)") }
            } catch {
                failed.withLock { $0 = .screen("\(error)") }
            }
            end.signal()
        }
        thread.withLock { $0 = worker }
    }

    /// Waits until another thread has ended, and returns the screen that it has left.
    ///
    /// - Throws: why the other thread has ended by itself.
    private static func screen(_ start: Start) throws -> ScreenSource? {
        switch start {
        case .with(let display): return display
        case .after(let other):
            other.thread.withLock { $0 }?.join()
            if case .screen(let text)? = other.failure { throw ScreenError(text) }
            return other.shared.withLock { $0 }
        }
    }

    /// Ends the thread. While the program goes on, this waits for a display that does not answer. Once the program
    /// ends, it waits only for `patience`.
    ///
    /// - Parameters:
    ///   - answers: as for `init`.
    ///   - ending: a descriptor that is readable once the program ends.
    ///   - patience: how long to wait for the thread from then on, before it is left to the end of the process.
    ///   - silent: called when the display server does not answer.
    /// - Returns: the screen for the next thread; nil if it has to be opened again, or if this thread was left.
    @discardableResult
    func stop(_ answers: AnswerWatch, ending: CInt, patience: MediaTime, silent: () -> Void) -> ScreenSource? {
        control.stop()
        let worker = thread.withLock { $0 }
        if answers.wait(for: over, stop: ending, silent: silent) {
            worker?.join()
        } else if worker?.join(until: MonotonicClock().now() + patience) == false {
            return nil
        }
        return shared.withLock { $0 }
    }

    private static func run(
        _ plan: ScreenPlan, _ broadcast: Broadcast?, _ display: ScreenSource?, _ output: Monitor<OutputChoice>,
        _ answers: AnswerWatch, _ control: GrabControl, keep: (ScreenSource?) -> Void
    ) throws {
        var display = display
        // The error that the user was told, and whether the user knows that the screen has ended.
        var (told, hasEnded) = (String?.none, false)
        while true {
            do {
                let open = try display ?? ScreenSource(plan, output, answers)
                display = nil
                hasEnded = false
                keep(open.betweenBroadcasts == .closed ? nil : open)
                // A grabber begins without a picture: the required application does not count as in front yet.
                if plan.settings.front != nil { try broadcast?.pause.set(.notInFront, true) }
                let hasStopped =
                    try broadcast.map { try open.run(plan, $0.connection, $0.pause, control) } ?? open.follow(control)
                if hasStopped { return }
                keep(nil)
                if case .number? = plan.window {
                    throw ScreenError("\(open.name) has ended, and with it the window of --window")
                }
                Report.line("upcast-screen: \(open.name) has ended; waiting for it to come back")
                (told, hasEnded) = (nil, true)
            } catch let error as ScreenError where error.isTemporary || hasEnded {
                // A server that has come back may still change, so that lasting errors are waited out, too.
                let text = "\(error)"
                if text != told, !hasEnded || !error.isTemporary {
                    Report.line("upcast-screen: \(text); waiting for it")
                }
                told = text
            }
            var waiting = pollfd(fd: control.descriptor, events: Int16(POLLIN), revents: 0)
            // `sendsAgain` may be lost here: the next grabber sends its first picture by itself.
            if unsafe poll(&waiting, 1, retryMilliseconds) != 0, control.take().isStopped { return }
        }
    }
}
