import ArgumentParser
import ControlProtocol

struct ReadyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready",
        abstract: "Asks whether the daemon takes, or has, a broadcast: exit status 0 if so, 1 if not.",
        discussion: "For whoever waits until clients can connect.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/readyz", saying: "ready", control, output) }
}
