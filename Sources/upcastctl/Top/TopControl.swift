import ControlClient
import ControlProtocol

/// Performs the actions for keys of `top`, and reports their results.
struct TopControl {
    /// A sentence for the last line.
    struct Notice: Equatable {
        var text: String
        var isBad = false
    }

    let client: ControlClient

    func perform(_ action: TopAction) -> Notice? {
        do throws(ControlClientError) {
            return try answer(action)
        } catch {
            return Notice(text: "\(Self.failed(action)): \(error)", isBad: true)
        }
    }

    private func answer(_ action: TopAction) throws(ControlClientError) -> Notice? {
        switch action {
        case .quit: return nil
        case .raise:
            var request = CurtainUpRequest()
            request.reason = "upcastctl top"
            try client.ask("POST", "/curtain/up", body: request.json)
            return Notice(text: "the curtain is up: viewers see and hear nothing else")
        case .lower:
            let answer = CurtainDownAnswer(
                json: try client.ask("POST", "/curtain/down", body: CurtainDownRequest().json))
            return answer.isUp
                ? Notice(text: "your hold is released; others keep the curtain up", isBad: true)
                : Notice(text: "the curtain is down: viewers see the picture")
        case .pause:
            try client.ask("POST", "/pause")
            return Notice(text: "paused: viewers see the last picture and hear nothing")
        case .resume:
            try client.ask("POST", "/resume")
            return Notice(text: "the operator's pause has ended; a pause by the client continues")
        case .retry:
            let before = DestinationsAnswer(json: try client.get("/destinations")).destinations
            try client.ask("POST", "/destinations/retry")
            return RetryCommand.nothingToDo(before).map { Notice(text: $0, isBad: true) }
                ?? Notice(text: "waiting destinations reconnect now")
        case .keyframe:
            try client.ask("POST", "/keyframe")
            return Notice(text: "the next frame is a keyframe")
        }
    }

    private static func failed(_ action: TopAction) -> String {
        switch action {
        case .raise: "THE CURTAIN IS NOT RAISED"
        case .lower: "the curtain is not lowered"
        case .pause: "not paused"
        case .resume: "not resumed"
        case .retry: "not retried"
        case .keyframe, .quit: "no keyframe"
        }
    }
}
