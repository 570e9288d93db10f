import ControlProtocol

/// The state of a daemon as people read it, for `list` and `top`: one word, its colour, and for how long.
struct ShownState: Equatable {
    var word: String
    var milliseconds: Int
    var colour: TopLine.Colour

    init(_ status: StatusReport) {
        word = status.state.rawValue
        milliseconds = status.stateMilliseconds
        colour =
            switch status.state {
            case .live: .good
            case .reconnecting: .bad
            case .starting, .paused, .draining, .stopping: .warning
            case .idle: .bold
            }
    }
}
