import Glibc
import LinuxSystem
import MediaCore
import ScreenCapture
import UpcastClient

/// The thread that grabs the screen, and waits for an X server that is gone.
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
    init(_ plan: ScreenPlan, _ connection: CaptureConnection, _ display: X11Connection?) throws(Errno) {
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
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ display: X11Connection?, _ stop: CInt
    ) throws {
        var display = display
        var hasTold = false
        while true {
            do {
                let open = try display ?? X11Connection(display: plan.display)
                display = nil
                hasTold = false
                try ScreenGrabber(plan.settings, open, connection).run(until: stop, sent: {}) { notice in
                    report(notice, isQuiet: plan.isQuiet)
                }
                return
            } catch X11Connection.GrabError.lost {
                Report.line("upcast-screen: the X server has ended; waiting for it to come back")
                hasTold = true
            } catch let error as ScreenError where error.isTemporary {
                if !hasTold { Report.line("upcast-screen: \(error); waiting for it") }
                hasTold = true
            }
            var waiting = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&waiting, 1, retryMilliseconds) != 0 { return }
        }
    }

    private static func report(_ notice: ScreenGrabber.Notice, isQuiet: Bool) {
        switch notice {
        case .capturing(let area): if !isQuiet { Report.line("capturing \(area.name)") }
        case .waiting(let text): Report.line("upcast-screen: \(text); viewers keep the last frame")
        }
    }
}
