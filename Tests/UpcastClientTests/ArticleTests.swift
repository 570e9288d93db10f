import Foundation
import IngestProtocol
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
        let article = try text("Sources/UpcastClient/Documentation.docc/SendingABroadcast.md")
        let program = try text("Tests/examples/example-capture-client/ExampleCaptureClient.swift")
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count == 1 && program.count > 1000)
        #expect(blocks.first?.components(separatedBy: "```\n").first == program)
    }

    @Test func theProgramRuns() async throws {
        try await blocking {
            let pictures = Monitor<[VideoMessage]>([])
            let daemon = try TestDaemon { peer in
                try peer.welcome()
                peer.send {
                    StateMessage(.curtainUp, value: 16, text: "no picture yet").encode(sequence: $0, into: &$1)
                }
                peer.send { StateMessage(.live, text: "live at main").encode(sequence: $0, into: &$1) }
                peer.send { StateMessage(.reconnecting, value: 1500, text: "").encode(sequence: $0, into: &$1) }
                while true {
                    let message = try peer.read()
                    if message.header.type == .finished { break }
                    let video = try VideoMessage.decode(
                        body: message.body.span.bytes, payloadBytes: message.payload.count, limits: .default)
                    pictures.withLock { $0.append(video) }
                }
                peer.goodbye(taken: 60)
            }
            let program = try ChildProcess(try ProductExecutable.exampleCaptureClient.path, [daemon.path])
            #expect(program.waitForExit(within: 30) == .code(0), "\(program.errors)")
            #expect(
                program.output == """
                    broadcast test, canvas 1280x720
                    live at main
                    again in 1.5 seconds
                    goodbye: finished
                    60 frames taken

                    """)
            let sent = pictures.withLock { $0 }
            #expect(sent.map(\.pts.nanoseconds) == (0..<60).map { $0 * 1_000_000_000 / 30 })
            daemon.join()
        }
    }
}
