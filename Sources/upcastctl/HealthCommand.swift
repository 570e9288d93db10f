import ArgumentParser
import ControlProtocol

struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Asks whether the daemon is in order: exit status 0 if so, 1 if not.",
        discussion: "For the health check of a container or a supervisor.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/healthz", saying: "healthy", control, output) }
}
