import Foundation
import TestSupport
import Testing

/// Promise: a manual page names what its program takes, all of it and nothing else, and is without mistakes.
@Suite struct ManPageTests {
    private func page(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/man/\(name)")
            .standardizedFileURL
    }

    /// The long options that a page's lines name: `Fl -json`.
    private func options(of name: String) throws -> Set<String> {
        let text = try String(contentsOf: page(name), encoding: .utf8)
        return Set(text.matches(of: /Fl -([a-z][a-z-]*)/).map { String($0.output.1) })
    }

    /// The commands that a page has paragraphs of: `.It Cm destination add`.
    private func commands(of name: String) throws -> Set<String> {
        let text = try String(contentsOf: page(name), encoding: .utf8)
        let words = text.matches(
            of: /\n\.It Cm ([a-z-]+)((?: (?:Op Cm )?(?:list|add|remove|show|check|up|down|release|on|off))?)/)
        return Set(words.map { "\($0.output.1)\($0.output.2)".replacing(" Op Cm", with: "") })
    }

    private struct Command: Decodable {
        var commandName: String
        var subcommands: [Command]?
        var arguments: [Argument]?
        struct Argument: Decodable {
            var names: [Name]?
            struct Name: Decodable {
                var kind: String
                var name: String
            }
        }

        var longOptions: Set<String> {
            let own = (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
            return (subcommands ?? []).reduce(into: Set(own)) { $0.formUnion($1.longOptions) }
        }

        /// With the words before; a command that has others is none of its own.
        func paths(after words: String = "") -> Set<String> {
            guard let subcommands, !subcommands.isEmpty else { return [words + commandName] }
            return subcommands.reduce(into: []) { all, one in
                // `config` alone is `config show`.
                all.formUnion(one.paths(after: words + commandName + " "))
            }
        }
    }

    private struct Dump: Decodable { var command: Command }

    private func dump(_ program: ProductExecutable) throws -> Command {
        let text = try ChildProcess.run(program.path, ["--experimental-dump-help"])
        return try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command
    }

    @Test func upcastctl() throws {
        let command = try dump(.upcastctl)
        #expect(try options(of: "upcastctl.1") == command.longOptions.union(["check-config"]))
        let paths = Set(command.paths().map { String($0.dropFirst("upcastctl ".count)) })
        #expect(try commands(of: "upcastctl.1") == paths)
    }

    @Test func upcastSend() throws {
        #expect(try options(of: "upcast-send.1") == dump(.upcastSend).longOptions)
    }

    @Test func upcastScreen() throws {
        #expect(try options(of: "upcast-screen.1") == dump(.upcastScreen).longOptions)
    }

    @Test func upcastd() throws {
        let help = try ChildProcess.run(ProductExecutable.upcastd.path, ["--help"])
        let options = Set(help.matches(of: /--([a-z][a-z-]*)/).map { String($0.output.1) })
        #expect(try self.options(of: "upcastd.8") == options)
    }

    /// The formatter has nothing to complain of, and what it makes is not empty.
    @Test(arguments: ["upcastctl.1", "upcast-screen.1", "upcast-send.1", "upcastd.8"])
    func format(name: String) throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { return }
        let groff = try ChildProcess("groff", ["-mandoc", "-ww", "-Tutf8", "-P-cbou", page(name).path])
        #expect(groff.waitForExit(within: 20) == .code(0))
        #expect(groff.errors.isEmpty, "\(groff.errors)")
        #expect(groff.output.contains("EXIT STATUS") && groff.output.contains("SEE ALSO"))
    }
}
