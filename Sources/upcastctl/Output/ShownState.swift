import ControlProtocol

extension DestinationStatus {
    /// For how long the destination has been in its state. An outage counts from its beginning, not from the last
    /// attempt.
    var shownMilliseconds: Int { downMilliseconds > 0 ? downMilliseconds : stateMilliseconds }
}

/// What viewers get, as `list` and `top` show it: a word, its colour, and for how long.
struct ShownState: Equatable {
    var word: String
    var milliseconds: Int
    var colour: TopLine.Colour

    init(_ status: StatusReport) {
        word = status.air.state.words
        if [.paused, .draining, .stopping].contains(status.state) { word += ", \(status.state.rawValue)" }
        milliseconds = status.air.sinceMilliseconds
        colour =
            switch status.air.state {
            case .onAir: .good
            case .offAir: .bad
            case .hidden, .impaired: .warning
            case .idle: .bold
            }
    }
}
