import CaptureSources
import Glibc
import LinuxSystem
import MediaCore
import UpcastClient

/// One broadcast from connecting to goodbye. Each track has a thread; the main thread handles signals, events, pauses
/// and progress.
final class Session {
    private let plan: SessionPlan
    private let shared = Monitor(SharedState())
    private var progress: ProgressLine
    private var reason = CaptureFinishReason.sourceEnded
    /// Whether the daemon has accepted the broadcast.
    private var hasBegun = false

    /// State that the track threads share with the main thread.
    struct SharedState {
        var frames: Int64 = 0
        /// Frames that were too late to send.
        var late: Int64 = 0
        /// Inputs that ended within a frame.
        var cut: [CutInput] = []
        var isPaused = false
        var running = 0
        /// The number of running tracks whose input has an end.
        var finiteLeft = 0
        var hadFinite = false
        var failure: Failure?
    }

    enum Failure: Error {
        case input(String)
        case daemon(CaptureError)
        /// The daemon has not accepted the broadcast.
        case unreachable(CaptureError)
        /// The daemon does not respond.
        case silent(String)

        var status: ExitStatus {
            switch self {
            case .input: .badInput
            case .silent: .refused
            case .unreachable: .cannotConnect
            case .daemon(let error): error.code == .invalidArgument ? .badInput : .refused
            }
        }
        var isDaemons: Bool { if case .input = self { false } else { true } }
        var text: String {
            switch self {
            case .input(let text), .silent(let text): text
            case .daemon(let error), .unreachable(let error): error.message
            }
        }
    }

    private static let tick = Duration.milliseconds(50)
    /// How long the inputs wait for an input without samples.
    private static let startPatience = MediaTime.seconds(10)
    init(_ plan: SessionPlan) {
        self.plan = plan
        progress = ProgressLine(isShown: plan.showsProgress, isQuiet: plan.isQuiet)
    }

    /// Runs the broadcast; returns the program's exit code.
    func run() -> Int32 {
        do {
            let stop = try StopSignal()
            // From here on, signals end the broadcast, not the program. No thread may start earlier and receive them.
            let signals = try EndingSignals { stop.stop() }
            defer { signals.stop() }
            do {
                return try broadcast(signals, stop).rawValue
            } catch where signals.isSignalled {
                // A user who ends the program does not wait for the daemon. The signal also interrupts inputs.
                if hasBegun, let failure = error as? Failure, failure.isDaemons { progress.report(failure.text) }
                return ExitStatus.sent.rawValue
            }
        } catch {
            let failure = error as? Failure ?? .input("\(error)")
            progress.report(failure.text)
            return failure.status.rawValue
        }
    }

    private func broadcast(_ signals: EndingSignals, _ stop: StopSignal) throws -> ExitStatus {
        // Files are opened before the broadcast starts, so that a wrong name or header is reported first.
        var inputs: [SessionInput] = []
        defer {
            stop.stop()
            for input in inputs { input.stream?.ahead?.close() }
        }
        try SessionInput.open(plan, stop, &inputs)
        if plan.loops, let pipe = inputs.first(where: { $0.stream?.file.isLive ?? false }) {
            progress.report("\(pipe.name): not a regular file, so it cannot begin again; --loop repeats files")
        }
        let timed = inputs.lazy.compactMap(\.timed).first
        if let timed { try check(timed) }
        let finite = plan.loops ? 0 : inputs.filter(\.isFinite).count
        shared.withLock {
            $0.finiteLeft = finite
            $0.hadFinite = finite > 0
            $0.running = inputs.count
        }
        let connection = try daemon { () throws(CaptureError) in
            try CaptureConnection(path: plan.socket, sharesMemory: plan.sharesMemory, signals: signals) {
                progress.report($0)
            }
        }
        defer { signals.watch(nil) }
        let welcome = try daemon { () throws(CaptureError) in
            try connection.start(plan.setup(timed), at: plan.socket) { progress.report($0) }
        }
        progress.began(welcome, at: plan.socket)
        signals.watch(connection, hasBegun: true)
        hasBegun = true
        let start = CommonStart(Set(inputs.map(\.name)))
        let pipes = Set(inputs.filter(\.isSeparatePipe).map(\.name))
        let live = pipes.count > 1 ? LiveStart(pipes) : nil
        var threads: [WorkerThread] = []
        defer {
            stop.stop()
            start.cancel()
            live?.cancel()
            for thread in threads { thread.join() }
        }
        for input in inputs { threads.append(try self.start(input, connection, start, live, stop)) }
        let goodbye = try watch(
            connection, signals, start, live, inputs.filter(\.isSeparatePipe).compactMap(\.stream?.file))
        if signals.isSignalled { reason = .userStopped }

        // From here on, the program does not wait for a daemon that does not respond, and the next signal ends the
        // program.
        signals.end()
        stop.stop()
        start.cancel()
        live?.cancel()
        for thread in threads { thread.join() }
        threads = []
        progress.tell(of: shared.withLock { $0.cut })
        if signals.hasCut { throw Self.noGoodbye }
        if let failure = shared.withLock({ $0.failure }) {
            // The daemon learns of the failure, so that it does not report a vanished client.
            if case .input(let text) = failure { _ = try? connection.finish(.failed, text: text) }
            throw failure
        }
        do { return try finish(connection, goodbye) } catch {
            throw signals.hasCut ? Self.noGoodbye : error
        }
    }

    private static let noGoodbye = Failure.silent(EndingSignals.noGoodbye)

    // MARK: Tracks

    /// Refuses a stream beside other inputs that it has, too. Reports which parts are not sent.
    private func check(_ timed: ContainerInput) throws {
        if timed.microphone != nil, plan.microphone != nil {
            throw Failure.input("the stream has a second audio track, which is the microphone; leave out --mic")
        }
        if !timed.unsent.isEmpty { progress.report("not sent: \(timed.unsent.joined(separator: ", "))") }
        if let hdr = timed.hdr {
            progress.tell(
                "the video is HDR (\(hdr)), which viewers see with wrong brightness and colours; to convert it, add to "
                    + "ffmpeg's filters: \(InputError.hdrFilter)")
        }
        guard let video = timed.video, !video.pixelFormat.isRGB, !timed.knowsColors, plan.matrix == nil,
            plan.range == nil
        else { return }
        progress.tell(
            "the colours of the video are taken as \(video.color.matrix), \(video.color.range) range, which the stream "
                + "does not fully say; --color and --range name others")
    }

    private func start(
        _ input: SessionInput, _ connection: CaptureConnection, _ start: CommonStart, _ live: LiveStart?,
        _ stop: StopSignal
    ) throws -> WorkerThread {
        let (plan, shared) = (plan, shared)
        let settings = FeedSettings(
            start: start, name: input.name, isPaced: plan.isPaced, duration: plan.duration)
        return try WorkerThread(name: input.threadName, stackBytes: 512 * 1024) {
            var failure: Failure?
            do {
                let track = Track(plan, connection, shared, input.isSeparatePipe ? live : nil)
                switch input.kind {
                case .video(let video): try track.sendVideo(video, input.stream, settings, stop)
                case .audio(let source, let audio): try track.sendAudio(source, audio, input.stream, settings, stop)
                case .timed(let timed): try track.send(timed, settings, stop)
                }
            } catch let error as CaptureError {
                failure = .daemon(error)
            } catch {
                // After a stop, errors of interrupted inputs are expected.
                if !stop.isStopped { failure = .input("\(input.naming(error, in: plan))") }
            }
            start.withdraw(input.name, at: stop.now())
            live?.withdraw(input.name)
            shared.withLock {
                $0.running -= 1
                if input.isFinite { $0.finiteLeft -= 1 }
                // A goodbye is not a failure of the track. The main thread reads it.
                if case .daemon(let error)? = failure, error.code == .ended { return }
                if $0.failure == nil { $0.failure = failure }
            }
        }
    }

    // MARK: The main thread

    /// Runs the main thread until the broadcast ends. Returns the goodbye if the daemon ended it.
    private func watch(
        _ connection: CaptureConnection, _ signals: EndingSignals, _ start: CommonStart,
        _ live: LiveStart?, _ pipes: [FileInput]
    ) throws -> CaptureGoodbye? {
        var pauses = plan.pauses[...]
        var hasCheckedPipes = false
        let clock = MonotonicClock()
        var silence = DaemonSilence()
        let deadline = clock.now() + Self.startPatience
        while true {
            let event = try daemon { () throws(CaptureError) in try connection.nextEvent(timeout: Self.tick) }
            if case .goodbye(let goodbye)? = event { return goodbye }
            if let event { progress.show(event) }
            switch silence.look(DaemonSilence.Word(event), now: clock.now()) {
            case .silent: progress.report(DaemonSilence.sentence)
            case .back: progress.tell(DaemonSilence.backSentence)
            case nil: break
            }
            if signals.isEnding { return nil }
            let state = shared.withLock { $0 }
            progress.tell(of: state.cut)
            if state.failure != nil { return nil }
            if state.running == 0 || state.hadFinite && state.finiteLeft <= 0 { return nil }
            let now = clock.now()
            guard let begun = start.time else {
                progress.wait()
                if now >= deadline {
                    let missing = start.expire(at: now)
                    for name in missing { live?.withdraw(name) }
                    progress.report(Self.sentence(missing: missing))
                }
                continue
            }
            // A silent pipe must not extend a broadcast beyond its duration.
            if let duration = plan.duration, now - begun >= duration + .milliseconds(500) { return nil }
            try daemon { () throws(CaptureError) in
                try pauseOrResume(connection, &pauses, state.isPaused, now - begun)
            }
            if let live, live.areLive, !hasCheckedPipes {
                hasCheckedPipes = true
                if PipeWriters.isOne("ffmpeg", of: pipes) {
                    shared.withLock { $0.failure = $0.failure ?? .input(Self.oneProgram) }
                    continue
                }
                progress.tellOfLivePipes()
            }
            progress.update(
                frames: state.frames, late: state.late, time: now - begun, isPaused: state.isPaused)
        }
    }

    /// Arrival times do not show this delay: 20 to 90 ms under load.
    private static let oneProgram =
        "one ffmpeg writes both pipes: sound waits in it for pictures, and would be late; send both as one NUT stream, "
        + "which has times: ffmpeg -copyts ... -f nut - | upcast-send - (see --help)"

    private static func sentence(missing: [String]) -> String {
        let names = missing.joined(separator: " and ")
        return "no samples of \(names) for \(startPatience); the broadcast starts without this input and includes it "
            + "when samples arrive"
    }

    private func pauseOrResume(
        _ connection: CaptureConnection, _ pauses: inout ArraySlice<(start: MediaTime, end: MediaTime)>,
        _ isPaused: Bool, _ time: MediaTime
    ) throws(CaptureError) {
        guard let next = pauses.first else { return }
        if !isPaused, time >= next.start {
            shared.withLock { $0.isPaused = true }
            try connection.pause()
        } else if isPaused, time >= next.end {
            pauses.removeFirst()
            try connection.resume()
            shared.withLock { $0.isPaused = false }
        }
    }

    private func finish(_ connection: CaptureConnection, _ goodbye: CaptureGoodbye?) throws -> ExitStatus {
        let last =
            try goodbye
            ?? daemon { () throws(CaptureError) in
                try connection.finish(reason) { progress.show($0) }
            }
        let (late, cut) = shared.withLock { ($0.late, $0.cut) }
        progress.ended(last, late: late)
        if last.reason == .finished { return !cut.isEmpty && reason == .sourceEnded ? .refused : .sent }
        let text = last.text.isEmpty ? "\(last.reason)" : last.text
        // A goodbye that answers this program's own end says how the broadcast ended.
        progress.report(goodbye == nil && last.reason == .failed ? text : "upcastd ended the broadcast: \(text)")
        return .refused
    }

    private func daemon<Result>(_ call: () throws(CaptureError) -> Result) throws(Failure) -> Result {
        do {
            return try call()
        } catch {
            switch error.code {
            case .cannotConnect: throw .unreachable(error)
            case .disconnected, .timedOut, .ended: throw hasBegun ? .daemon(error) : .unreachable(error)
            default: throw .daemon(error)
            }
        }
    }
}
