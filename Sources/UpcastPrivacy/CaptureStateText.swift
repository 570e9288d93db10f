internal import ControlProtocol
internal import ControlClient

/// Reads events of `GET /state/events`. Pure.
enum CaptureStateText {
    /// The most bytes of an event's data. The longest that a daemon writes has some 300.
    static let maxBytes = 8 * 1024

    struct Event: Equatable {
        /// The event's number in its stream.
        var number: Int
        var state: CaptureState
        /// The capture's number, which an answer names.
        var capture: Int
        /// The apps whose answers the daemon waits for before it shows anything of the capture.
        var waitingFor: [String]
        /// In the first event to a consulted app: whether the daemon's state file records that the app is consulted;
        /// nil without a state file.
        var isPersisted: Bool?
    }

    /// Decodes an event.
    ///
    /// - Throws: `unintelligible` for an event that does not say clearly whether the screen is captured.
    static func read(_ event: ServerEvent) throws(ControlClientError) -> Event {
        guard event.name == "state", let number = Int(event.id) else {
            throw .unintelligible("an event of another kind came")
        }
        guard event.data.utf8.count <= maxBytes, let json = try? JSONParser.parse(Array(event.data.utf8)),
            case .object(let members) = json, case .bool(let isCaptured)? = json["captured"],
            members.count(where: { $0.name == "captured" }) == 1
        else { throw .unintelligible("it does not say whether anything is captured") }
        // Other missing members make no difference to an app that has something to hide.
        let report = CaptureStateReport(json: json)
        let state: CaptureState =
            isCaptured
            ? .captured(
                Capture(
                    kind: .init(report.kind), client: report.client,
                    since: UTCTime(sinceEpoch: .milliseconds(report.since))))
            : .notCaptured
        var isPersisted: Bool?
        if case .bool(let value)? = json["persisted"] { isPersisted = value }
        return Event(
            number: number, state: state, capture: report.capture, waitingFor: report.waitingFor,
            isPersisted: isPersisted)
    }
}
