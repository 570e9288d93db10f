import ControlProtocol
import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: docs/openapi.json says what the control server answers, all of it, and nothing else.
@Suite struct OpenAPITests {
    private typealias Operation = OpenAPIDocument.Operation

    /// Sends a request, and says what of the answer is not described.
    private func check(
        _ document: OpenAPIDocument, _ daemon: Daemon, _ method: String, _ target: String, _ body: String = "",
        expecting status: Int
    ) throws {
        let response = try UnixHTTPClient.ask(method, target, body: body, socket: daemon.controlSocket)
        #expect(response.status == status, "\(method) \(target): \(response.status) \(response.body.prefix(300))")
        let problems = document.problems(of: response, to: method, target)
        #expect(problems.isEmpty, "\(problems)")
        if !body.isEmpty, status == 200 {
            let problems = try document.problems(ofBody: body, to: method, String(target.prefix { $0 != "?" }))
            #expect(problems.isEmpty, "\(body): \(problems)")
        }
    }

    /// What the server says of itself: the paths in its 404, and of each the methods in its 405.
    private func routes(of daemon: Daemon) throws -> Set<Operation> {
        let nowhere = try UnixHTTPClient.get("/nowhere", socket: daemon.controlSocket)
        #expect(nowhere.status == 404)
        let paths = nowhere.body.matches(of: /\/[a-z\/.-]*/).map { String($0.output) }
        var routes: Set<Operation> = []
        for path in Set(paths) {
            let refused = try UnixHTTPClient.ask("PATCH", path, socket: daemon.controlSocket)
            #expect(refused.status == 405)
            for method in (refused.headers["allow"] ?? "").split(separator: ", ") where method != "HEAD" {
                routes.insert(Operation(method: String(method), path: path))
            }
        }
        return routes
    }

    @Test(.inItsTurn) func everyRouteIsDescribedAndNoOther() async throws {
        try await blocking {
            let document = try OpenAPIDocument()
            let stage = try Stage()
            let routes = try routes(of: stage.daemon)
            #expect(!routes.isEmpty)
            let described = Set(document.operations.keys)
            #expect(routes.subtracting(described) == [], "the server has these, the document does not")
            #expect(described.subtracting(routes) == [], "the document has these, the server does not")
            let missing = try UnixHTTPClient.get("/nowhere", socket: stage.daemon.controlSocket)
            #expect(document.problems(of: missing, component: "NotFound") == [])
            let refused = try UnixHTTPClient.ask("PATCH", "/status", socket: stage.daemon.controlSocket)
            #expect(document.problems(of: refused, component: "MethodNotAllowed") == [])
            try stage.end()
        }
    }

    @Test(.inItsTurn) func answersOfAnIdleDaemon() async throws {
        try await blocking {
            let document = try OpenAPIDocument()
            let folder = try TemporaryDirectory("openapi")
            var settings = DaemonSettings()
            settings.webhooks = [
                ["url": "http://127.0.0.1:\(try Loopback.freePort())/", "secret_file": folder.file("none")]
            ]
            let stage = try Stage(settings)
            for path in [
                "/", "/status", "/state", "/healthz", "/readyz", "/metrics", "/history", "/config", "/destinations",
            ] {
                try check(document, stage.daemon, "GET", path, expecting: 200)
            }
            try check(document, stage.daemon, "GET", "/snapshot.jpg", expecting: 404)
            for path in ["/stop", "/pause", "/resume", "/keyframe"] {
                try check(document, stage.daemon, "POST", path, expecting: 409)
            }
            for (body, status) in [
                (#"{"bits_per_second":1000000}"#, 200), ("{}", 200), (#"{"bits_per_second":null}"#, 200), ("", 200),
                (#"{"bits_per_second":1}"#, 400), (#"{"bits_per_second":"1M"}"#, 400), ("[", 400),
            ] {
                try check(document, stage.daemon, "POST", "/bitrate", body, expecting: status)
            }
            try check(document, stage.daemon, "POST", "/log-level", #"{"level":"debug"}"#, expecting: 200)
            try check(document, stage.daemon, "POST", "/reload", expecting: 200)
            for body in [#"{"level":"loud"}"#, "{}", "[]"] {
                try check(document, stage.daemon, "POST", "/log-level", body, expecting: 400)
            }
            let file = folder.file("x.flv")
            try check(
                document, stage.daemon, "POST", "/destinations",
                #"{"name":"x","url":"\#(file)","sync":"at-end","rotate_after_ms":60000,"reconnect":true}"#,
                expecting: 200)
            try check(document, stage.daemon, "GET", "/destinations", expecting: 200)
            try check(document, stage.daemon, "GET", "/config", expecting: 200)
            for body in [#"{"name":"x","url":"\#(file)"}"#, #"{"name":"y"}"#, #"{"colour":1}"#, ""] {
                try check(document, stage.daemon, "POST", "/destinations", body, expecting: 400)
            }
            try check(document, stage.daemon, "POST", "/destinations/retry", expecting: 200)
            try check(document, stage.daemon, "POST", "/destinations/retry?name=nobody", expecting: 404)
            try check(document, stage.daemon, "DELETE", "/destinations?name=nobody", expecting: 404)
            try check(document, stage.daemon, "DELETE", "/destinations?name=x", expecting: 200)
            let body = String(repeating: "x", count: 20_000)
            try check(document, stage.daemon, "POST", "/bitrate", body, expecting: 413)
            try check(document, stage.daemon, "GET", "/status?" + body, expecting: 431)
            try stage.end()
        }
    }

    @Test(.inItsTurn) func answersOfALiveBroadcast() async throws {
        try await blocking {
            let document = try OpenAPIDocument()
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            // One that fails and is tried again, so that every field has something to say.
            try check(
                document, stage.daemon, "POST", "/destinations",
                #"{"name":"nobody","url":"rtmp://127.0.0.1:\#(try Loopback.freePort())/live/key"}"#, expecting: 200)
            try waitFor("its first failure") {
                try stage.daemon.statusText().contains("Connection refused; trying again")
            }
            try stage.show(NumberedPictures.landscape(2), orientation: .up, in: playback)
            for path in [
                "/status", "/state", "/healthz", "/readyz", "/metrics", "/config", "/destinations", "/snapshot.jpg",
            ] { try check(document, stage.daemon, "GET", path, expecting: 200) }
            try waitFor("a row of the history") {
                let response = try UnixHTTPClient.get("/history", socket: stage.daemon.controlSocket)
                return !response.body.contains(#""rows":[]"#)
            }
            try check(document, stage.daemon, "GET", "/history", expecting: 200)
            try check(document, stage.daemon, "POST", "/destinations/retry?name=nobody", expecting: 200)
            for path in ["/pause", "/resume", "/keyframe"] {
                try check(document, stage.daemon, "POST", path, expecting: 200)
            }
            try checkEvents(document, stage.daemon)
            try checkStateEvents(document, stage.daemon)
            try check(document, stage.daemon, "POST", "/stop", expecting: 200)
            try waitFor("the broadcast to be over") { try stage.daemon.status()["state"] as? String == "idle" }
            try check(document, stage.daemon, "GET", "/status", expecting: 200)
            try check(document, stage.daemon, "POST", "/stop", expecting: 409)
            try stage.end()
        }
    }

    private func checkEvents(_ document: OpenAPIDocument, _ daemon: Daemon) throws {
        let response = try UnixHTTPClient.stream("/events?status=250", socket: daemon.controlSocket) {
            $0.contains("event: status\n") && $0.contains("event: paused_by_an_operator\n")
                && $0.components(separatedBy: "event: status\ndata: ").count > 2
        }
        #expect(document.problems(of: response, to: "GET", "/events?status=250") == [])
        var kinds: Set<String> = []
        for event in response.body.components(separatedBy: "\n\n").dropLast() {
            let lines = event.split(whereSeparator: \.isNewline)
            guard let data = lines.first(where: { $0.hasPrefix("data: ") })?.dropFirst(6),
                let json = try? JSONParser.parse(Array(data.utf8))
            else { continue }
            let isStatus = lines.contains("event: status")
            let schema = "#/components/schemas/\(isStatus ? "Status" : "Event")"
            let problems = document.schema.problems(of: json, .object([.init("$ref", .string(schema))]))
            #expect(problems.isEmpty, "\(problems)")
            #expect(isStatus || lines.contains { $0.wholeMatch(of: /id: [0-9]+/) != nil })
            kinds.insert(isStatus ? "status" : "event")
        }
        #expect(kinds == ["status", "event"], "\(response.body.prefix(500))")
    }

    private func checkStateEvents(_ document: OpenAPIDocument, _ daemon: Daemon) throws {
        for path in ["/state/events", "/state/events?app=kiosk&consult=true"] {
            let response = try UnixHTTPClient.stream(path, socket: daemon.controlSocket) {
                $0.contains(": alive\n")
            }
            #expect(document.problems(of: response, to: "GET", path) == [])
            let lines = response.body.split(whereSeparator: \.isNewline)
            let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
            let problems = document.schema.problems(
                of: try JSONParser.parse(Array(data.utf8)),
                .object([.init("$ref", .string("#/components/schemas/CaptureState"))]))
            #expect(problems.isEmpty && lines.contains("id: 1") && lines.contains("event: state"), "\(problems)")
        }
    }

    /// Over TCP, what the document calls open is open, and nothing else.
    @Test(.inItsTurn) func whatNeedsTheToken() async throws {
        try await blocking {
            let document = try OpenAPIDocument()
            let folder = try TemporaryDirectory("openapi")
            let port = try Loopback.freePort()
            var settings = DaemonSettings()
            settings.control = [
                "listen": "\"127.0.0.1:\(port)\"",
                "token_file": try folder.write("0123456789abcdef0123\n", to: "token"),
            ]
            settings.destinations = [("file", ["url": folder.file("a.flv")])]
            let daemon = try Daemon(settings)
            for (operation, description) in document.operations {
                let isOpen = description["security"] == .array([])
                let response = try UnixHTTPClient.ask(operation.method, operation.path, port: port)
                #expect((response.status != 401) == isOpen, "\(operation): \(response.status)")
                let problems = document.problems(of: response, to: operation.method, operation.path)
                #expect(problems.isEmpty, "\(problems)")
                guard !["/events", "/state/events"].contains(operation.path) else { continue }
                let admitted = try UnixHTTPClient.ask(
                    operation.method, operation.path, port: port,
                    headers: ["Authorization": "Bearer 0123456789abcdef0123"])
                #expect(admitted.status != 401, "\(operation)")
            }
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        }
    }

    /// Every reference leads somewhere, nothing lies about unused, and no two operations have one name.
    @Test func theDocumentHoldsTogether() throws {
        let document = try OpenAPIDocument()
        for reference in document.references {
            #expect(document.schema.resolve(reference) != nil, "\(reference)")
        }
        // What no JSON answer of an operation has: the data of an event, and the answer to a method that is none.
        let spoken: Set = ["Event", "MethodNotAllowed"]
        for kind in ["schemas", "responses"] {
            for member in OpenAPIDocument.members(document.json["components"]?[kind])
            where !spoken.contains(member.name) {
                #expect(document.references.contains("#/components/\(kind)/\(member.name)"), "\(member.name)")
            }
        }
        let names = document.operations.values.compactMap { $0["operationId"] }
        #expect(names.count == document.operations.count)
        #expect(Set(names.map { "\($0)" }).count == names.count)
    }

    /// The validator refuses what it should, or the tests above would prove nothing.
    @Test(arguments: [
        (#"{"type":"integer"}"#, "1", true), (#"{"type":"integer"}"#, "1.5", false),
        (#"{"type":"integer"}"#, "\"1\"", false),
        (#"{"type":["string","null"]}"#, "null", true), (#"{"type":["string","null"]}"#, "1", false),
        (#"{"enum":["a","b"]}"#, "\"b\"", true), (#"{"enum":["a","b"]}"#, "\"c\"", false),
        (#"{"type":"object","required":["a"]}"#, "{}", false),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"a":1}"#, false),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"a":"","b":1}"#, false),
        (#"{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}}"#, #"{"b":1}"#, true),
        (#"{"additionalProperties":{"type":"integer"}}"#, #"{"b":"x"}"#, false),
        (#"{"items":{"minimum":1}}"#, "[1,0]", false), (#"{"items":{"maximum":1}}"#, "[1,2]", false),
        (#"{"oneOf":[{"type":"null"},{"type":"object"}]}"#, "{}", true),
        (#"{"oneOf":[{"type":"null"},{"type":"object"}]}"#, "1", false),
        (#"{"pattern":"^a+$"}"#, "\"ab\"", false), (#"{"pattern":"^a+$"}"#, "\"aa\"", true),
        (#"{"maxProperties":0}"#, #"{"a":1}"#, false), (#"{"maxItems":1}"#, "[1,2]", false),
        (#"{"multipleOf":2}"#, "3", false), (##"{"$ref":"#/nowhere"}"##, "1", false), (#"{"mininum":3}"#, "4", false),
    ])
    func theValidatorItself(schema: String, value: String, isRight: Bool) throws {
        let (schema, value) = (try JSONParser.parse(Array(schema.utf8)), try JSONParser.parse(Array(value.utf8)))
        #expect(JSONSchema(document: schema).problems(of: value, schema).isEmpty == isRight)
    }
}
