import ControlProtocol
import Foundation
import Testing

/// Promise: bodies and answers have the names that docs/openapi.json has, at both ends, and what is wrong in them is
/// found.
@Suite struct CommandRecordTests {
    private static func schemas() throws -> JSONValue {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.json")
        let document = try JSONParser.parse(Array(Data(contentsOf: file)))
        return try #require(document["components"]?["schemas"])
    }

    private static func names(_ json: JSONValue?) -> Set<String> {
        switch json {
        case .object(let members): Set(members.map(\.name))
        case .array(let items): Set(items.map(\.description))
        default: []
        }
    }

    private func check<Record: JSONRecord>(_ type: Record.Type, _ schema: String, isAnswer: Bool) throws {
        let described = try #require(try Self.schemas()[schema], "\(schema) is not described")
        var findings = JSONFindings()
        let empty = Record(json: .object([]), &findings)
        #expect(Set(findings.known) == Self.names(described["properties"]), "\(schema)")
        let required = Self.names(described["required"])
        if isAnswer {
            #expect(Set(empty.members.map(\.name)) == required, "\(schema)")
            #expect(Set(findings.known) == required, "\(schema)")
        } else {
            #expect(required.isSuperset(of: findings.missing.map(\.name)), "\(schema)")
            #expect(described["additionalProperties"] == .bool(false), "\(schema)")
        }
        #expect(Record(json: empty.json) == empty)
    }

    @Test func requestsAreAsDescribed() throws {
        try check(CurtainUpRequest.self, "CurtainUp", isAnswer: false)
        try check(CurtainDownRequest.self, "CurtainDown", isAnswer: false)
        try check(RegionRequest.self, "NewRegion", isAnswer: false)
        try check(ProtectionRequest.self, "ProtectionChoice", isAnswer: false)
        try check(ReleaseRequest.self, "CaptureRelease", isAnswer: false)
        try check(BitrateRequest.self, "BitrateCeiling", isAnswer: false)
        try check(LogLevelRequest.self, "LogLevelChoice", isAnswer: false)
    }

    @Test func answersAreAsDescribed() throws {
        try check(DoneAnswer.self, "Nothing", isAnswer: true)
        try check(RegionAnswer.self, "Kept", isAnswer: true)
        try check(CurtainUpAnswer.self, "CurtainRaised", isAnswer: true)
        try check(CurtainDownAnswer.self, "CurtainLowered", isAnswer: true)
        try check(ProtectionAnswer.self, "ProtectionChosen", isAnswer: true)
        try check(ReleaseAnswer.self, "CaptureReleased", isAnswer: true)
        try check(ReloadAnswer.self, "Reloaded", isAnswer: true)
        try check(DestinationAddedAnswer.self, "Name", isAnswer: true)
        try check(DestinationsAnswer.self, "Destinations", isAnswer: true)
        try check(LogLevelAnswer.self, "LogLevelChoice", isAnswer: true)
    }

    @Test func refusalsAreAsDescribed() throws {
        let error = try Self.schemas()["Error"]?["properties"]?["error"]
        let described = Self.names(error?["properties"]?["code"]?["enum"])
        for code in CommandRefusal.Code.allCases {
            #expect(described.contains(JSONValue.string(code.rawValue).description), "\(code.rawValue)")
        }
    }

    private func findings<Record: JSONRecord>(_ text: String, _ type: Record.Type) throws -> JSONFindings {
        var findings = JSONFindings()
        _ = Record(json: try JSONParser.parse(Array(text.utf8)), &findings)
        return findings
    }

    /// A request of an app's must never count as one of the operator's.
    @Test(arguments: [#"{"app":null}"#, #"{"app":1}"#, #"{"app":{}}"#, #"{"app":["kiosk"]}"#])
    func anAppThatCannotBeReadIsNoOperator(text: String) throws {
        #expect(try findings(text, CurtainUpRequest.self).mistyped.map(\.name) == ["app"])
        #expect(try findings(text, CurtainDownRequest.self).mistyped.map(\.name) == ["app"])
        #expect(try findings(text, RegionRequest.self).mistyped.map(\.name) == ["app"])
        #expect(try findings(text, ReleaseRequest.self).mistyped.map(\.name) == ["app"])
    }

    @Test func whatIsWrongIsFound() throws {
        let region = try findings(#"{"x":1,"y":"2","unit":"feet","height":3.5,"colour":"red"}"#, RegionRequest.self)
        #expect(region.unknown == ["colour"])
        #expect(region.missing.map(\.name) == ["width"])
        #expect(region.mistyped.map { "\($0.name): \($0.expected)" } == ["y: a number", "unit: normalized or pixels"])
        #expect(!region.isComplete && region.has("x") && !region.has("y") && !region.has("width"))
        let force = try findings(#"{"force":1,"user":1.5}"#, CurtainDownRequest.self)
        #expect(force.mistyped.map { "\($0.name): \($0.expected)" } == ["user: an integer", "force: true or false"])
        let bitrate = try findings(#"{"bits_per_second":"1"}"#, BitrateRequest.self)
        #expect(bitrate.mistyped.map(\.expected) == ["an integer, or null"])
        #expect(try findings(#"{"bits_per_second":null}"#, BitrateRequest.self).isComplete)
        #expect(try findings("{}", BitrateRequest.self).isComplete)
        let raised = #"{"up":true,"taken_back_video_packets":1,"taken_back_audio_packets":2,"last_pts_ms":"#
        #expect(try findings(raised + #"{"a":1,"b":null},"kept_until_ms":null}"#, CurtainUpAnswer.self).isComplete)
        #expect(try !findings(raised + #"{"a":"1"}}"#, CurtainUpAnswer.self).isComplete)
        #expect(try !findings(raised + "7}", CurtainUpAnswer.self).isComplete)
    }

    @Test func whatIsNotSaidIsLeftOut() {
        #expect(CurtainUpRequest().json == .object([]) && ReleaseRequest().json == .object([]))
        #expect(BitrateRequest().json == .object([.init("bits_per_second", .null)]))
        var request = CurtainDownRequest()
        (request.app, request.user, request.force) = ("kiosk", 1000, true)
        #expect(
            request.json
                == .object([
                    .init("app", .string("kiosk")), .init("user", .integer(1000)), .init("force", .bool(true)),
                ]))
        #expect(CurtainDownRequest(json: request.json) == request)
    }

    @Test func theAnswerOfARaisedCurtain() throws {
        var answer = CurtainUpAnswer()
        (answer.isUp, answer.report.videoPackets, answer.report.audioPackets) = (true, 7, 9)
        answer.report.lastPTS = [DestinationTime("main", 1234), DestinationTime("file", nil)]
        let text = """
            {"up":true,"taken_back_video_packets":7,"taken_back_audio_packets":9,\
            "last_pts_ms":{"main":1234,"file":null},"kept_until_ms":null,"persisted":null}
            """
        #expect(String(decoding: answer.json.serialized(), as: UTF8.self) == text)
        #expect(CurtainUpAnswer(json: answer.json) == answer)
    }
}
