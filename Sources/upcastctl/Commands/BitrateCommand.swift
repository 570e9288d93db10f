import ArgumentParser
import ControlClient
import ControlProtocol

struct BitrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bitrate",
        abstract: "Set the maximum video bitrate of this and later broadcasts.",
        discussion: "The adaptive bitrate can still be lower. The setting lasts until the daemon exits.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(
        help: ArgumentHelp(
            "Bits per second, as 2500k, 2.5M or 2500000; auto: the configured bitrate.", valueName: "rate"))
    var ceiling: Bitrate

    func run() throws {
        var request = BitrateRequest()
        request.bitsPerSecond = ceiling.bitsPerSecond
        output.show(try control.client().ask("POST", "/bitrate", body: request.json))
    }
}

/// A bitrate as users write it: `2500k`, `2.5M`, `2500000`, or `auto` for the configured bitrate. The suffixes are
/// powers of ten. The daemon checks the range.
struct Bitrate: ExpressibleByArgument, Equatable {
    /// Nil for `auto`.
    let bitsPerSecond: Int?

    init?(argument: String) {
        guard argument != "auto" else {
            bitsPerSecond = nil
            return
        }
        var digits = argument[...]
        // The number of decimal places that the suffix allows.
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
