internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// How a client connects to a daemon's socket, and what it tells its user if the daemon accepts no connection.
enum DaemonSocket {
    /// How long a daemon may be silent before a program tells its user.
    static let silence = MediaTime.seconds(3)
    /// How long a program waits for a daemon that accepts no connection.
    private static let patience = MediaTime.seconds(10)
    /// Waits are split into steps of this length, so that signals end them.
    private static let step = MediaTime.milliseconds(500)

    static func connect(_ path: String, _ timeout: Duration) throws(CaptureError) -> OwnedDescriptor {
        do throws(UnixSocket.Failure) {
            return try UnixSocket.connect(path: path, timeout: MediaTime(timeout))
        } catch {
            throw CaptureError(.cannotConnect, sentence(error, path))
        }
    }

    /// Waits while the daemon accepts no connection: for `patience`, or until a signal ends the program.
    ///
    /// - Parameter silent: called once with a sentence for the user, after `silence`.
    static func connect(
        _ path: String, _ signals: EndingSignals, _ silent: (String) -> Void
    ) throws(CaptureError) -> OwnedDescriptor {
        let begin = MonotonicClock().now()
        var isTold = false
        while true {
            do throws(UnixSocket.Failure) {
                return try UnixSocket.connect(path: path, timeout: step)
            } catch {
                let isFull = if case .system(_, let errno) = error { errno.code == EAGAIN } else { false }
                let waited = MonotonicClock().now() - begin
                guard isFull, waited < patience, !signals.isEnding else {
                    throw CaptureError(.cannotConnect, sentence(error, path))
                }
                if !isTold, waited >= silence {
                    isTold = true
                    silent(sentence(silentAt: path, patience))
                }
            }
        }
    }

    /// What is wrong, and what the user can do.
    static func sentence(silentAt path: String, _ timeout: MediaTime) -> String {
        "upcastd at \(path) has not answered for \(silence.milliseconds / 1000) s: it is stopped, or hangs; this "
            + "program waits for \((timeout - silence).milliseconds / 1000) s more; restart upcastd if it does not "
            + "come back (upcastctl status asks it, too)"
    }

    private static func sentence(_ failure: UnixSocket.Failure, _ path: String) -> String {
        switch SocketRefusal(failure, path: path) {
        case .missing: "\(path) does not exist: upcastd is not running, or ingest.socket names another path"
        case .nobodyListens: "nothing listens at \(path): upcastd ended without removing it"
        case .notASocket: "\(path) is not a socket: ingest.socket is another path"
        case .forbidden(let remedy): "no permission to use \(path): \(remedy)"
        case .full: "upcastd took no connection at \(path) in time: it hangs, or too many clients wait"
        case .other: "\(failure)"
        }
    }
}
