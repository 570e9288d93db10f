import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import PortalCapture
import ScreenCapture
import SessionWatch
import SoundCapture
import UpcastClient
import WaylandCapture

/// Broadcasts a screen until it is stopped. It goes on when the X server or compositor, the sound server or the daemon
/// has ended and comes back. The main thread handles events; one thread grabs, one records, one follows the session,
/// and one handles signals.
final class ScreenSession {
    private let plan: ScreenPlan
    private let sound: SoundThread
    /// Nil if the lock of the session does not matter.
    private let session: SessionThread?
    /// The screen that stays open from one broadcast to the next; nil for none.
    private var kept: ScreenSource?
    /// The thread that follows the screen between two broadcasts; nil if nothing has to be followed.
    private var following: GrabThread?
    /// Which output of a Wayland compositor is captured, in all broadcasts.
    private let output: Monitor<OutputChoice>
    /// Tracks how long the display's thread waits for the display server.
    private let answers: AnswerWatch
    /// The user was told that the daemon takes no connection, or does not answer.
    private var hasToldOfDaemon = false
    private let clock = MonotonicClock()
    /// The pause before the daemon is tried again.
    private static let retry = MediaTime.seconds(1)
    /// How long a broadcast waits until sound has its times. The server takes most of this time.
    private static let soundPatience = MediaTime.seconds(1)
    /// How long the first broadcast waits for the sound server to answer, where sound was asked for.
    private static let serverPatience = MediaTime.seconds(2)
    /// How long a broadcast waits for the state of the session before it begins with the curtain. By then,
    /// `SessionWatch` knows which service is silent.
    private static let sessionPatience = MediaTime.milliseconds(2500)
    /// How long the program waits at its end for a display that does not answer.
    private static let grabPatience = MediaTime.seconds(1)

    init(_ plan: ScreenPlan) throws {
        self.plan = plan
        sound = try SoundThread(plan.sound)
        output = Monitor(OutputChoice(name: plan.source.output))
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
            defer { endFollowing(signals) }
            return run(signals, display)
        } catch let error as SharingRefused {
            Report.line("upcast-screen: \(error)")
            return .notShared
        } catch {
            Report.line("upcast-screen: \(error)")
            return .badScreen
        }
    }

    /// Opens and checks the screen, to report mistakes at the start. Nil if a signal has come: the display may not
    /// answer.
    private func open(stop: CInt) throws -> ScreenSource? {
        let (plan, output, answers, server) = (plan, output, answers, plan.source.server)
        return try DisplayCall.run(answers, stop: stop, silent: { server.tellOfSilence("no broadcast begins") }) {
            let display = try ScreenSource(plan, output, answers)
            try display.check(plan)
            return display
        }
    }

    private enum SoundServer: Equatable {
        case fine
        /// What is wrong with the sound that was asked for.
        case mistake(String)
        /// The server does not answer, but may later: no broadcast waits for it.
        case silent
    }

    /// Asks only if the user has asked for sound.
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
            // The server or this program is ending; what follows says so.
            return .fine
        }
    }

    private func run(_ signals: EndingSignals, _ first: ScreenSource) -> ExitStatus {
        kept = first
        var (hasBegun, hasToldOfLoss) = (false, false)
        let begin = clock.now()
        while true {
            switch broadcast(signals, since: begin, { (hasBegun, hasToldOfLoss) = (true, false) }) {
            case .stopped: return .sent
            case .failed(let status, let text):
                Report.line("upcast-screen: \(text)")
                return status
            case .daemonGone(let text) where hasBegun:
                if !hasToldOfLoss { Report.line("upcast-screen: \(text); waiting for it to come back") }
                hasToldOfLoss = true
                // The broadcast may have ended before its thread took the screen.
                if kept?.betweenBroadcasts == .closed { kept = nil }
                do {
                    try follow()
                    if !sleep(signals) { return .sent }
                    if case .screen(let text)? = following?.failure { throw ScreenError(text) }
                    if let screen = kept, try !screen.goesOn() { kept = nil }
                } catch {
                    Report.line("upcast-screen: \(error)")
                    return error is SharingRefused ? .notShared : .badScreen
                }
                if let duration = plan.duration, clock.now() - begin >= duration { return .refused }
            case .daemonGone(let text):
                Report.line("upcast-screen: \(text)")
                return .cannotConnect
            }
        }
    }

    /// Starts a thread that follows the kept screen, if it has to be followed.
    private func follow() throws {
        guard following == nil, let screen = kept, screen.betweenBroadcasts == .followed else { return }
        kept = nil
        following = try GrabThread(plan, nil, .with(screen), output, answers)
    }

    /// Starts the grabbing thread of a broadcast, with the kept screen.
    private func grab(_ broadcast: GrabThread.Broadcast) throws -> GrabThread {
        following?.control.stop()
        let start = following.map(GrabThread.Start.after) ?? .with(kept)
        let grabbing = try GrabThread(plan, broadcast, start, output, answers)
        (kept, following) = (nil, nil)
        return grabbing
    }

    /// Ends the following thread at the end of the program.
    private func endFollowing(_ signals: EndingSignals) {
        guard let following else { return }
        signals.end()
        following.stop(answers, ending: signals.descriptor, patience: Self.grabPatience) {}
    }

    /// False when a signal has come.
    private func sleep(_ signals: EndingSignals) -> Bool {
        var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, CInt(Self.retry.milliseconds)) == 0
    }

    /// One broadcast, from connecting to its end.
    private func broadcast(
        _ signals: EndingSignals, since begin: MediaTime, _ begun: () -> Void
    ) -> BroadcastEnd {
        let connection: CaptureConnection
        let session = session?.look(until: clock.now() + Self.sessionPatience, stop: signals.descriptor) ?? .shown
        do {
            connection = try CaptureConnection(path: plan.socket, signals: signals, silent: tellOfSilentDaemon)
            let recorded = sound.waitUntilSettled(until: clock.now() + Self.soundPatience)
            let welcome = try connection.start(plan.setup(recorded), at: plan.socket, silent: tellOfSilentDaemon)
            hasToldOfDaemon = false
            if !plan.isQuiet { Report.line("broadcast \(welcome.broadcastID) at \(plan.socket), \(welcome.canvas)") }
        } catch {
            return signals.isEnding ? .stopped : BroadcastEnd(error)
        }
        defer { signals.watch(nil) }
        signals.watch(connection, hasBegun: true)
        begun()
        let pause = PauseKeeper(connection, sound)
        let grabbing: GrabThread
        do {
            if plan.settings.front != nil { try pause.set(.notInFront, true) }
            if !session.state.isEmpty {
                try pause.set(.session, true)
                session.tell()
            }
            grabbing = try grab(.init(connection: connection, pause: pause, isPaused: !session.state.isEmpty))
        } catch let error as CaptureError {
            return ScreenBroadcast.end(error, of: connection)
        } catch {
            return .failed(.badScreen, "cannot start a thread: \(error)")
        }
        let broadcast = ScreenBroadcast(plan, connection, grabbing, pause, self.session, answers, session)
        var end = broadcast.watch(signals, until: plan.duration.map { begin + $0 })
        // From here on, the program does not wait for a daemon that hangs.
        if signals.isEnding { end = .stopped }
        switch end {
        case .daemonGone, .failed(.refused, _): connection.abort()
        case .stopped, .failed: signals.end()
        }
        sound.send(to: nil)
        kept = grabbing.stop(answers, ending: signals.descriptor, patience: Self.grabPatience) {
            plan.source.server.tellOfSilence("no other broadcast begins")
        }
        return broadcast.finish(end, signals)
    }

    /// Tells the user once, until the daemon answers.
    private func tellOfSilentDaemon(_ text: String) {
        if !hasToldOfDaemon { Report.line("upcast-screen: \(text)") }
        hasToldOfDaemon = true
    }
}
