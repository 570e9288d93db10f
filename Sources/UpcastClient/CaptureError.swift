internal import IngestProtocol
internal import LinuxSystem

/// Why a call of `CaptureConnection` failed: a code to branch on, and a sentence to show.
public struct CaptureError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; new kinds may be added, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case cannotConnect, busy, refused, ended, disconnected, timedOut, cancelled, invalidArgument, wrongOrder
            case noResources
        }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// Nobody listens at the path or accepts connections there in time, this process may not connect, or the path
        /// is that of the control socket.
        public static let cannotConnect = Code(.cannotConnect)
        /// Another client's broadcast is under way; try again later on a new connection.
        public static let busy = Code(.busy)
        /// The daemon ended the connection with an error; `daemonCode` says which.
        public static let refused = Code(.refused)
        /// The daemon said goodbye; nothing more can be sent.
        public static let ended = Code(.ended)
        /// The connection is gone, and the daemon gave no reason.
        public static let disconnected = Code(.disconnected)
        /// The daemon did not read, or did not answer, in the time that was allowed.
        public static let timedOut = Code(.timedOut)
        /// The task that waited was cancelled.
        public static let cancelled = Code(.cancelled)
        /// A sample or a setting that the protocol does not allow; nothing was sent.
        public static let invalidArgument = Code(.invalidArgument)
        /// A call at the wrong time, such as a sample before `start`; nothing was sent.
        public static let wrongOrder = Code(.wrongOrder)
        /// The system has no thread or no descriptor left for an asynchronous call; nothing was sent.
        public static let noResources = Code(.noResources)
    }

    public let code: Code
    /// What failed, on what, with the text of the system or the daemon.
    public let message: String
    /// The daemon's code for the reason, if the daemon gave one.
    public let daemonCode: DaemonErrorCode?

    public var description: String { message }

    init(_ code: Code, _ message: String, daemonCode: DaemonErrorCode? = nil) {
        self.code = code
        self.message = message
        self.daemonCode = daemonCode
    }

    /// A rule of the protocol that the caller would have broken.
    init(_ error: ProtocolError) {
        let code: Code = error.code == .unexpectedMessage ? .wrongOrder : .invalidArgument
        self.init(code, error.message, daemonCode: nil)
    }

    /// A fatal error from the daemon.
    init(_ error: ErrorMessage) {
        self.init(
            error.code == .busy ? .busy : .refused, error.text, daemonCode: DaemonErrorCode(rawValue: error.codeRaw))
    }

    init(noResources error: Errno) {
        self.init(.noResources, "there is no thread to wait on: \(error)")
    }
}
