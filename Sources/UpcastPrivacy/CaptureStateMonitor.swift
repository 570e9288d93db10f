internal import LinuxSystem
internal import MediaCore

/// Watches whether the screen is captured, for the app that is captured from, and tells when that changes.
///
/// It fails closed. `CaptureState.notCaptured` is what it says only while
/// - the daemon has said so, on a connection that is open and on which the daemon shows every second that it lives; or
/// - the daemon is certainly gone: nobody listens at its socket, or the process that had said something has ended and
///   has left no socket.
///
/// In all other cases the state is `unknown`, which counts as captured: while the daemon has not answered yet, hangs
/// or is stopped for 3 s, where the socket is missing or not permitted, where something else answers, and from the end
/// of a connection on until the reason is certain. It tries to connect again after 20 ms, and then at least every
/// 250 ms; a daemon that begins to capture while there was none can be noticed so much later.
///
/// With the app's name the app is consulted: no capture is shown to viewers before `onChange` has returned from its
/// state, as long as this monitor is connected. Whoever hides something there hides it in time. Where `onChange` throws
/// or does not return, viewers see the curtain.
///
/// It has one thread of its own, on which `onChange` is called. Everything here may be called from any thread and does
/// not wait, but for `stop`. It stops when it goes away.
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

    /// Begins to watch; the state is `unknown` until the daemon has answered.
    ///
    /// - Parameters:
    ///   - app: `CapturedApp.name` of the app that is consulted before it is shown; nil for one that is only told,
    ///     which is too late to hide something from the first pictures. Of several monitors with one name and user,
    ///     the first answer counts.
    ///   - socket: the daemon's own control socket. One that another program forwards says nothing of the daemon's end.
    ///   - onChange: is given each new state, one after the other, on the monitor's thread; not the first `unknown`. As
    ///     long as it takes, `state` stays right, and the next change waits: news that waits for three seconds is not
    ///     believed, the state becomes `unknown`, and the monitor connects again. It may call `stop`. An error that it
    ///     throws goes no further; a capture whose state it has not taken is not shown.
    /// - Throws: `noResources`.
    public convenience init(
        app: String?, socket: String = CapturedApp.defaultSocket,
        onChange: @escaping @Sendable (CaptureState) throws -> Void = { _ in }
    ) throws(UpcastPrivacyError) {
        try self.init(app: app, socket: socket, limits: .init(), clock: MonotonicClock(), onChange: onChange)
    }

    /// - Parameter clock: what is believed ends by it.
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

    /// What is known at this moment.
    public var state: CaptureState { reader.state }

    /// True for `captured` and for `unknown`.
    public var isCaptured: Bool { state.isCaptured }

    /// Of an app that is consulted: true where the daemon has this in its state file, so that a daemon that is
    /// restarted waits for the app, too. False where it could not be written in time; nil while nothing is known, where
    /// the app is not consulted, and where the daemon has no state file.
    public var isPersisted: Bool? { reader.isPersisted }

    /// The state now, and then each change, until the monitor stops: a sequence of its own for each who asks. One who
    /// is more than 16 states behind misses the oldest.
    public var states: AsyncStream<CaptureState> { reader.states() }

    /// Ends the watching: the state is `unknown` from now on, and the sequences end. When it returns, `onChange` is not
    /// called any more; within `onChange` itself it does not wait. A second call does nothing.
    public func stop() {
        reader.stop()
        thread.join()
    }
}
