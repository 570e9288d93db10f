internal import ControlProtocol
internal import ControlClient

/// Reads events of `GET /state/events`. Pure.
enum CaptureStateText {
    /// Bytes of an event's data; the longest that a daemon writes has some 300.
    static let maxBytes = 8 * 1024

    struct Event: Equatable {
        /// In its stream.
        var number: Int
        var state: CaptureState
        /// Which capture it is; what an answer names.
        var capture: Int
        /// Whose answers the daemon waits for before it shows anything of it.
        var waitingFor: [String]
        /// Of the first event to an app that is consulted: whether the daemon's state file says so; nil without one.
        var isPersisted: Bool?
    }

    /// What an event says.
    ///
    /// - Throws: `unintelligible` for everything that does not say without doubt whether the screen is captured.
    static func read(_ event: ServerEvent) throws(ControlClientError) -> Event {
        guard event.name == "state", let number = Int(event.id) else {
            throw .unintelligible("an event of another kind came")
        }
        guard event.data.utf8.count <= maxBytes, let json = try? JSONParser.parse(Array(event.data.utf8)),
            case .object(let members) = json, case .bool(let isCaptured)? = json["captured"],
            members.count(where: { $0.name == "captured" }) == 1
        else { throw .unintelligible("it does not say whether anything is captured") }
        // What else is missing makes no difference to an app that has something to hide.
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
