import ArgumentParser

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a configuration as upcastd would before it starts: exit status 0 if it is right, 1 if not.",
        discussion: """
            Runs upcastd --check-config, from beside this program or from PATH, with this environment: variables such \
            as UPCAST_VIDEO_WIDTH count.
            """)
    @Argument(
        help: "The file (default: $UPCAST_CONFIG, or the built-in defaults and the environment).", completion: .file())
    var file: String?

    func run() throws {
        let arguments = ["--check-config"] + (file.map { ["--config", $0] } ?? [])
        let status = try Program.run(try Program.beside("upcastd"), arguments)
        if status != 0 { throw ExitCode(ExitStatus.refused.rawValue) }
    }
}
