import Glibc
import LinuxSystem
import MediaCore
import PortalCapture
import ScreenCapture
import SessionWatch
import SoundCapture
import UpcastClient

/// Broadcasts a screen until it is stopped: through ends of the X server or compositor, of the sound server and of the
/// daemon. The main thread handles signals and events; one grabs, and one records.
final class ScreenSession {
    private let plan: ScreenPlan
    private let sound: SoundThread
    /// Nil where nobody tells of a session.
    private let session: SessionWatch?
    /// What is shared beyond the end of a broadcast; nil for nothing.
    private var kept: ScreenSource?
    private let clock = MonotonicClock()
    /// How long the reason is waited for why the daemon has closed the connection.
    private static let tick = Duration.milliseconds(50)
    /// How often a server or a daemon that is gone is asked for.
    private static let retry = MediaTime.seconds(1)
    /// How long a broadcast waits for sound to have its times, of which most is the server's.
    private static let soundPatience = MediaTime.seconds(1)

    /// Why a broadcast has ended.
    private enum End {
        case stopped
        case failed(ExitStatus, String)
        /// The daemon is gone.
        case daemonGone(String)
    }

    init(_ plan: ScreenPlan) throws {
        self.plan = plan
        sound = try SoundThread(plan.sound)
        session = plan.watchesSession ? SessionWatch() : nil
    }

    /// Runs until a signal, the end of the duration, or an error that does not pass.
    func run() -> ExitStatus {
        do {
            // What is wrong from the start is said at the start.
            let display = try ScreenSource(plan)
            try display.check(plan)
            if let text = try Self.soundMistake(plan.sound) {
                Report.line("upcast-screen: \(text)")
                return .badScreen
            }
            let signals = try SignalDescriptor([SIGINT, SIGTERM])
            // Before anything is broadcast: the user may say no.
            guard try display.allow(plan, stop: signals.raw) else { return .sent }
            try sound.start()
            defer { sound.stop() }
            return run(signals, display)
        } catch let error as SharingRefused {
            Report.line("upcast-screen: \(error)")
            return .notShared
        } catch {
            Report.line("upcast-screen: \(error)")
            return .badScreen
        }
    }

    /// What is wrong with the sound that was asked for; nil if nothing, or if nobody has asked.
    private static func soundMistake(_ plan: SoundPlan) throws -> String? {
        guard !plan.isOptional, !plan.tracks.isEmpty else { return nil }
        do {
            return plan.mistake(try PulseConnection(stop: try EventDescriptor().raw).facts())
        } catch let error as ScreenError {
            return "\(error)"
        }
    }

    private func run(_ signals: borrowing SignalDescriptor, _ first: ScreenSource) -> ExitStatus {
        var display: ScreenSource? = first
        kept = first.outlivesBroadcasts ? first : nil
        var (hasBegun, hasToldOfLoss) = (false, false)
        let begin = clock.now()
        while true {
            switch broadcast(signals, display, since: begin, { (hasBegun, hasToldOfLoss) = (true, false) }) {
            case .stopped: return .sent
            case .failed(let status, let text):
                Report.line("upcast-screen: \(text)")
                return status
            case .daemonGone(let text) where hasBegun:
                if !hasToldOfLoss { Report.line("upcast-screen: \(text); waiting for it to come back") }
                (display, hasToldOfLoss) = (kept, true)
                if !sleep(signals) || plan.duration.map({ clock.now() - begin >= $0 }) ?? false { return .sent }
            case .daemonGone(let text):
                Report.line("upcast-screen: \(text)")
                return .cannotConnect
            }
        }
    }

    /// False when a signal has come.
    private func sleep(_ signals: borrowing SignalDescriptor) -> Bool {
        var waiting = pollfd(fd: signals.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, CInt(Self.retry.milliseconds)) == 0
    }

    /// One broadcast, from connecting to its end.
    private func broadcast(
        _ signals: borrowing SignalDescriptor, _ display: ScreenSource?, since begin: MediaTime, _ begun: () -> Void
    ) -> End {
        let connection: CaptureConnection
        do {
            connection = try CaptureConnection(path: plan.socket)
            let recorded = sound.waitUntilSettled(until: clock.now() + Self.soundPatience)
            let welcome = try connection.start(plan.setup(recorded))
            if !plan.isQuiet { Report.line("broadcast \(welcome.broadcastID) at \(plan.socket), \(welcome.canvas)") }
        } catch {
            return Self.end(error)
        }
        begun()
        let pause = PauseKeeper(connection, sound)
        let grabbing: GrabThread
        let hidden = session?.look() ?? []
        do {
            if plan.settings.front != nil { try pause.set(.notInFront, true) }
            if !hidden.isEmpty { try hide(pause, hidden) }
            grabbing = try GrabThread(plan, connection, display, pause, isHeld: !hidden.isEmpty)
        } catch let error as CaptureError {
            return Self.end(error, of: connection)
        } catch {
            return .failed(.badScreen, "cannot start a thread: \(error)")
        }
        let end = watch(connection, grabbing, pause, signals, begin, hidden)
        sound.send(to: nil)
        grabbing.stop()
        kept = grabbing.kept
        switch end {
        case .stopped:
            // A second signal ends the program while it waits.
            letSignalsThrough()
            _ = try? connection.finish(.userStopped)
        case .failed(.badScreen, let text), .failed(.notShared, let text):
            _ = try? connection.finish(.failed, text: text)
        case .failed, .daemonGone: break
        }
        return end
    }

    /// Raises the curtain.
    private func hide(_ pause: PauseKeeper, _ state: SessionState) throws(CaptureError) {
        try pause.set(.session, true)
        Report.line("upcast-screen: \(state.text); viewers see the curtain until that is over")
    }

    /// Raises the curtain while nobody may see the screen, and lowers it.
    private func follow(
        _ state: SessionState, after last: SessionState, _ pause: PauseKeeper, _ grabbing: GrabThread
    ) throws(CaptureError) {
        if last.isEmpty, !state.isEmpty {
            // A frame that is being grabbed may follow the pause: the daemon does not show it.
            grabbing.control.hold(true)
            try hide(pause, state)
        } else if !last.isEmpty, state.isEmpty {
            try pause.set(.session, false)
            grabbing.control.hold(false)
            if !plan.isQuiet { Report.line("viewers see the screen again") }
        }
    }

    private func watch(
        _ connection: CaptureConnection, _ grabbing: GrabThread, _ pause: PauseKeeper,
        _ signals: borrowing SignalDescriptor, _ begin: MediaTime, _ hidden: SessionState
    ) -> End {
        var hidden = hidden
        let deadline = plan.duration.map { begin + $0 }
        while true {
            do {
                let state = session?.look() ?? []
                try follow(state, after: hidden, pause, grabbing)
                hidden = state
                // A still screen wakes nobody.
                let buses = session?.descriptors ?? (system: -1, user: -1)
                let left = deadline.map { Duration.nanoseconds(max(0, ($0 - clock.now()).nanoseconds)) }
                let event = try connection.nextEvent(
                    timeout: left, wake: [signals.raw, grabbing.descriptor, buses.system, buses.user])
                if case .goodbye(let goodbye)? = event { return Self.end(goodbye) }
                if case .refused(let refusal)? = event { Report.line("upcast-screen: refused: \(refusal.text)") }
                if connection.takeLackOfPicture() { grabbing.control.sendAgain() }
            } catch {
                return Self.end(error, of: connection)
            }
            if signals.next() != nil { return .stopped }
            if let deadline, clock.now() >= deadline { return .stopped }
            switch grabbing.failure {
            case nil: break
            case .daemon(let error)?: return Self.end(error, of: connection)
            case .screen(let text)?: return .failed(.badScreen, text)
            case .notShared(let text)?: return .failed(.notShared, text)
            }
        }
    }

    /// Sending can fail before the goodbye has been read that says why.
    private static func end(_ error: CaptureError, of connection: CaptureConnection) -> End {
        while let event = try? connection.nextEvent(timeout: tick) {
            if case .goodbye(let goodbye) = event { return end(goodbye) }
        }
        return end(error)
    }

    private static func end(_ error: any Error) -> End {
        guard let error = error as? CaptureError else { return .failed(.badScreen, "\(error)") }
        switch error.code {
        case .cannotConnect, .disconnected, .timedOut: return .daemonGone(error.message)
        case .ended: return .daemonGone(error.message)
        default: return .failed(.refused, error.message)
        }
    }

    private static func end(_ goodbye: CaptureGoodbye) -> End {
        let text = "upcastd ended the broadcast" + (goodbye.text.isEmpty ? "" : ": \(goodbye.text)")
        return goodbye.reason == .daemonStopping ? .daemonGone(text) : .failed(.refused, text)
    }

    /// Restores the default handling of signals.
    private func letSignalsThrough() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGTERM)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
