internal import LinuxSystem
internal import MediaCore

/// Watches whether the screen is captured, for the captured app, and reports each change.
///
/// It fails closed. It reports `CaptureState.notCaptured` only while
/// - the daemon has said so, on an open connection with a sign of life each second; or
/// - the daemon is certainly gone: nobody listens at its socket, or the process that has spoken for it has ended and
///   has left no socket.
///
/// In all other cases the state is `unknown`, which counts as captured. This includes a daemon that has not answered
/// yet, hangs or is stopped for 3 s, a missing or forbidden socket, something else that answers, and the time from the
/// end of a connection until its reason is certain. The monitor reconnects after 20 ms, and then at least every 250 ms.
/// So if there was no daemon, it may notice a capture that much later.
///
/// With a name, the app is consulted: while this monitor is connected, viewers see no capture before `onChange` has
/// returned from that state. An app that hides something there hides it in time. If `onChange` throws or does not
/// return, viewers see the curtain.
///
/// The monitor has one thread of its own, on which it calls `onChange`. Any thread may call any method, and only `stop`
/// waits. The monitor stops when it is deinitialized.
///
/// ```swift
/// let monitor = try CaptureStateMonitor(app: "kiosk") { state in
///     setSecretsHidden(state.isCaptured)
/// }
/// setSecretsHidden(monitor.isCaptured)
/// ```
public final class CaptureStateMonitor: Sendable {
    private let reader: CaptureStateReader
    private let thread: WorkerThread

    /// Begins to watch. The state is `unknown` until the daemon has answered.
    ///
    /// - Parameters:
    ///   - app: the `CapturedApp.name` of an app to consult before viewers see a capture. With nil, the app is only
    ///     notified, which is too late to hide something from the first pictures. Of several monitors with one name and
    ///     user, the first answer counts.
    ///   - socket: the daemon's own control socket. A socket that another program forwards does not show the daemon's
    ///     end.
    ///   - onChange: called with each new state, one after the other, on the monitor's thread, but not with the first
    ///     `unknown`. While it runs, `state` stays right, and the next change waits. If news waits for three seconds,
    ///     it is not believed: the state becomes `unknown`, and the monitor reconnects. The closure may call `stop`. An
    ///     error that it throws goes no further, and viewers do not see the capture.
    /// - Throws: `noResources`.
    public convenience init(
        app: String?, socket: String = CapturedApp.defaultSocket,
        onChange: @escaping @Sendable (CaptureState) throws -> Void = { _ in }
    ) throws(UpcastPrivacyError) {
        try self.init(app: app, socket: socket, limits: .init(), clock: MonotonicClock(), onChange: onChange)
    }

    /// - Parameter clock: decides how long something is believed.
    init(
        app: String?, socket: String, limits: CaptureWatch.Limits, clock: any TimeSource,
        onChange: @escaping @Sendable (CaptureState) throws -> Void
    ) throws(UpcastPrivacyError) {
        do throws(Errno) {
            let reader = try CaptureStateReader(
                app: app, socket: socket, limits: limits, clock: clock, onChange: onChange)
            self.reader = reader
            thread = try WorkerThread(name: "upcast-state") { reader.run() }
        } catch {
            throw UpcastPrivacyError(
                .noResources, "the capture state cannot be watched: \(error); treat the screen as captured")
        }
    }

    deinit { stop() }

    /// The state that is known at this moment.
    public var state: CaptureState { reader.state }

    /// True for `captured` and for `unknown`.
    public var isCaptured: Bool { state.isCaptured }

    /// For a consulted app: true if the daemon's state file records this, so that a restarted daemon also waits for the
    /// app. False if the daemon could not write it in time. Nil while nothing is known, if the app is not consulted, or
    /// if the daemon has no state file.
    public var isPersisted: Bool? { reader.isPersisted }

    /// The state now, and then each change, until the monitor stops. Each caller gets its own sequence. A reader that
    /// is more than 16 states behind misses the oldest.
    public var states: AsyncStream<CaptureState> { reader.states() }

    /// Stops watching: the state is `unknown` from now on, and the sequences end. When this returns, `onChange` is not
    /// called any more. Within `onChange` itself, it does not wait. A second call does nothing.
    public func stop() {
        reader.stop()
        thread.join()
    }
}
