internal import Control
internal import ControlProtocol
internal import Logging
internal import MediaCore
internal import Pipeline

/// The control server's routes that change something.
extension ControlRoutes {
    /// What `host` can be asked for, beside `standard`.
    mutating func addCommands(to host: BroadcastHost) {
        add("POST", "/destinations", answering: { Self.add(to: host, $0) })
        add("DELETE", "/destinations") { request in
            Self.answer { () throws(CommandRefusal) in
                guard let name = try Self.name(in: request) else {
                    throw CommandRefusal(code: .badValue, sentence: "which destination? write ?name=NAME")
                }
                try host.destinations.remove(name)
                return []
            }
        }
        add("POST", "/destinations/retry") { request in
            Self.answer { () throws(CommandRefusal) in
                try host.destinations.retry(try Self.name(in: request))
                return []
            }
        }
    }

    /// The same, for what the running broadcast is told.
    mutating func addBroadcastCommands(to host: BroadcastHost) {
        add("POST", "/stop") { _ in
            Self.answer { () throws(CommandRefusal) in try Self.nothing(host.operating.stop()) }
        }
        add("POST", "/pause") { _ in
            Self.answer { () throws(CommandRefusal) in try Self.nothing(host.operating.pause(true)) }
        }
        add("POST", "/resume") { _ in
            Self.answer { () throws(CommandRefusal) in try Self.nothing(host.operating.pause(false)) }
        }
        add("POST", "/keyframe") { _ in
            Self.answer { () throws(CommandRefusal) in try Self.nothing(host.operating.requestKeyframe()) }
        }
        add("POST", "/bitrate") { request in
            Self.answer { () throws(CommandRefusal) in
                let value = try Self.members(of: request, "bits_per_second")["bits_per_second"]
                switch value {
                case nil, .null: try host.operating.setBitrateCeiling(nil)
                case .integer(let bitrate): try host.operating.setBitrateCeiling(bitrate)
                default: throw CommandRefusal(code: .badValue, sentence: "bits_per_second: an integer, or null")
                }
                return []
            }
        }
    }

    mutating func addLogLevel(_ output: LogOutput, logger: Logger) {
        add("POST", "/log-level") { request in
            Self.answer { () throws(CommandRefusal) in
                guard case .string(let name) = try Self.members(of: request, "level")["level"],
                    let new = Logger.Level(rawValue: name)
                else {
                    let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CommandRefusal(code: .badValue, sentence: "level: one of \(names)")
                }
                logger.tell(.logLevelSet(level: new.rawValue, by: "an operator"))
                output.level = new
                return [.init("level", .string(name))]
            }
        }
    }

    private static func add(to host: BroadcastHost, _ request: ControlRequest) -> ControlAnswer {
        do throws(CommandRefusal) {
            let addition = try host.destinations.add(request.body)
            return .later(
                milliseconds: DestinationAddition.patience.milliseconds, every: 5,
                poll: {
                    addition.outcome().map { outcome in
                        answer { () throws(CommandRefusal) in [.init("name", .string(try outcome.get()))] }
                    }
                },
                otherwise: { failure(addition.giveUp()) })
        } catch {
            return .response(failure(error))
        }
    }

    /// The query's name, if there is a query. Anything else there might be a name that is misspelt, and not mean all.
    private static func name(in request: ControlRequest) throws(CommandRefusal) -> String? {
        guard request.query != nil else { return nil }
        guard let name = request.parameter("name"), !name.isEmpty else {
            throw CommandRefusal(code: .badValue, sentence: "the query is name=NAME, or there is none")
        }
        return name
    }

    static func nothing(_: Void) -> [JSONValue.Member] { [] }

    /// The body's object, which may have these members only; no body is an empty one.
    static func members(
        of request: ControlRequest, _ known: String...
    ) throws(CommandRefusal) -> [String: JSONValue] {
        guard !request.body.isEmpty else { return [:] }
        guard let json = try? JSONParser.parse(request.body), case .object(let members) = json else {
            throw CommandRefusal(code: .badValue, sentence: "the body is no JSON object")
        }
        guard members.allSatisfy({ known.contains($0.name) }) else {
            let names = known.count == 1 ? "member \(known[0])" : "members \(known.joined(separator: ", "))"
            throw CommandRefusal(code: .badValue, sentence: "the body may have the \(names), and no other")
        }
        return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    static func answer(
        _ command: () throws(CommandRefusal) -> [JSONValue.Member]
    ) -> ControlResponse {
        do {
            return ControlResponse(status: 200, json: .object(try command()))
        } catch {
            let status =
                switch error.code {
                case .badDestination, .badValue: 400
                case .notFound, .snapshotUnavailable: 404
                case .doesNotFit, .hasFailed, .noBroadcast, .turnedOff, .isHeld: 409
                case .forbidden: 403
                case .failed: 500
                }
            return .failure(status, error.code.rawValue, error.sentence)
        }
    }

    static func failure(_ refusal: CommandRefusal) -> ControlResponse {
        answer { () throws(CommandRefusal) in throw refusal }
    }
}
