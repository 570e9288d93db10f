/// Lets options that choose a daemon come first: `upcastctl -i main status` is `upcastctl status -i main`. Pure.
enum LeadingOptions {
    private static let names = ["-i", "--instance", "--socket", "--url", "--token-file"]

    /// The arguments with leading options moved behind the command.
    static func moved(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var options: [String] = []
        while let word = rest.first {
            if names.contains(word), rest.count > 1 {
                options += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if names.dropFirst().contains(where: { word.hasPrefix($0 + "=") }) {
                options.append(word)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        guard !options.isEmpty, !rest.isEmpty else { return arguments }
        // After "--" there are no options.
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + options + Array(rest[end...])
    }
}
