package import Grabbing

/// Which window to capture, as given on the command line. Pure.
package enum WindowChoice: Equatable, Sendable {
    /// Its number, as xwininfo shows it.
    case number(UInt32)
    /// A rule, as in `WindowRules`.
    case rule(WindowRules)

    /// - Parameters:
    ///   - text: `0x3a00007`, or a rule such as `class=firefox`.
    ///   - process: looks up a process, for rules.
    /// - Throws: what would be right.
    package init(
        _ text: String, process: @escaping @Sendable (UInt32) -> WindowRules.Process?
    ) throws(ScreenError) {
        guard !text.isEmpty else {
            throw ScreenError(
                "--window names no window; write its number, as 0x3a00007 (--list shows it), or a rule, as "
                    + "class=firefox")
        }
        if text.lowercased().hasPrefix("0x"), let number = UInt32(text.dropFirst(2), radix: 16) {
            self = .number(number)
            return
        }
        if let number = UInt32(text) {
            self = .number(number)
            return
        }
        var rules = WindowRules(process: process)
        do throws(ScreenError) { try rules.add(text) } catch {
            throw ScreenError("--window \(text): \(error); or the number of a window, as 0x3a00007")
        }
        self = .rule(rules)
    }

    var rules: WindowRules? { if case .rule(let rules) = self { rules } else { nil } }

    /// A new lookup for `means`, valid for one moment.
    var lookup: WindowRules.Lookup {
        switch self {
        case .number: WindowRules.Lookup(for: WindowRules())
        case .rule(let rules): WindowRules.Lookup(for: rules)
        }
    }

    /// Whether the choice means this child of the root window.
    func means(_ window: UInt32, _ facts: WindowFacts, _ lookup: inout WindowRules.Lookup) -> Bool {
        switch self {
        case .number(let number): return number == window || number == facts.client
        case .rule(let rules):
            // Frames of window managers are usually override-redirect windows.
            let isFrame = facts.client != window
            return (isFrame || !facts.isOverrideRedirect) && rules.choose(facts, &lookup)
        }
    }
}
