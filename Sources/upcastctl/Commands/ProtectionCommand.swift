import ArgumentParser
import ControlClient
import ControlProtocol

struct ProtectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protection",
        abstract: "Show, enable and disable the privacy protections.",
        discussion: """
            Each protection is a key of the privacy section of the configuration. A change lasts until the daemon \
            exits or its configuration changes.
            """,
        subcommands: [ProtectionListCommand.self, ProtectionOnCommand.self, ProtectionOffCommand.self])
}

struct ProtectionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the protections, and which are in use.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.client().ask("GET", "/status")
        let protections = StatusReport(json: answer).privacy.protections
        guard !output.json else {
            return output.show(.object([.init("protections", .array(protections.map(\.json)))]))
        }
        for protection in protections {
            let state = protection.isOn ? protection.isInUse ? "on, in use" : "on" : "off"
            Output.line("\(TerminalText.printable(protection.name)): \(state)")
        }
    }
}

struct ProtectionOnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "on", abstract: "Enable a protection.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the protection; see list.", completion: Completion.protections) var name: String

    func run() throws {
        var request = ProtectionRequest()
        (request.name, request.isOn) = (name, true)
        output.show(try control.client().ask("POST", "/protections", body: request.json))
    }
}

struct ProtectionOffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Disable a protection that is not in use.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the protection; see list.", completion: Completion.protections) var name: String
    @Flag(help: "Disable the protection even if it is in use. This exposes what it hides.") var force = false

    func run() throws {
        var request = ProtectionRequest()
        (request.name, request.isOn, request.force) = (name, false, force)
        output.show(try control.client().ask("POST", "/protections", body: request.json))
    }
}
