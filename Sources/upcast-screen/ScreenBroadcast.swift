import Grabbing
import LinuxSystem
import MediaCore
import UpcastClient

/// A broadcast that has begun: follows the daemon, the grabbing thread, the session and the display server until one of
/// them ends it. Main thread.
final class ScreenBroadcast {
    private let plan: ScreenPlan
    private let connection: CaptureConnection
    private let grabbing: GrabThread
    private let pause: PauseKeeper
    private let sessionThread: SessionThread?
    private let answers: AnswerWatch
    /// As of the last look.
    private var session: SessionThread.News
    private var silence = DaemonSilence()
    private var refused = RefusedPicture()
    private let clock = MonotonicClock()
    /// How long to wait for the goodbye that says why the daemon has closed the connection.
    private static let tick = Duration.milliseconds(50)

    /// - Parameter session: the state at the beginning. If viewers must not see the session, the curtain is up already.
    init(
        _ plan: ScreenPlan, _ connection: CaptureConnection, _ grabbing: GrabThread, _ pause: PauseKeeper,
        _ sessionThread: SessionThread?, _ answers: AnswerWatch, _ session: SessionThread.News
    ) {
        (self.plan, self.connection, self.grabbing, self.pause) = (plan, connection, grabbing, pause)
        (self.sessionThread, self.answers, self.session) = (sessionThread, answers, session)
    }

    /// Handles events until the broadcast ends.
    func watch(_ signals: EndingSignals, until deadline: MediaTime?) -> BroadcastEnd {
        while true {
            do {
                try follow(sessionThread?.look(until: clock.now(), stop: signals.descriptor) ?? .shown)
                let now = clock.now()
                if answers.look(now: now) { plan.source.server.tellOfSilence("viewers keep the last frame") }
                // The daemon's counters wake this thread more often, as a rule.
                var next = answers.nextLook(now: now)
                if let deadline { next = min(next, deadline) }
                if let due = silence.due { next = min(next, due) }
                if let due = refused.due { next = min(next, due) }
                let left = Duration.nanoseconds(max(0, (next - now).nanoseconds))
                let event = try connection.nextEvent(
                    timeout: left,
                    wake: [signals.descriptor, grabbing.descriptor, sessionThread?.descriptor ?? -1, -1])
                if let news = silence.look(DaemonSilence.Word(event), now: clock.now()) { tell(news) }
                if case .goodbye(let goodbye)? = event { return BroadcastEnd(goodbye) }
                if case .state(.curtainDown, _)? = event { refused.noteShown() }
                if case .refused(let refusal)? = event { note(refusal) }
                if connection.takeLackOfPicture() || refused.isDue(at: clock.now()) { grabbing.control.sendAgain() }
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

    private func note(_ refusal: CaptureRefusal) {
        let raisesCurtain = [.badSecureRegions, .unsupportedExtension].contains(refusal.code)
        guard refused.noteRefusal(refusal.text, raisesCurtain: raisesCurtain, at: clock.now()) else { return }
        Report.line("upcast-screen: refused: \(refusal.text)")
    }

    /// Raises the curtain while viewers must not see the screen, and lowers it afterwards.
    private func follow(_ news: SessionThread.News) throws(CaptureError) {
        let last = session
        if last.state.isEmpty, !news.state.isEmpty {
            // The frame that is being grabbed may arrive after the pause: the daemon does not show it.
            grabbing.control.pause(true)
            try pause.set(.session, true)
            news.tell()
        } else if !news.state.isEmpty, news.silent != last.silent {
            news.tell()
        } else if !last.state.isEmpty, news.state.isEmpty {
            try pause.set(.session, false)
            grabbing.control.pause(false)
            if !plan.isQuiet { Report.line("viewers see the screen again") }
        }
        session = news
    }

    private func tell(_ news: DaemonSilence.News) {
        switch news {
        case .silent: Report.line("upcast-screen: \(DaemonSilence.sentence)")
        case .back: if !plan.isQuiet { Report.line(DaemonSilence.backSentence) }
        }
    }

    /// Tells the daemon of the end, if it is still there. Nothing is grabbed or recorded any more.
    func finish(_ end: BroadcastEnd, _ signals: EndingSignals) -> BroadcastEnd {
        switch end {
        case .stopped:
            do throws(CaptureError) {
                let goodbye = try connection.finish(.userStopped)
                // The daemon's goodbye answers this program's own, and says what became of the broadcast.
                if goodbye.reason == .failed { return .failed(.refused, goodbye.text) }
            } catch {
                let text = signals.hasCut ? EndingSignals.noGoodbye : error.message
                // A user who ends the program knows that it has not waited for the daemon.
                guard signals.isSignalled else { return .failed(.refused, text) }
                Report.line("upcast-screen: \(text)")
            }
        case .failed(.badScreen, let text), .failed(.notShared, let text):
            _ = try? connection.finish(.failed, text: text)
        case .failed, .daemonGone: break
        }
        return end
    }

    /// Waits for the goodbye that says why: sending can fail before it has been read.
    static func end(_ error: any Error, of connection: CaptureConnection) -> BroadcastEnd {
        while let event = try? connection.nextEvent(timeout: tick) {
            if case .goodbye(let goodbye) = event { return BroadcastEnd(goodbye) }
        }
        return BroadcastEnd(error)
    }
}
