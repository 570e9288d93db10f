import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// The program of the library's article is the file that is compiled, and does what the article says.
@Suite struct ArticleTests {
    private func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func theProgramIsTheOneThatIsCompiled() throws {
        let article = try text("Sources/UpcastPrivacy/Documentation.docc/KeepingAPasswordFromViewers.md")
        let program = try text("Tests/examples/example-captured-app/ExampleCapturedApp.swift")
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count == 1 && program.count > 1000)
        #expect(blocks.first?.components(separatedBy: "```\n").first == program)
    }

    private static func state(_ isCaptured: Bool) -> String {
        #"{"captured":\#(isCaptured),"kind":"screen","client":"phone","since":1795339486000,"for_ms":0,"#
            + #""capture":7,"waiting_for":[\#(isCaptured ? #""app:example""# : "")]}"#
    }

    /// What the program asks for comes from two threads: the order of hiding and releasing is the promise.
    @Test func theProgramRuns() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("privacy")
            let daemon = try FakeDaemon(folder.socket)
            let program = try ChildProcess(try ProductExecutable.exampleCapturedApp.path, [folder.socket])
            var requests: [String] = []
            var events: FakeConnection?
            while requests.last?.hasPrefix("DELETE /regions") != true {
                let connection = try daemon.accept()
                requests.append(connection.request.components(separatedBy: " HTTP/1.1")[0])
                switch requests.last {
                case "GET /state/events?app=example&consult=release":
                    connection.send(FakeConnection.streamHead)
                    connection.tell(1, Self.state(true))
                    events = connection
                case "POST /curtain/up":
                    connection.send(
                        answer(
                            200,
                            #"{"up":true,"taken_back_video_packets":0,"taken_back_audio_packets":0,"#
                                + #""last_pts_ms":{"main":1250}}"#))
                case "POST /curtain/down": connection.send(answer(200, #"{"up":false}"#))
                default: connection.send(answer(200, "{}"))
                }
                if requests.count == 5 { events?.tell(2, Self.state(false)) }
            }
            #expect(program.waitForExit(within: 30) == .code(0), "\(program.errors)")
            #expect(
                Set(requests.dropLast()) == [
                    "GET /state/events?app=example&consult=release", "POST /regions", "POST /state/release",
                    "POST /curtain/up", "POST /curtain/down",
                ])
            let hiding = try #require(requests.firstIndex(of: "POST /regions"))
            #expect(try #require(requests.firstIndex(of: "POST /state/release")) > hiding)
            // The program may ask for the states before or after the daemon's first word.
            #expect(
                program.output.replacing("unknown: to be treated as captured\n", with: "") == """
                    screen, captured by phone since 2026-11-22T09:24:46.000Z
                    main has what was shown up to 1.25 seconds
                    viewers see the screen again
                    not captured

                    """)
        }
    }
}
