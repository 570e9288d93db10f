internal import Control
internal import ControlProtocol
internal import Logging
internal import MediaCore
internal import Pipeline

/// The routes for commands.
extension ControlRoutes {
    mutating func addCommands(to host: BroadcastHost) {
        add("POST", "/destinations", answering: { Self.add(to: host, $0) })
        add("DELETE", "/destinations") { request in
            Self.answer { () throws(CommandRefusal) in
                guard let name = try Self.name(in: request) else {
                    throw CommandRefusal(code: .badValue, sentence: "the query must be name=NAME")
                }
                try host.destinations.remove(name)
                return DoneAnswer()
            }
        }
        add("POST", "/destinations/retry") { request in
            Self.answer { () throws(CommandRefusal) in
                try host.destinations.retry(try Self.name(in: request))
                return DoneAnswer()
            }
        }
    }

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
                try host.operating.setBitrateCeiling(try Self.body(of: request, as: BitrateRequest.self).bitsPerSecond)
                return DoneAnswer()
            }
        }
    }

    mutating func addLogLevel(_ output: LogOutput, logger: Logger) {
        add("POST", "/log-level") { request in
            Self.answer { () throws(CommandRefusal) in
                let wanted = try Self.body(of: request, as: LogLevelRequest.self).level
                guard let name = wanted, let new = Logger.Level(rawValue: name) else {
                    let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CommandRefusal(code: .badValue, sentence: "level must be one of \(names)")
                }
                logger.tell(.logLevelSet(level: new.rawValue, by: "an operator"))
                output.level = new
                var answer = LogLevelAnswer()
                answer.level = name
                return answer
            }
        }
    }

    /// A disk takes longer only if it hangs.
    private static let reloadPatience: Int64 = 10_000

    mutating func addReload(_ desk: ReloadDesk) {
        add(
            "POST", "/reload",
            answering: { _ in
                let number = desk.ask()
                return .later(
                    milliseconds: Self.reloadPatience,
                    poll: {
                        desk.outcome(of: number).map { outcome in
                            Self.answer { () throws(CommandRefusal) in try outcome.get() }
                        }
                    },
                    otherwise: {
                        Self.failure(
                            CommandRefusal(
                                code: .failed,
                                sentence: "the reload has not ended within \(Self.reloadPatience / 1000) s: a disk "
                                    + "hangs, or the daemon is stopping; the log will have its outcome"))
                    })
            })
    }

    private static func add(to host: BroadcastHost, _ request: ControlRequest) -> ControlAnswer {
        do throws(CommandRefusal) {
            let addition = try host.destinations.add(request.body)
            return .later(
                milliseconds: DestinationAddition.patience.milliseconds, every: 5,
                poll: {
                    addition.outcome().map { outcome in
                        answer { () throws(CommandRefusal) in
                            var added = DestinationAddedAnswer()
                            added.name = try outcome.get()
                            return added
                        }
                    }
                },
                otherwise: { failure(addition.giveUp()) })
        } catch {
            return .response(failure(error))
        }
    }

    /// Returns the name in the query; nil without a query. Any other query is an error, because it may be a misspelt
    /// name.
    private static func name(in request: ControlRequest) throws(CommandRefusal) -> String? {
        guard request.query != nil else { return nil }
        guard let name = request.parameter("name"), !name.isEmpty else {
            throw CommandRefusal(code: .badValue, sentence: "the query must be name=NAME or empty")
        }
        return name
    }

    static func nothing(_: Void) -> DoneAnswer { DoneAnswer() }

    /// Parses the body as an object with only the members of `Body`. An empty body is an empty object.
    static func body<Body: JSONRecord>(of request: ControlRequest, as _: Body.Type) throws(CommandRefusal) -> Body {
        var members: [JSONValue.Member] = []
        if !request.body.isEmpty {
            guard let json = try? JSONParser.parse(request.body), case .object(let given) = json else {
                throw CommandRefusal(code: .badValue, sentence: "the body is no JSON object")
            }
            members = given
        }
        var findings = JSONFindings()
        // If a name occurs twice, the last one counts.
        let body = Body(json: .object(members.reversed()), &findings)
        guard findings.unknown.isEmpty else {
            let known = findings.known
            let names = known.count == 1 ? "member \(known[0])" : "members \(known.joined(separator: ", "))"
            throw CommandRefusal(code: .badValue, sentence: "the body can have only the \(names)")
        }
        if let wrong = (findings.missing + findings.mistyped).first {
            throw CommandRefusal(code: .badValue, sentence: "\(wrong.name): \(wrong.expected)")
        }
        return body
    }

    static func answer(_ command: () throws(CommandRefusal) -> some JSONRecord) -> ControlResponse {
        do {
            return ControlResponse(status: 200, json: try command().json)
        } catch {
            let status =
                switch error.code {
                case .badDestination, .badValue: 400
                case .notFound, .snapshotUnavailable: 404
                case .doesNotFit, .hasFailed, .noBroadcast, .turnedOff, .isInUse, .notReloaded: 409
                case .forbidden: 403
                case .failed: 500
                }
            return .failure(status, error.code.rawValue, error.sentence)
        }
    }

    static func failure(_ refusal: CommandRefusal) -> ControlResponse {
        answer { () throws(CommandRefusal) -> DoneAnswer in throw refusal }
    }
}
