import ArgumentParser
import ControlClient
import ControlProtocol

struct ProtectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protection",
        abstract: "Shows and turns the switches of what keeps things from viewers.",
        discussion: """
            Each is a key of the configuration's privacy section; what is turned here lasts until the daemon ends or \
            its configuration changes.
            """,
        subcommands: [ProtectionListCommand.self, ProtectionOnCommand.self, ProtectionOffCommand.self])
}

struct ProtectionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists which are on, and which somebody relies on now.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.client().ask("GET", "/status")
        let protections = StatusReport(json: answer).privacy.protections
        guard !output.json else {
            return output.show(.object([.init("protections", .array(protections.map(\.json)))]))
        }
        for protection in protections {
            let state = protection.isOn ? protection.isHeld ? "on, held" : "on" : "off"
            Output.line("\(TerminalText.printable(protection.name)): \(state)")
        }
    }
}

struct ProtectionOnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "on", abstract: "Turns one on.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Which: see list.") var name: String

    func run() throws {
        var request = ProtectionRequest()
        (request.name, request.isOn) = (name, true)
        output.show(try control.client().ask("POST", "/protections", body: request.json))
    }
}

struct ProtectionOffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Turns one off; refused while somebody relies on it.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Which: see list.") var name: String
    @Flag(help: "Also while somebody relies on it: what it hides is shown.") var force = false

    func run() throws {
        var request = ProtectionRequest()
        (request.name, request.isOn, request.force) = (name, false, force)
        output.show(try control.client().ask("POST", "/protections", body: request.json))
    }
}
