import ArgumentParser
import ControlClient
import ControlProtocol

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination",
        abstract: "List, add and remove destinations of the running daemon.",
        discussion: "Changes last until the daemon exits.",
        subcommands: [DestinationListCommand.self, DestinationAddCommand.self, DestinationRemoveCommand.self])
}

struct DestinationListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all destinations with their state.")
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
        abstract: "Add a destination. A live broadcast starts there at the next keyframe.",
        discussion: """
            Settings have the form name=value, with the names of the destinations section of the configuration. \
            upcastctl reads --key-file and sends the key, for example: \
            upcastctl destination add second rtmp://host/app --key-file second.key. The daemon reads the files in \
            key_file=, login_file= and ca_file=, relative to its control.secrets_folder.
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name in logs and status.") var name: String
    @Argument(help: "URL of a server, such as rtmp://host/app, or of a file (file:/path); as url in the configuration.")
    var url: String
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
            throw ValidationError("\"\(setting)\" does not have the form name=value")
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
        commandName: "remove", abstract: "End and remove a destination; the others continue.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the destination.", completion: Completion.destinations) var name: String

    func run() throws {
        output.show(
            try control.client().ask("DELETE", "/destinations?name=\(ControlClient.escaped(name))"))
    }
}
