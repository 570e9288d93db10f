/// Why a command was not carried out: one word for programs, one sentence for people.
package struct CommandRefusal: Error, Equatable, Sendable {
    package enum Code: String, CaseIterable, Sendable {
        case badDestination = "bad_destination"
        case notFound = "not_found"
        case doesNotFit = "does_not_fit"
        case failed
        /// The destination has been given up for good.
        case hasFailed = "has_failed"
        case badValue = "bad_value"
        case noBroadcast = "no_broadcast"
        case snapshotUnavailable = "snapshot_unavailable"
        /// The command needs a protection that is off.
        case turnedOff = "turned_off"
        /// Something relies on the protection that the command would turn off.
        case isInUse = "is_held"
        /// The configuration is invalid, or part of it could not be applied.
        case notReloaded = "not_reloaded"
        /// The sender has no right to do that.
        case forbidden
    }

    package var code: Code
    package var sentence: String

    package init(code: Code, sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}
