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
    private let stopping: EventDescriptor
    private let thread = Monitor<WorkerThread?>(nil)
    private static let retryMilliseconds: CInt = 1000

    /// Why the thread has ended by itself.
    var failure: Failure? { failed.withLock { $0 } }

    /// - Parameter display: an open one; nil to open it.
    init(_ plan: ScreenPlan, _ connection: CaptureConnection, _ display: ScreenSource?) throws(Errno) {
        stopping = try EventDescriptor()
        let worker = try WorkerThread(name: "screen-grab", stackBytes: 512 * 1024) { [failed, stopping] in
            do {
                try Self.run(plan, connection, display, stopping.raw)
            } catch let error as CaptureError {
                failed.withLock { $0 = .daemon(error) }
            } catch {
                failed.withLock { $0 = .screen("\(error)") }
            }
        }
        thread.withLock { $0 = worker }
    }

    /// Ends the thread.
    func stop() {
        stopping.signal()
        thread.withLock { $0?.join() }
    }

    private static func run(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ display: ScreenSource?, _ stop: CInt
    ) throws {
        var display = display
        var hasTold = false
        while true {
            do {
                let open = try display ?? ScreenSource(plan)
                display = nil
                hasTold = false
                if try open.run(plan, connection, until: stop) { return }
                Report.line("upcast-screen: \(ScreenSource.name(plan)) has ended; waiting for it to come back")
                hasTold = true
            } catch let error as ScreenError where error.isTemporary {
                if !hasTold { Report.line("upcast-screen: \(error); waiting for it") }
                hasTold = true
            }
            var waiting = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&waiting, 1, retryMilliseconds) != 0 { return }
        }
    }
}
