import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import PortalCapture
import ScreenCapture
import SessionWatch
import SoundCapture
import UpcastClient

/// Broadcasts a screen until it is stopped: through ends of the X server or compositor, of the sound server and of the
/// daemon. The main thread handles events; one thread grabs, one records, one follows the session, and one handles
/// signals.
final class ScreenSession {
    private let plan: ScreenPlan
    private let sound: SoundThread
    /// Nil if the lock of the session does not matter.
    private let session: SessionThread?
    /// What is shared beyond the end of a broadcast; nil for nothing.
    private var kept: ScreenSource?
    /// Where the thread that has the display waits for it.
    private let answers: AnswerWatch
    /// The user knows that the daemon takes no connection, or does not answer.
    private var hasToldOfDaemon = false
    private let clock = MonotonicClock()
    /// How long the reason is waited for why the daemon has closed the connection.
    private static let tick = Duration.milliseconds(50)
    /// How often a server or a daemon that is gone is asked for.
    private static let retry = MediaTime.seconds(1)
    /// How long a broadcast waits for sound to have its times, of which most is the server's.
    private static let soundPatience = MediaTime.seconds(1)
    /// How long the first broadcast waits for the sound server to answer, where sound was asked for.
    private static let serverPatience = MediaTime.seconds(2)
    /// How long a broadcast waits for the state of the session before it begins with the curtain. `SessionWatch` knows
    /// who is silent by then.
    private static let sessionPatience = MediaTime.milliseconds(2500)
    /// How long the program waits at its end for a display that does not answer.
    private static let grabPatience = MediaTime.seconds(1)

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
        session = plan.watchesSession ? try SessionThread() : nil
        answers = AnswerWatch { [plan] in
            if !plan.isQuiet { Report.line("\(plan.source.server.name) answers again") }
        }
    }

    /// Runs until a signal, the end of the duration, or an error that does not pass.
    func run() -> ExitStatus {
        do {
            // Before other threads start.
            let signals = try EndingSignals()
            defer { signals.stop() }
            guard let display = try open(stop: signals.descriptor) else { return .sent }
            try session?.start()
            defer { session?.stop() }
            let soundServer = try Self.askSoundServer(plan.sound, stop: signals.descriptor)
            if case .mistake(let text) = soundServer {
                Report.line("upcast-screen: \(text)")
                return .badScreen
            }
            // Before anything is broadcast: the user may say no.
            guard try display.allow(plan, stop: signals.descriptor) else { return .sent }
            try sound.start(isSilent: soundServer == .silent)
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

    /// What is wrong from the start is said at the start. Nil when a signal has come: the display may not answer.
    private func open(stop: CInt) throws -> ScreenSource? {
        let (plan, answers) = (plan, answers)
        return try DisplayCall.run(answers, stop: stop, silent: { tellOfSilence("no broadcast begins") }) {
            let display = try ScreenSource(plan, answers)
            try display.check(plan)
            return display
        }
    }

    /// - Parameter consequence: what happens until the display server answers.
    private func tellOfSilence(_ consequence: String) {
        Report.line("upcast-screen: \(plan.source.server.silence(consequence))")
    }

    private static let standingPicture = "viewers keep the last frame"

    private enum SoundServer: Equatable {
        case fine
        /// What is wrong with the sound that was asked for.
        case mistake(String)
        /// It does not answer. It may do so later: no broadcast waits for it.
        case silent
    }

    /// Asks only if somebody has asked for sound.
    private static func askSoundServer(_ plan: SoundPlan, stop: CInt) throws -> SoundServer {
        guard !plan.isOptional, !plan.tracks.isEmpty else { return .fine }
        do {
            let server = try PulseConnection(stop: stop, patience: serverPatience)
            return plan.mistake(try server.facts()).map(SoundServer.mistake) ?? .fine
        } catch PulseConnection.OpenFailure.failed(let error) {
            return .mistake("\(error)")
        } catch PulseConnection.OpenFailure.silent, PulseConnection.Interruption.silent {
            SoundThread.tellOfSilence()
            return .silent
        } catch {
            // It ends at this moment, or this program does: what follows says so.
            return .fine
        }
    }

    private func run(_ signals: EndingSignals, _ first: ScreenSource) -> ExitStatus {
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
                if !sleep(signals) { return .sent }
                if let duration = plan.duration, clock.now() - begin >= duration { return .refused }
            case .daemonGone(let text):
                Report.line("upcast-screen: \(text)")
                return .cannotConnect
            }
        }
    }

    /// False when a signal has come.
    private func sleep(_ signals: EndingSignals) -> Bool {
        var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, CInt(Self.retry.milliseconds)) == 0
    }

    /// One broadcast, from connecting to its end.
    private func broadcast(
        _ signals: EndingSignals, _ display: ScreenSource?, since begin: MediaTime, _ begun: () -> Void
    ) -> End {
        let connection: CaptureConnection
        let hidden =
            session?.look(until: clock.now() + Self.sessionPatience, stop: signals.descriptor) ?? Self.shown
        do {
            connection = try CaptureConnection(path: plan.socket, signals: signals, silent: tellOfSilentDaemon)
            let recorded = sound.waitUntilSettled(until: clock.now() + Self.soundPatience)
            let welcome = try connection.start(plan.setup(recorded), at: plan.socket, silent: tellOfSilentDaemon)
            hasToldOfDaemon = false
            if !plan.isQuiet { Report.line("broadcast \(welcome.broadcastID) at \(plan.socket), \(welcome.canvas)") }
        } catch {
            return signals.isEnding ? .stopped : Self.end(error)
        }
        defer { signals.watch(nil) }
        signals.watch(connection, hasBegun: true)
        begun()
        let pause = PauseKeeper(connection, sound)
        let grabbing: GrabThread
        do {
            if plan.settings.front != nil { try pause.set(.notInFront, true) }
            if !hidden.state.isEmpty { try hide(pause, hidden) }
            grabbing = try GrabThread(plan, connection, display, answers, pause, isHeld: !hidden.state.isEmpty)
        } catch let error as CaptureError {
            return Self.end(error, of: connection)
        } catch {
            return .failed(.badScreen, "cannot start a thread: \(error)")
        }
        var end = watch(connection, grabbing, pause, signals, begin, hidden)
        // From here on, a daemon that stands still keeps nobody waiting.
        if signals.isEnding { end = .stopped }
        switch end {
        case .daemonGone, .failed(.refused, _): connection.abort()
        case .stopped, .failed: signals.end()
        }
        sound.send(to: nil)
        grabbing.stop(answers, ending: signals.descriptor, patience: Self.grabPatience) {
            tellOfSilence("no other broadcast begins")
        }
        kept = grabbing.kept
        switch end {
        case .stopped:
            do throws(CaptureError) {
                let goodbye = try connection.finish(.userStopped)
                // It answers this program's own end, and says what became of the broadcast.
                if goodbye.reason == .failed { return .failed(.refused, goodbye.text) }
            } catch {
                let text = signals.hasCut ? EndingSignals.noGoodbye : error.message
                // Whoever ends the program knows that it has not waited for the daemon.
                guard signals.isSignalled else { return .failed(.refused, text) }
                Report.line("upcast-screen: \(text)")
            }
        case .failed(.badScreen, let text), .failed(.notShared, let text):
            _ = try? connection.finish(.failed, text: text)
        case .failed, .daemonGone: break
        }
        return end
    }

    /// Once, until it answers.
    private func tellOfSilentDaemon(_ text: String) {
        if !hasToldOfDaemon { Report.line("upcast-screen: \(text)") }
        hasToldOfDaemon = true
    }

    private static let shown = SessionThread.News(state: [])

    /// Raises the curtain.
    private func hide(_ pause: PauseKeeper, _ session: SessionThread.News) throws(CaptureError) {
        try pause.set(.session, true)
        Self.tell(session)
    }

    private static func tell(_ session: SessionThread.News) {
        guard let silent = session.silent else {
            return Report.line("upcast-screen: \(session.state.text); viewers see the curtain until that is over")
        }
        Report.line(
            "upcast-screen: \(silent) does not answer, so that \(session.state.text); viewers see the curtain until it "
                + "answers. With --no-curtain-when-locked they see the screen, locked or not")
    }

    /// Raises the curtain while nobody may see the screen, and lowers it.
    private func follow(
        _ session: SessionThread.News, after last: SessionThread.News, _ pause: PauseKeeper, _ grabbing: GrabThread
    ) throws(CaptureError) {
        if last.state.isEmpty, !session.state.isEmpty {
            // A frame that is being grabbed may follow the pause: the daemon does not show it.
            grabbing.control.hold(true)
            try hide(pause, session)
        } else if !session.state.isEmpty, session.silent != last.silent {
            Self.tell(session)
        } else if !last.state.isEmpty, session.state.isEmpty {
            try pause.set(.session, false)
            grabbing.control.hold(false)
            if !plan.isQuiet { Report.line("viewers see the screen again") }
        }
    }

    private func watch(
        _ connection: CaptureConnection, _ grabbing: GrabThread, _ pause: PauseKeeper,
        _ signals: EndingSignals, _ begin: MediaTime, _ hidden: SessionThread.News
    ) -> End {
        var hidden = hidden
        var silence = DaemonSilence()
        let deadline = plan.duration.map { begin + $0 }
        while true {
            do {
                let news = session?.look(until: clock.now(), stop: signals.descriptor) ?? Self.shown
                try follow(news, after: hidden, pause, grabbing)
                hidden = news
                let now = clock.now()
                if answers.look(now: now) { tellOfSilence(Self.standingPicture) }
                // The daemon's counters wake this thread more often, as a rule.
                var next = answers.nextLook(now: now)
                if let deadline { next = min(next, deadline) }
                if let due = silence.due { next = min(next, due) }
                let left = Duration.nanoseconds(max(0, (next - now).nanoseconds))
                let event = try connection.nextEvent(
                    timeout: left,
                    wake: [signals.descriptor, grabbing.descriptor, session?.descriptor ?? -1, -1])
                if let news = silence.look(DaemonSilence.Word(event), now: clock.now()) { tell(news) }
                if case .goodbye(let goodbye)? = event { return Self.end(goodbye) }
                if case .refused(let refusal)? = event { Report.line("upcast-screen: refused: \(refusal.text)") }
                if connection.takeLackOfPicture() { grabbing.control.sendAgain() }
            } catch {
                return Self.end(error, of: connection)
            }
            if signals.isEnding { return .stopped }
            if let deadline, clock.now() >= deadline { return .stopped }
            switch grabbing.failure {
            case nil: break
            case .daemon(let error)?: return Self.end(error, of: connection)
            case .screen(let text)?: return .failed(.badScreen, text)
            case .notShared(let text)?: return .failed(.notShared, text)
            }
        }
    }

    private func tell(_ news: DaemonSilence.News) {
        switch news {
        case .silent: Report.line("upcast-screen: \(DaemonSilence.sentence)")
        case .back: if !plan.isQuiet { Report.line(DaemonSilence.backSentence) }
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
}
