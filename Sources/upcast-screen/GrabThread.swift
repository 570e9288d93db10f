import Glibc
import LinuxSystem
import MediaCore
import ScreenCapture
import UpcastClient

/// The thread that grabs the screen, and waits for an X server or a compositor that is gone.
final class GrabThread: Sendable {
    enum Failure: Sendable {
        case daemon(CaptureError)
        case screen(String)
    }

    private let failed = Monitor<Failure?>(nil)
    private let end: EventDescriptor
    /// What the thread is told.
    let control: GrabControl
    private let thread = Monitor<WorkerThread?>(nil)
    private static let retryMilliseconds: CInt = 1000

    /// Why the thread has ended by itself.
    var failure: Failure? { failed.withLock { $0 } }
    /// Readable when there is a failure.
    var descriptor: CInt { end.raw }

    /// - Parameters:
    ///   - display: an open one; nil to open it.
    ///   - isHeld: nothing may be sent until the thread is told otherwise.
    init(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ display: ScreenSource?, _ pause: PauseKeeper,
        isHeld: Bool
    ) throws(Errno) {
        (control, end) = (try GrabControl(), try EventDescriptor())
        if isHeld { control.hold(true) }
        let worker = try WorkerThread(name: "screen-grab", stackBytes: 512 * 1024) { [failed, control, end] in
            do {
                return try Self.run(plan, connection, display, pause, control)
            } catch let error as CaptureError {
                failed.withLock { $0 = .daemon(error) }
            } catch {
                failed.withLock { $0 = .screen("\(error)") }
            }
            end.signal()
        }
        thread.withLock { $0 = worker }
    }

    /// Ends the thread.
    func stop() {
        control.stop()
        thread.withLock { $0?.join() }
    }

    private static func run(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ display: ScreenSource?, _ pause: PauseKeeper,
        _ control: GrabControl
    ) throws {
        var display = display
        var hasTold = false
        while true {
            do {
                let open = try display ?? ScreenSource(plan)
                display = nil
                hasTold = false
                // A grabber begins without a picture: what has to be in front is not yet.
                if plan.settings.front != nil { try pause.set(.notInFront, true) }
                if try open.run(plan, connection, pause, control) { return }
                Report.line("upcast-screen: \(ScreenSource.name(plan)) has ended; waiting for it to come back")
                hasTold = true
            } catch let error as ScreenError where error.isTemporary {
                if !hasTold { Report.line("upcast-screen: \(error); waiting for it") }
                hasTold = true
            }
            var waiting = pollfd(fd: control.descriptor, events: Int16(POLLIN), revents: 0)
            // The next one sends its first picture by itself.
            if unsafe poll(&waiting, 1, retryMilliseconds) != 0, control.take().isStopped { return }
        }
    }
}
