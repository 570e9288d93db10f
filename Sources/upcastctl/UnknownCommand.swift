import ArgumentParser
import ControlClient
import Wording

/// A word in the place of a command that is not a command. Pure.
struct UnknownCommand: CustomStringConvertible {
    /// The commands before it, `upcastctl` included.
    private let path: [String]
    private let word: String
    private let candidates: [String]

    /// Nil if all words in the place of commands are commands.
    init?(in words: [String]) {
        var command: any ParsableCommand.Type = Upcastctl.self
        var path = ["upcastctl"]
        for word in words {
            let children = command.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-") else { return nil }
            if let child = children.first(where: { Self.names($0).contains(word) }) {
                command = child
                path.append(word)
                continue
            }
            let candidates = children.flatMap(Self.names) + (path.count == 1 ? ["help"] : [])
            // The word may be an argument of the default command.
            guard !candidates.contains(word), command.configuration.defaultSubcommand == nil else { return nil }
            (self.path, self.word, self.candidates) = (path, word, candidates)
            return
        }
        return nil
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName ?? ""] + command.configuration.aliases
    }

    var description: String {
        let before = path.joined(separator: " ")
        let what = "there is no command \"\(before) \(TerminalText.printable(word))\""
        let help = "see: \(before) --help"
        return "\(what); \(didYouMean(word, candidates) ?? help)"
    }
}
