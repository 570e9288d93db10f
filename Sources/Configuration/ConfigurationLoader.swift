/// Puts values from a YAML tree into a `Configuration`, remembers where each came from, and collects what is wrong.
struct ConfigurationLoader {
    /// What messages call the file.
    let path: String
    var configuration = Configuration()
    var problems: [ConfigurationProblem] = []
    /// By key path; a key that is missing here has its default.
    private(set) var origins: [String: ConfigurationProblem.Place] = [:]

    let keys = ConfigurationTable.keys
    let destinationKeys = ConfigurationTable.destinationKeys

    init(path: String) { self.path = path }

    var sortedProblems: [ConfigurationProblem] {
        // The order of the file; sort is not stable, so the index decides between equals.
        func rank(_ place: ConfigurationProblem.Place) -> (Int, Int) {
            if case .file(_, let line, let column) = place { (line, column) } else { (.max, 0) }
        }
        return problems.enumerated().sorted { a, b in
            let (left, right) = (rank(a.element.place), rank(b.element.place))
            return left == right ? a.offset < b.offset : left < right
        }.map(\.element)
    }

    mutating func report(_ place: ConfigurationProblem.Place, _ key: String, _ what: String, _ remedy: String) {
        problems.append(ConfigurationProblem(place: place, key: key, what: what, remedy: remedy))
    }

    func place(_ mark: YAMLMark) -> ConfigurationProblem.Place { .file(path, line: mark.line, column: mark.column) }

    mutating func remember(_ key: String, _ place: ConfigurationProblem.Place) { origins[key] = place }

    // MARK: The file

    mutating func read(_ text: [UInt8]) {
        let root: YAMLNode?
        do { root = try YAMLParser.parse(text) } catch {
            report(place(error.mark), "", error.what, error.remedy)
            return
        }
        guard let root, !isNull(root) else { return }
        guard case .mapping(let entries, _) = root else {
            report(
                place(root.mark), "", "the file is not a mapping of sections", "begin it with a section such as video:")
            return
        }
        for entry in entries { readSection(entry) }
    }

    private mutating func readSection(_ entry: YAMLEntry) {
        let name = entry.key.text
        let names = ConfigurationTable.sections.map(\.name)
        guard names.contains(name) else {
            let owner = keys.first { $0.name == name } // a key that lost its section, most often by its indentation
            report(
                place(entry.key.mark), "", "\"\(printable(name))\" is not a section",
                didYouMean(name, names) ?? owner.map { "it belongs into the section \($0.section), indented" }
                    ?? "the sections are \(names.joined(separator: ", "))")
            return
        }
        if isNull(entry.value) { return }
        if name == "destinations" { return readDestinations(entry.value) }
        guard case .mapping(let entries, _) = entry.value else {
            report(place(entry.value.mark), name, "a section is a mapping", "write its keys below it, indented")
            return
        }
        let section = keys.filter { $0.section == name }
        for entry in entries {
            guard let key = section.first(where: { $0.name == entry.key.text }) else {
                reportUnknown(entry.key, in: name, section.map(\.name))
                continue
            }
            apply(entry, key, as: "\(name).\(key.name)", to: \.self)
        }
    }

    private mutating func readDestinations(_ node: YAMLNode) {
        guard case .sequence(let items, _) = node else {
            report(place(node.mark), "destinations", "a list is needed", "begin each destination with \"- name: ...\"")
            return
        }
        guard items.count <= Configuration.maxDestinations else {
            report(
                place(node.mark), "destinations", "\(items.count) destinations are too many",
                "one daemon serves at most \(Configuration.maxDestinations)")
            return
        }
        for item in items { appendDestination(item) }
    }

    /// One more destination, written as an item of the list is, in YAML or JSON.
    mutating func readDestination(_ text: [UInt8]) {
        do {
            guard let item = try YAMLParser.parse(text), !isNull(item) else {
                return report(
                    .file(path, line: 1, column: 1), "", "there is no destination", "write its keys and values")
            }
            guard configuration.destinations.count < Configuration.maxDestinations else {
                return report(
                    place(item.mark), "", "there are \(configuration.destinations.count) destinations already",
                    "one daemon serves at most \(Configuration.maxDestinations)")
            }
            appendDestination(item, fromRequest: true)
            confineSecrets(of: configuration.destinations.count - 1)
        } catch {
            report(place(error.mark), "", error.what, error.remedy)
        }
    }

    private mutating func appendDestination(_ item: YAMLNode, fromRequest: Bool = false) {
        let index = configuration.destinations.count
        configuration.destinations.append(DestinationConfiguration())
        remember("destinations[\(index)]", place(item.mark))
        guard case .mapping(let entries, _) = item else {
            remember("destinations[\(index)].url", place(item.mark)) // or its absence would be reported as well
            return report(
                place(item.mark), "destinations[\(index)]", "a destination is a mapping",
                "write \"- name: ...\" and its keys below the name, indented alike")
        }
        for entry in entries {
            if fromRequest, takeSecret(entry, of: index) { continue }
            guard let key = destinationKeys.first(where: { $0.name == entry.key.text }) else {
                let known = destinationKeys.map(\.name) + (fromRequest ? Self.requestKeys : [])
                reportUnknown(entry.key, in: "destinations[\(index)]", known)
                continue
            }
            apply(entry, key, as: "destinations[\(index)].\(key.name)", to: \.destinations[index])
        }
    }

    /// Keys of earlier versions, with what is written in their place.
    static let replacedKeys = [
        "video.subpixel_motion": """
            video.effort has taken its place: low, normal and high all search subpixel motion, and it is left out by \
            itself where memory.cap_bytes has no room for it
            """
    ]

    private mutating func reportUnknown(_ key: YAMLScalar, in section: String, _ known: [String]) {
        if let replacement = Self.replacedKeys["\(section).\(key.text)"] {
            return report(place(key.mark), section, "\"\(key.text)\" is not a key any more", replacement)
        }
        let remedy =
            if section.hasPrefix("destinations"), !known.contains("key"),
                ["key", "stream_key", "streamkey", "stream"].contains(key.text.lowercased())
            {
                "stream keys are not written here: name a file in key_file or an environment variable in key_env"
            } else {
                didYouMean(key.text, known) ?? "its keys are \(known.joined(separator: ", "))"
            }
        report(place(key.mark), section, "\"\(printable(key.text))\" is not a key of this section", remedy)
    }

    private mutating func apply<Root>(
        _ entry: YAMLEntry, _ key: ConfigurationKey<Root>, as name: String,
        to root: WritableKeyPath<Configuration, Root>
    ) {
        remember(name, place(entry.value.mark))
        switch entry.value {
        case .mapping(let entries, _) where key.isMapping:
            var mapping: [String: String] = [:]
            for option in entries {
                guard case .scalar(let value) = option.value, !value.isNull else {
                    report(place(option.value.mark), name, "an option has a single value", "write \"name: value\"")
                    continue
                }
                do {
                    try checkOption(option.key.text, value.text)
                    mapping[option.key.text] = value.text
                } catch {
                    report(place(option.key.mark), name, error.what, error.remedy)
                }
            }
            key.applyMapping(mapping, &configuration[keyPath: root])
        case .scalar(let scalar) where scalar.isNull:
            // `background: #000000` is an empty value and a comment.
            report(
                place(scalar.mark), name, "there is no value",
                "write \(key.allowed), or remove the key for its default; values that begin with # must be in quotes")
        case .scalar(let scalar) where !key.isMapping:
            do { try key.apply(scalar.text, &configuration[keyPath: root]) } catch {
                report(place(scalar.mark), name, error.what, error.remedy)
            }
        default:
            report(place(entry.value.mark), name, "this is the wrong kind of value", "write \(key.allowed)")
        }
    }

    private func isNull(_ node: YAMLNode) -> Bool {
        if case .scalar(let scalar) = node { scalar.isNull } else { false }
    }
}
