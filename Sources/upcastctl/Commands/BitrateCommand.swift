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
        var request = BitrateRequest()
        request.bitsPerSecond = ceiling.bitsPerSecond
        output.show(try control.client().ask("POST", "/bitrate", body: request.json))
    }
}

/// A bitrate as people write it: `2500k`, `2.5M`, `2500000`, or `auto` for what is configured. Powers of ten, as the
/// field counts bits. Whether an encoder can do it is the daemon's to say.
struct Bitrate: ExpressibleByArgument, Equatable {
    /// Nil for `auto`.
    let bitsPerSecond: Int?

    init?(argument: String) {
        guard argument != "auto" else {
            bitsPerSecond = nil
            return
        }
        var digits = argument[...]
        // Decimal places that the unit has.
        var places = 0
        switch digits.last {
        case "k", "K": places = 3
        case "m", "M": places = 6
        default: break
        }
        if places > 0 { digits.removeLast() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : ""
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard !parts[0].isEmpty, parts.count == 1 || !fraction.isEmpty, fraction.utf8.count <= places,
            parts[0].utf8.allSatisfy(isDigit), fraction.utf8.allSatisfy(isDigit),
            let value = Int(parts[0] + fraction + String(repeating: "0", count: places - fraction.utf8.count)),
            value > 0
        else { return nil }
        bitsPerSecond = value
    }
}
