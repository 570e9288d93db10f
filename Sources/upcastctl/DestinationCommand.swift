import ArgumentParser

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination",
        abstract: "Adds and removes destinations while the daemon runs.",
        discussion: "What is changed here lasts until the daemon ends.",
        subcommands: [DestinationListCommand.self, DestinationAddCommand.self, DestinationRemoveCommand.self])
}
