internal import ControlProtocol
internal import MediaCore

/// The state file's contents: one JSON object.
///
/// Reading is strict, unlike that of `JSONRecord`, because an unknown member may be one that hides something.
extension PrivacyRecord {
    static let version = 1

    /// Why a text is not a record, as the end of a sentence.
    struct Malformed: Error, Equatable {
        let what: String
        init(_ what: String) { self.what = what }
    }

    var serialized: [UInt8] {
        let switches = Protection.allCases.compactMap { protection in
            self.switches[protection].map {
                JSONValue.object([.init("name", .string(protection.rawValue)), .init("on", .bool($0))])
            }
        }
        return JSONValue.object([
            .init("version", .integer(Self.version)),
            .init("holds", .array(holds.map(\.json))),
            .init("regions", .array(regions.map(\.json))),
            .init("switches", .array(switches)),
            .init("consulting", .array(consulting.map { .object($0.members) })),
        ]).serialized(pretty: true) + [UInt8(ascii: "\n")]
    }

    init(parsing bytes: [UInt8]) throws(Malformed) {
        self.init()
        let json: JSONValue
        do { json = try JSONParser.parse(bytes) } catch { throw Malformed("it is not JSON: \(error)") }
        guard case .integer(let version)? = json["version"] else { throw Malformed("it names no version") }
        guard version == Self.version else {
            throw Malformed("it has version \(version), and this daemon reads version \(Self.version)")
        }
        let members = try RecordMembers(json, "the record", ["version", "holds", "regions", "switches", "consulting"])
        for item in try members.array("holds") {
            let hold = try Hold(item)
            guard !holds.contains(where: { $0.holder == hold.holder }) else {
                throw Malformed("it has two holds of \(hold.holder)")
            }
            holds.append(hold)
        }
        for item in try members.array("regions") {
            let region = try StandingRegion(item)
            guard !regions.contains(where: { $0.holder == region.holder && $0.name == region.name }) else {
                throw Malformed("it has two regions \(region.name) of \(region.holder)")
            }
            regions.append(region)
        }
        for item in try members.array("switches") {
            let members = try RecordMembers(item, "a switch", ["name", "on"])
            guard let protection = Protection(rawValue: try members.text("name")) else {
                throw Malformed("it names a switch that this daemon does not have")
            }
            guard switches[protection] == nil else { throw Malformed("it has two switches \(protection.rawValue)") }
            switches[protection] = try members.flag("on")
        }
        // Files of earlier versions do not have this member.
        for item in json["consulting"] == nil ? [] : try members.array("consulting") {
            let app = try PrivacyHolder(RecordMembers(item, "a consulted app", ["holder", "name", "user"]))
            guard app.kind == .app else { throw Malformed("\(app) is no app") }
            guard !consulting.contains(app) else { throw Malformed("it has two consulted apps \(app)") }
            consulting.append(app)
        }
        guard isWithinBounds else { throw Malformed("it has more holds, regions or apps than there may be") }
    }
}

extension PrivacyRecord.Hold {
    fileprivate var json: JSONValue {
        .object(holder.members + [.init("reason", .string(reason)), .init("since_ms", .integer(since))])
    }

    fileprivate init(_ json: JSONValue) throws(PrivacyRecord.Malformed) {
        let members = try RecordMembers(json, "a hold", ["holder", "name", "user", "reason", "since_ms"])
        self.init(
            holder: try PrivacyHolder(members), reason: try members.text("reason"),
            since: try members.integer("since_ms"))
        guard holder.outlivesTheDaemon else { throw .init("\(holder) does not outlive a daemon") }
        guard reason.utf8.count <= PrivacyRecord.maxReasonBytes else { throw .init("a hold's reason is too long") }
    }
}

extension StandingRegion {
    fileprivate var json: JSONValue {
        .object(
            holder.members + [
                .init("region", .string(name)), .init("unit", .string(unit.rawValue)),
                .init("left", .number(edges.left)), .init("top", .number(edges.top)),
                .init("right", .number(edges.right)), .init("bottom", .number(edges.bottom)),
            ])
    }

    fileprivate init(_ json: JSONValue) throws(PrivacyRecord.Malformed) {
        let members = try RecordMembers(
            json, "a region", ["holder", "name", "user", "region", "unit", "left", "top", "right", "bottom"])
        guard let unit = Unit(rawValue: try members.text("unit")) else { throw .init("a region has an unknown unit") }
        self.init(
            holder: try PrivacyHolder(members), name: try members.text("region"),
            edges: RectEdges(
                left: try members.number("left"), top: try members.number("top"), right: try members.number("right"),
                bottom: try members.number("bottom")),
            unit: unit)
        guard PrivacyHolder.isName(name), holder.kind == .app || holder.kind == .operator else {
            throw .init("a region's name or holder cannot be")
        }
        guard isWithinLimits else { throw .init("the region \(name) of \(holder) reaches too far") }
        if let why = whyItHidesNothing { throw .init("the region \(name) of \(holder) hides nothing (\(why))") }
    }
}

extension PrivacyHolder {
    fileprivate var members: [JSONValue.Member] {
        [
            .init("holder", .string(kind.rawValue)), .init("name", .string(name)),
            .init("user", user.map { .integer(Int($0)) } ?? .null),
        ]
    }

    fileprivate init(_ members: RecordMembers) throws(PrivacyRecord.Malformed) {
        guard let kind = Kind(rawValue: try members.text("holder")) else { throw .init("a holder's kind is unknown") }
        let name = try members.text("name")
        guard kind == .operator ? name.isEmpty : Self.isName(name) else { throw .init("a holder's name cannot be") }
        self.init(kind, name, user: try members.user("user"))
        guard kind == .app || user == nil else { throw .init("\(self) has a user, which only an app has") }
    }
}

/// The members of an object, with checked types.
private struct RecordMembers {
    private let json: JSONValue
    private let what: String

    init(_ json: JSONValue, _ what: String, _ known: Set<String>) throws(PrivacyRecord.Malformed) {
        guard case .object(let members) = json else { throw .init("\(what) is no object") }
        guard members.allSatisfy({ known.contains($0.name) }) else {
            throw .init("\(what) has a member that this daemon does not know")
        }
        guard Set(members.map(\.name)).count == members.count else { throw .init("\(what) has a member twice") }
        (self.json, self.what) = (json, what)
    }

    private func missing(_ name: String) -> PrivacyRecord.Malformed {
        .init("\(what) lacks \(name), or has another type of it")
    }

    func text(_ name: String) throws(PrivacyRecord.Malformed) -> String {
        guard case .string(let value)? = json[name] else { throw missing(name) }
        return value
    }

    func flag(_ name: String) throws(PrivacyRecord.Malformed) -> Bool {
        guard case .bool(let value)? = json[name] else { throw missing(name) }
        return value
    }

    func integer(_ name: String) throws(PrivacyRecord.Malformed) -> Int {
        guard case .integer(let value)? = json[name] else { throw missing(name) }
        return value
    }

    func number(_ name: String) throws(PrivacyRecord.Malformed) -> Double {
        switch json[name] {
        case .integer(let value): return Double(value)
        case .number(let value) where value.isFinite: return value
        default: throw missing(name)
        }
    }

    func array(_ name: String) throws(PrivacyRecord.Malformed) -> [JSONValue] {
        guard case .array(let value)? = json[name] else { throw missing(name) }
        return value
    }

    func user(_ name: String) throws(PrivacyRecord.Malformed) -> UInt32? {
        switch json[name] {
        case .null: return nil
        case .integer(let value):
            guard let user = UInt32(exactly: value) else { throw missing(name) }
            return user
        default: throw missing(name)
        }
    }
}
