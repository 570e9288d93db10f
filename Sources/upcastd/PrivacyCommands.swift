internal import Control
internal import ControlProtocol
internal import MediaCore
internal import Pipeline
internal import Privacy

/// The control server's routes that keep something from viewers.
extension ControlRoutes {
    mutating func addPrivacy(of host: BroadcastHost) {
        add("POST", "/curtain/up") { request in
            Self.answer { () throws(CommandRefusal) in
                let members = try Self.members(of: request, "app", "reason")
                let holder = try Self.holder(members["app"])
                let raised = host.raiseCurtain(holder, reason: try Self.reason(members["reason"]))
                return [
                    .init("up", .bool(true)),
                    .init("taken_back_video_packets", .integer(raised.videoPackets)),
                    .init("taken_back_audio_packets", .integer(raised.audioPackets)),
                    .init(
                        "last_pts_ms",
                        .object(
                            raised.lastPTS.map { name, time in .init(name, time.map { .integer($0) } ?? .null) })),
                ]
            }
        }
        add("POST", "/curtain/down") { request in
            Self.answer { () throws(CommandRefusal) in
                let members = try Self.members(of: request, "app", "force")
                switch members["force"] {
                case nil, .bool(false): host.lowerCurtain(try Self.holder(members["app"]))
                case .bool(true): host.forceCurtainDown()
                default: throw CommandRefusal(code: .badValue, sentence: "force: true or false")
                }
                return [.init("up", .bool(host.isCurtainUp))]
            }
        }
    }

    mutating func addRegions(of host: BroadcastHost) {
        add("POST", "/regions") { request in
            Self.answer { () throws(CommandRefusal) in
                let members = try Self.members(of: request, "app", "name", "x", "y", "width", "height", "unit")
                try host.hideRegion(try Self.region(members))
                return []
            }
        }
        add("DELETE", "/regions") { request in
            Self.answer { () throws(CommandRefusal) in
                let holder = try Self.holder(request.parameter("app").map { .string($0) })
                try host.showRegions(of: holder, request.parameter("name"))
                return []
            }
        }
    }

    private static func region(_ members: [String: JSONValue]) throws(CommandRefusal) -> StandingRegion {
        guard case .string(let name)? = members["name"], PrivacyHolder.isName(name) else {
            throw CommandRefusal(
                code: .badValue, sentence: "name: of 1 to 64 letters, digits, points, dashes or slashes")
        }
        let unit: StandingRegion.Unit
        switch members["unit"] {
        case nil, .string("normalized"): unit = .normalized
        case .string("pixels"): unit = .pixels
        default: throw CommandRefusal(code: .badValue, sentence: "unit: normalized or pixels")
        }
        let limit = unit == .normalized ? 100.0 : 65_536.0
        func number(_ name: String, atLeast least: Double) throws(CommandRefusal) -> Double {
            let value: Double? =
                switch members[name] {
                case .integer(let value): Double(value)
                case .number(let value): value
                default: nil
                }
            guard let value, value >= least, value <= limit else {
                throw CommandRefusal(
                    code: .badValue, sentence: "\(name): a number from \(Int(least)) to \(Int(limit))")
            }
            return value
        }
        let (x, y) = (try number("x", atLeast: -limit), try number("y", atLeast: -limit))
        let (width, height) = (try number("width", atLeast: 0), try number("height", atLeast: 0))
        return StandingRegion(
            holder: try holder(members["app"]), name: name,
            edges: RectEdges(left: x, top: y, right: x + width, bottom: y + height), unit: unit)
    }

    /// The app of that name; without one, the operator.
    private static func holder(_ value: JSONValue?) throws(CommandRefusal) -> PrivacyHolder {
        guard let value else { return PrivacyHolder(.operator) }
        guard case .string(let name) = value, PrivacyHolder.isName(name) else {
            throw CommandRefusal(
                code: .badValue, sentence: "app: its name, of 1 to 64 letters, digits, points, dashes or slashes")
        }
        return PrivacyHolder(.app, name)
    }

    private static func reason(_ value: JSONValue?) throws(CommandRefusal) -> String {
        switch value {
        case nil: return ""
        case .string(let text) where text.utf8.count <= 200: return text
        default: throw CommandRefusal(code: .badValue, sentence: "reason: a text of at most 200 bytes")
        }
    }
}
