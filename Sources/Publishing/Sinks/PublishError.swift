package import MediaCore

/// Why publishing to a destination did not start, or ended: a sentence for people and a cause for programs.
///
/// The sentence says what failed, on which destination (redacted), why, and what happens now.
package struct PublishError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Whether another attempt is useless: the login is wrong, or the server refused a destination that has never
    /// worked.
    ///
    /// - Parameter hasWorked: whether packets have flowed to this destination before. Then the cause may be temporary:
    ///   a server that is starting, a full disk, or a foreign certificate of somebody on the path. A new attempt sends
    ///   nothing before the certificate is accepted.
    func isFinal(hasWorked: Bool) -> Bool {
        switch cause {
        case .credentials: true
        case .certificate, .rejected, .file, .secret: !hasWorked
        default: false
        }
    }

    package var cause: FailureCause
    /// What failed and why, as a clause: "connecting to ... failed: ...".
    package var detail: String
    /// Name and redacted URL; set by the destination.
    package var destination = ""
    /// What happens now; set by the destination.
    package var consequence = ""

    package init(_ cause: FailureCause, _ detail: String) {
        self.cause = cause
        self.detail = detail
    }

    static var cutByCurtain: PublishError {
        PublishError(
            .connectionLost,
            "the curtain was raised while packets from before were on their way; they were dropped with the connection")
    }

    /// Likely causes when a server closes a connection without a message.
    static let wordlessCauses = "the name may be taken, the publisher denied, or the key wrong"

    /// The detail when the server closed the connection without a message.
    static let closedWithoutWord = "the server closed the connection"

    var isWordless: Bool { cause == .connectionLost || detail == Self.closedWithoutWord }

    /// The description without the consequence.
    package var failure: String { (destination.isEmpty ? "" : destination + ": ") + detail }

    package var description: String {
        (destination.isEmpty ? "" : destination + ": ") + detail + (consequence.isEmpty ? "" : "; " + consequence)
    }
}
