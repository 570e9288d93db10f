import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import SoundCapture
import UpcastClient

/// The thread that records sound, and waits for a sound server that is gone. It starts before a broadcast, so that the
/// times of the samples are right by then, and outlives it.
final class SoundThread: Sendable {
    private struct State {
        /// Of the broadcast that gets the sound; nil between two.
        var connection: CaptureConnection?
        /// Whether the first samples have times, or there is nothing to wait for.
        var isSettled = false
        var recorded: Set<CaptureAudioSource> = []
    }

    private let plan: SoundPlan
    private let state = Monitor(State())
    private let stopping: EventDescriptor
    private let thread = Monitor<WorkerThread?>(nil)
    private static let retryMilliseconds: CInt = 2000
    private static let tickMilliseconds: Int64 = 1000
    /// How long the server may send nothing before it is asked.
    private static let silence = MediaTime.seconds(5)
    /// How long the server may take for an answer.
    private static let patience = MediaTime.seconds(3)

    init(_ plan: SoundPlan) throws(Errno) {
        self.plan = plan
        stopping = try EventDescriptor()
    }

    /// Starts the thread, if there is anything to record.
    ///
    /// - Parameter isSilent: the server does not answer, and the user knows. No broadcast waits for it.
    func start(isSilent: Bool) throws(Errno) {
        guard !plan.tracks.isEmpty else { return settle() }
        if isSilent { settle() }
        let worker = try WorkerThread(name: "sound", stackBytes: 512 * 1024) { [self] in
            run(isSilent ? .silent : nil)
        }
        thread.withLock { $0 = worker }
    }

    /// Ends the thread.
    func stop() {
        stopping.signal()
        thread.withLock { $0?.join() }
    }

    /// Waits until sound can begin together with the first picture. Returns what is recorded by then.
    func waitUntilSettled(until deadline: MediaTime) -> Set<CaptureAudioSource> {
        state.wait(until: deadline) { $0.isSettled ? $0.recorded : nil } ?? state.withLock { $0.recorded }
    }

    /// Sends the sound to a broadcast; nil for none.
    func send(to connection: CaptureConnection?) { state.withLock { $0.connection = connection } }

    /// - Parameter told: the failure that the user knows of.
    private func run(_ told: PulseConnection.OpenFailure?) {
        var told = told
        while true {
            do throws(PulseConnection.OpenFailure) {
                let server = try PulseConnection(stop: stopping.raw, patience: Self.patience)
                do throws(PulseConnection.Interruption) { try record(server) { told = nil } } catch {
                    switch error {
                    case .stopped: throw .stopped
                    case .silent: throw .silent
                    case .lost: tell("the sound server has ended", "waiting for it to come back")
                    }
                }
            } catch {
                settle()
                let isNews = error != told
                told = error
                switch error {
                case .stopped: return
                case .silent: if isNews { Self.tellOfSilence() }
                case .failed(let why):
                    let next = why.isTemporary ? " for now; trying again" : ""
                    if isNews { tell("\(why)", "broadcasts have no sound\(next)") }
                    if !why.isTemporary { return }
                }
            }
            guard sleep() else { return }
        }
    }

    /// Tells the user what happens, and how to check the server.
    static func tellOfSilence() {
        Report.line(
            "upcast-screen: \(PulseConnection.silence); broadcasts have no sound until it answers (check it with "
                + "pactl info)")
    }

    /// - Parameter answered: called when the server has told what it has.
    private func record(
        _ server: PulseConnection, answered: () -> Void
    ) throws(PulseConnection.Interruption) {
        let clock = MonotonicClock()
        let tracks = plan.tracks.map { ($0, SoundTrack($0.wish, channels: $0.channels, server)) }
        var mustFollow = true
        // When something last came. An idle sink and a hanging server both send nothing, so the server is asked after a
        // while.
        var heard = clock.now()
        while true {
            let now = clock.now()
            if mustFollow || server.hasChanged || now - heard >= Self.silence
                || tracks.contains(where: { $1.mustFollow(now: now) })
            {
                let facts = try server.facts()
                answered()
                heard = now
                for (plan, track) in tracks { track.follow(facts, now: now) { report($0, plan) } }
                mustFollow = false
            }
            let connection = state.withLock { $0.connection }
            var next = now + .milliseconds(Self.tickMilliseconds)
            for (plan, track) in tracks {
                let wish = track.read(now: clock.now()) { bytes, time in
                    heard = now
                    // Errors are ignored: the main thread hears by itself that the broadcast has ended.
                    try? connection?.sendAudio(
                        plan.source, bytes, format: plan.format, at: .nanoseconds(time.nanoseconds))
                }
                if let wish { next = min(next, wish) }
            }
            if tracks.allSatisfy({ $1.isSettled }) { settle() }
            let pause = max(0, (next - clock.now()).nanoseconds + 999_999) / 1_000_000
            try server.wait(milliseconds: CInt(clamping: pause))
        }
    }

    private func settle() { state.signal { $0.isSettled = true } }

    /// False when the thread is to end.
    private func sleep() -> Bool {
        var waiting = pollfd(fd: stopping.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, Self.retryMilliseconds) == 0
    }

    private func tell(_ text: String, _ consequence: String) { Report.line("upcast-screen: \(text); \(consequence)") }

    private func report(_ notice: SoundTrack.Notice, _ track: SoundPlan.Track) {
        switch notice {
        case .recording(let sources):
            state.withLock { _ = $0.recorded.insert(track.source) }
            guard !plan.isQuiet else { return }
            let program = if case .application(let name) = track.wish { "what \(name) plays, of " } else { "" }
            Report.line("\(track.name) is \(program)\(sources.joined(separator: ", "))")
        case .missing(let text):
            state.withLock { _ = $0.recorded.remove(track.source) }
            tell("no \(track.name): \(text)", "waiting for it")
        }
    }
}
