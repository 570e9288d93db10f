package import Grabbing

/// Which windows are hidden from viewers, in addition to those that ask for it. Pure.
package struct WindowRules: Equatable, Sendable {
    /// One condition: a window that fulfils it is hidden.
    package struct Rule: Equatable, Sendable {
        package enum Subject: String, CaseIterable, Sendable { case `class`, title, type, process, user }
        package var subject: Subject
        /// `*` stands for any text. Case does not matter.
        package var pattern: String
    }

    /// What rules need to know about a process.
    package struct Process: Sendable {
        package var name: String
        /// Looks up the name of its user, which may take longer; nil if it is not known.
        let user: @Sendable () -> String?

        package init(name: String, user: @autoclosure @escaping @Sendable () -> String?) {
            self.name = name
            self.user = user
        }
    }

    /// Caches what rules look up, for one moment only: a process may change its name.
    struct Lookup {
        private let look: @Sendable (UInt32) -> Process?
        private var processes: [UInt32: Process?] = [:]
        private var users: [UInt32: String] = [:]

        init(for rules: WindowRules) { look = rules.process }

        private mutating func process(_ number: UInt32) -> Process? {
            if let known = processes[number] { return known }
            let found = look(number)
            processes.updateValue(found, forKey: number)
            return found
        }

        mutating func name(_ number: UInt32) -> String? { process(number)?.name }

        mutating func user(_ number: UInt32) -> String? {
            if let known = users[number] { return known }
            guard let user = process(number)?.user() else { return nil }
            users[number] = user
            return user
        }
    }

    package private(set) var rules: [Rule] = []
    private let process: @Sendable (UInt32) -> Process?

    /// - Parameter process: looks up a process; called only for rules that need it.
    package init(process: @escaping @Sendable (UInt32) -> Process? = { _ in nil }) { self.process = process }

    package static func == (a: Self, b: Self) -> Bool { a.rules == b.rules }

    private static let types: [String: WindowFacts.Types] = [
        "notification": .notification, "dialog": .dialog, "menu": .menu, "dock": .dock,
    ]

    /// Adds a rule, such as `class=KeePassXC` or `title=*- Private*`.
    ///
    /// - Throws: what is wrong with the rule, and what would be right.
    package mutating func add(_ text: String) throws(ScreenError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let subject = Rule.Subject(rawValue: parts[0]) else {
            let names = Rule.Subject.allCases.map(\.rawValue).joined(separator: ", ")
            throw ScreenError(
                "\"\(text)\" is not a rule, such as class=KeePassXC or title=*Private*; it begins with one of \(names)")
        }
        if parts[1].isEmpty { throw ScreenError("\"\(text)\" has no pattern; a rule is such as \(text)KeePassXC") }
        if let objection = Self.objection(to: parts[1]) { throw ScreenError("\"\(text)\" \(objection)") }
        guard subject != .type || Self.types[parts[1].lowercased()] != nil else {
            let names = Self.types.keys.sorted().joined(separator: ", ")
            throw ScreenError("\"\(parts[1])\" is not a type of windows; the types are \(names)")
        }
        rules.append(Rule(subject: subject, pattern: parts[1]))
    }

    /// Why a pattern cannot match what its author means; nil without an objection. Such a mistake would go unnoticed.
    private static func objection(to pattern: String) -> String? {
        if pattern.unicodeScalars.contains("\u{fffd}") {
            return "is not UTF-8; write it, or save its file, in UTF-8"
        }
        if pattern.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
            return "has a line break or another control character in its pattern; write it on one line, or * for it"
        }
        if pattern.first?.isWhitespace ?? false || pattern.last?.isWhitespace ?? false {
            return "has a space at an end of its pattern; leave it out, or write * for it"
        }
        if pattern.count > 1, pattern.first == "\"", pattern.last == "\"" {
            return "has its pattern in quotes; leave them out: they are for the shell, around the whole rule"
        }
        return nil
    }

    /// Adds the rules of a file, as `RuleFile` reads it.
    ///
    /// - Parameter name: the file's name, for messages.
    package mutating func add(file text: String, name: String) throws(ScreenError) {
        for (index, line) in RuleFile.lines(text).enumerated() {
            do throws(ScreenError) {
                if let rule = try RuleFile.rule(line) { try add(rule) }
            } catch {
                throw ScreenError("\(name):\(index + 1): \(error)")
            }
        }
    }

    var isEmpty: Bool { rules.isEmpty }

    /// Whether a window's title can decide whether a rule matches.
    var readTitles: Bool { rules.contains { $0.subject == .title } }

    /// Whether a process can decide whether a rule matches.
    var readProcesses: Bool { rules.contains { $0.subject == .process || $0.subject == .user } }

    /// Whether a rule hides a window. An unknown class, title, process or user counts as a match.
    func match(_ facts: WindowFacts, _ lookup: inout Lookup) -> Bool {
        rules.contains { match($0, facts, unknown: true, &lookup) }
    }

    /// Whether a rule matches a class. An unknown class counts as a match.
    func matchClass(_ names: WindowNames) -> Bool {
        rules.contains { $0.subject == .class && (names.isClassCut || Self.fitsClass(names, $0.pattern)) }
    }

    /// Whether a rule chooses a window to be shown. Whatever is unknown does not match.
    func choose(_ facts: WindowFacts, _ lookup: inout Lookup) -> Bool {
        rules.contains { match($0, facts, unknown: false, &lookup) }
    }

    private func match(_ rule: Rule, _ facts: WindowFacts, unknown: Bool, _ lookup: inout Lookup) -> Bool {
        if rule.subject == .type {
            return Self.types[rule.pattern.lowercased()].map { !facts.types.isDisjoint(with: $0) } ?? false
        }
        return facts.names.contains { match(rule, $0, unknown: unknown, &lookup) }
    }

    /// - Parameter unknown: whether an unknown value matches: a truncated text, or the name or user of an unknown
    ///   process. If true, `WM_NAME` also counts beside `_NET_WM_NAME`. Windows to be shown are chosen only by the
    ///   title that users see.
    private func match(_ rule: Rule, _ names: WindowNames, unknown: Bool, _ lookup: inout Lookup) -> Bool {
        switch rule.subject {
        case .class where names.isClassCut: unknown
        // A pattern that ends with a star matches whatever was cut off.
        case .title where names.isTitleCut: unknown || rule.pattern.last == "*" && Self.fits(names.title, rule.pattern)
        case .class: Self.fitsClass(names, rule.pattern)
        case .title: Self.fits(names.title, rule.pattern) || unknown && Self.fits(names.oldTitle, rule.pattern)
        case .process: names.process.flatMap { lookup.name($0) }.map { Self.fits($0, rule.pattern) } ?? unknown
        case .user: names.process.flatMap { lookup.user($0) }.map { Self.fits($0, rule.pattern) } ?? unknown
        case .type: false
        }
    }

    private static func fitsClass(_ names: WindowNames, _ pattern: String) -> Bool {
        fits(names.className, pattern) || fits(names.instance, pattern)
    }

    /// Whether a text matches a pattern with `*`, regardless of case.
    static func fits(_ text: String, _ pattern: String) -> Bool {
        let (text, pattern) = (Array(text.lowercased()), Array(pattern.lowercased()))
        var (at, from) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if from < pattern.count, pattern[from] == "*" {
                star = (from, at)
                from += 1
            } else if from < pattern.count, pattern[from] == text[at] {
                (at, from) = (at + 1, from + 1)
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (at, from) = (last.text + 1, last.pattern + 1)
            } else {
                return false
            }
        }
        return pattern[from...].allSatisfy { $0 == "*" }
    }
}
