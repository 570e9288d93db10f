import ArgumentParser
import ControlClient
import ControlProtocol

struct BitrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bitrate",
        abstract: "Sets the most bits a second of video, in this broadcast and those that follow.",
        discussion: "Links that carry less still lower it. It lasts until the daemon ends.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(
        help: ArgumentHelp("Bits a second, as 2500k, 2.5M or 2500000; auto: what is configured.", valueName: "rate"))
    var ceiling: Bitrate

    func run() throws {
        let value = ceiling.bitsPerSecond.map { JSONValue.integer($0) } ?? .null
        output.show(
            try control.client().ask("POST", "/bitrate", body: .object([.init("bits_per_second", value)])))
    }
}
