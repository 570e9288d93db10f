import TestSupport
import Testing

/// Promise: what an operator meets before the first broadcast explains itself.
@Suite struct CommandLineTests {
    /// An environment file that empties `UPCAST_CONFIG` means no file (once: ":1:1: cannot be opened"), and a plan that
    /// is asked for before there is a destination counts one.
    @Test(.inItsTurn) func planWithoutAnything() async throws {
        try await blocking {
            let planning = try ChildProcess(
                ProductExecutable.upcastd.path, ["--plan"], environment: ["UPCAST_CONFIG": ""])
            #expect(planning.waitForExit(within: 20) == .code(0), "\(planning.errorTail)")
            let line = planning.output.split(separator: "\n").first { $0.hasPrefix("send buffers") } ?? ""
            #expect(line.hasSuffix("1 destination, assumed; none is configured"), "\(planning.output)")
            #expect(!line.contains(" 0.00 MiB"), "\(line)")
        }
    }

    /// An answer that cannot be written is an error.
    @Test(.inItsTurn, arguments: [">/dev/full", ">&-"]) func anOutputThatCannotBeWritten(output: String) async throws {
        try await blocking {
            let reason = output == ">&-" ? "Bad file descriptor" : "No space left on device"
            for (path, option, status) in [
                (try ProductExecutable.upcastd.path, "--plan", 69),
                (try ProductExecutable.upcastctl.path, "--help", 1),
            ] {
                let program = try ChildProcess("sh", ["-c", "exec \"$0\" \"$1\" \(output)", path, option])
                #expect(program.waitForExit(within: 20) == .code(status), "\(option)")
                #expect(program.errors.hasSuffix(": cannot write to standard output: \(reason)\n"), "\(program.errors)")
            }
        }
    }

    /// Nobody but root can create the default folder of the sockets: the error says how it comes to be.
    @Test(.inItsTurn) func missingSocketFolder() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("missing")
            let daemon = try ChildProcess(
                ProductExecutable.upcastd.path, [],
                environment: [
                    "UPCAST_DESTINATIONS_0_URL": folder.file("out.flv"),
                    "UPCAST_INGEST_SOCKET": "/run/upcast-of-nobody/capture.sock",
                    "UPCAST_CONTROL_SOCKET": folder.file("control.sock"),
                ])
            #expect(daemon.waitForExit(within: 20) == .code(69), "\(daemon.errorTail)")
            for part in [
                "/run/upcast-of-nobody", "does not exist", "sudo install -d", "RuntimeDirectory=upcast-of-nobody",
                "UPCAST_INGEST_SOCKET",
            ] { #expect(daemon.errors.contains(part), "\(part): \(daemon.errors)") }
        }
    }

    /// A shell offers files where an option takes one.
    @Test(.inItsTurn) func completions() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("completions")
            for name in ["rules.txt", "capture.sock"] { _ = try folder.write("", to: name) }
            let offered = """
                source <("$1" --generate-completion-script bash)
                name=${1##*/} COMP_WORDS=("${1##*/}" "$2" "$3") COMP_CWORD=2
                COMP_LINE="$name $2 $3" COMP_POINT=${#COMP_LINE}
                function=$(complete -p "$name") function=${function#*-F } function=${function%% *}
                "$function" "$name" "$3" "$2"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            for (program, option) in [
                (ProductExecutable.upcastScreen, "--hide-file"), (.upcastScreen, "--socket"), (.upcastSend, "--socket"),
            ] {
                let path = try program.path
                let words = ["-c", offered, "bash", path, option, folder.file("")]
                let names = Set(try ChildProcess.run("bash", words).split(separator: "\n").map(String.init))
                #expect(names == [folder.file("rules.txt"), folder.file("capture.sock")], "\(path) \(option): \(names)")
                func script(_ shell: String) throws -> String {
                    try ChildProcess.run(path, ["--generate-completion-script", shell])
                }
                let (zsh, fish) = (try script("zsh"), try script("fish"))
                #expect(zsh.split(separator: "\n").contains { $0.contains(option + "[") && $0.hasSuffix(":_files'") })
                #expect(
                    fish.split(separator: "\n").contains {
                        $0.contains("-l '\(option.dropFirst(2))'") && $0.hasSuffix("-rF")
                    })
            }
        }
    }
}
