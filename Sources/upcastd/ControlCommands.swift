internal import Control
internal import ControlProtocol
internal import Pipeline

/// The control server's routes that change something.
extension ControlRoutes {
    /// What `host` can be asked for, beside `standard`.
    mutating func addCommands(to host: BroadcastHost) {
        add("POST", "/destinations") { request in
            Self.answer { () throws(CommandRefusal) in
                [.init("name", .string(try host.addDestination(request.body)))]
            }
        }
        add("DELETE", "/destinations") { request in
            Self.answer { () throws(CommandRefusal) in
                try host.removeDestination(request.parameter("name") ?? "")
                return []
            }
        }
        add("POST", "/destinations/retry") { request in
            Self.answer { () throws(CommandRefusal) in
                try host.retryDestinations(request.parameter("name"))
                return []
            }
        }
    }

    private static func answer(
        _ command: () throws(CommandRefusal) -> [JSONValue.Member]
    ) -> ControlResponse {
        do {
            return ControlResponse(status: 200, json: .object(try command()))
        } catch {
            let status =
                switch error.code {
                case .badDestination: 400
                case .notFound: 404
                case .doesNotFit, .hasFailed: 409
                case .failed: 500
                }
            return .failure(status, error.code.rawValue, error.sentence)
        }
    }
}
