import ArgumentParser
import ControlClient
import ControlProtocol

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination",
        abstract: "Adds and removes destinations while the daemon runs.",
        discussion: "What is changed here lasts until the daemon ends.",
        subcommands: [DestinationListCommand.self, DestinationAddCommand.self, DestinationRemoveCommand.self])
}

struct DestinationListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Shows every destination with its state.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let json = try control.client().get("/destinations")
        guard !output.json else { return OutputOptions.print(json) }
        for destination in DestinationsAnswer(json: json).destinations {
            Output.line(
                TerminalText.printable("\(destination.name)  \(destination.state.rawValue)  \(destination.url)"))
        }
    }
}

struct DestinationAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a destination; a live broadcast begins there with the next keyframe.",
        discussion: """
            Settings are those of the configuration file's destinations, as name=value. --key-file reads the stream \
            key here and sends it: upcastctl destination add second rtmp://host/app --key-file second.key. In \
            key_file=, login_file= and ca_file= stand files of the daemon's, relative to its control.secrets_folder.
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "What logs and status call it.") var name: String
    @Argument(help: "rtmp:// or rtmps:// URL, file:/path, or a path that ends in .flv.") var url: String
    @Argument(help: "Further settings, as name=value.") var settings: [String] = []
    @Option(
        help: ArgumentHelp(
            "File whose first line is the stream key, read by upcastctl; - for standard input.", valueName: "file"),
        completion: .file())
    var keyFile: String?
    @Option(
        help: ArgumentHelp(
            "File whose first line is user:password, read by upcastctl; - for standard input.", valueName: "file"),
        completion: .file())
    var loginFile: String?

    func validate() throws {
        for setting in settings where setting.firstIndex(of: "=") == nil {
            throw ValidationError("\"\(setting)\" is not name=value")
        }
        if keyFile == "-", loginFile == "-" {
            throw ValidationError("--key-file and --login-file cannot both read standard input")
        }
    }

    func run() throws {
        var members = [JSONValue.Member("name", .string(name)), JSONValue.Member("url", .string(url))]
        for setting in settings {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            members.append(JSONValue.Member(String(parts[0]), .string(String(parts[1]))))
        }
        if let keyFile { members.append(.init("key", .string(try SecretLine.read(keyFile)))) }
        if let loginFile { members.append(.init("login", .string(try SecretLine.read(loginFile)))) }
        output.show(try control.client().ask("POST", "/destinations", body: .object(members)))
    }
}

struct DestinationRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Ends a destination in order, while the others go on.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Its name.") var name: String

    func run() throws {
        output.show(
            try control.client().ask("DELETE", "/destinations?name=\(ControlClient.escaped(name))"))
    }
}
