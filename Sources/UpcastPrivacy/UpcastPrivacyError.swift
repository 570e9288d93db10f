internal import ControlClient
internal import ControlProtocol

/// Why a call of this library failed: a code to branch on, and a sentence to show.
public struct UpcastPrivacyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; new kinds may be added, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable {
        private enum Kind { case unreachable, timedOut, refused, notUnderstood, noResources }
        private let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// No daemon could be asked. Nothing was done, or the daemon ended during the request.
        public static let unreachable = Code(.unreachable)
        /// The daemon was asked and did not answer in time. The request may or may not be done. Asking again does no
        /// harm.
        public static let timedOut = Code(.timedOut)
        /// The daemon refused the request; `daemonCode` says why. Nothing was done.
        public static let refused = Code(.refused)
        /// The answer is not from upcastd, or this library does not understand it.
        public static let notUnderstood = Code(.notUnderstood)
        /// The system has no descriptor or no thread left.
        public static let noResources = Code(.noResources)
    }

    public let code: Code
    /// What failed, with the text of the system or the daemon.
    public let message: String
    /// The daemon's error code (docs/control.md, "Errors"), if the daemon gave one.
    public let daemonCode: String?

    public var description: String { message }

    init(_ code: Code, _ message: String, daemonCode: String? = nil) {
        self.code = code
        self.message = message
        self.daemonCode = daemonCode
    }

    /// - Parameter consequence: what the failure means, as the sentence's second half.
    init(_ error: ControlClientError, _ consequence: String) {
        let message = "\(error); \(consequence)"
        switch error {
        case .unreachable, .noSocket, .nobodyListens, .unusable: self.init(.unreachable, message)
        case .unanswered: self.init(.timedOut, message)
        case .refused(_, let report): self.init(.refused, message, daemonCode: report.code)
        case .unintelligible, .captureSocket: self.init(.notUnderstood, message)
        }
    }
}
