internal import Wording

/// Reads a YAML tree into a `Configuration`, records the place of each value and collects problems.
struct ConfigurationLoader {
    /// Name of the file in messages; nil for a request.
    let path: String?
    var configuration = Configuration()
    var problems: [ConfigurationProblem] = []
    /// Whether the text is no mapping of sections, so that nothing of it was read.
    private(set) var isUnreadable = false
    /// By key path. A missing key has its default.
    private(set) var origins: [String: ConfigurationProblem.Place] = [:]

    let keys = ConfigurationTable.keys
    let destinationKeys = ConfigurationTable.destinationKeys
    let webhookKeys = ConfigurationTable.webhookKeys

    init(path: String?) { self.path = path }

    var sortedProblems: [ConfigurationProblem] { problems.inOrder }

    mutating func report(_ place: ConfigurationProblem.Place, _ key: String, _ what: String, _ remedy: String) {
        problems.append(ConfigurationProblem(place: place, key: key, what: what, remedy: remedy))
    }

    func place(_ mark: YAMLMark) -> ConfigurationProblem.Place {
        path.map { .file($0, line: mark.line, column: mark.column) }
            ?? .request(line: mark.line, column: mark.column)
    }

    mutating func remember(_ key: String, _ place: ConfigurationProblem.Place) { origins[key] = place }

    // MARK: The file

    mutating func read(_ text: [UInt8]) {
        let root: YAMLNode?
        do { root = try YAMLParser.parse(text) } catch {
            isUnreadable = true
            report(place(error.mark), "", error.what, error.remedy)
            return
        }
        guard let root, !isNull(root) else { return }
        guard case .mapping(let entries, _) = root else {
            isUnreadable = true
            report(
                place(root.mark), "", "the file is not a mapping of sections", "start it with a section such as video:")
            return
        }
        for entry in entries { readSection(entry) }
    }

    private mutating func readSection(_ entry: YAMLEntry) {
        let name = entry.key.text
        let names = ConfigurationTable.sections.map(\.name)
        guard names.contains(name) else {
            let owner = keys.first { $0.name == name } // a key with the wrong indentation
            report(
                place(entry.key.mark), "", "unknown section \"\(printable(name))\"",
                KeyAliases.section(name).map { "did you mean \"\($0)\"?" } ?? didYouMean(name, names)
                    ?? owner.map { "this key belongs to section \($0.section); indent it below \($0.section):" }
                    ?? "the sections are \(names.joined(separator: ", "))")
            return
        }
        if isNull(entry.value) { return }
        if name == "destinations" {
            guard let items = items(of: entry.value, name, "destination", atMost: Configuration.maxDestinations)
            else { return }
            for item in items { appendDestination(item) }
            return
        }
        if name == "webhooks" {
            guard let items = items(of: entry.value, name, "webhook", atMost: Configuration.maxWebhooks)
            else { return }
            for item in items { appendWebhook(item) }
            return
        }
        guard case .mapping(let entries, _) = entry.value else {
            report(place(entry.value.mark), name, "the section is not a mapping", "write its keys below it, indented")
            return
        }
        let section = keys.filter { $0.section == name }
        for entry in entries {
            guard let key = section.first(where: { $0.name == entry.key.text }) else {
                reportUnknown(entry, in: name, section.map(\.name))
                continue
            }
            apply(entry, key, as: "\(name).\(key.name)", to: \.self)
        }
    }

    /// The items of a list section; nil if it is not as it should be.
    private mutating func items(
        of node: YAMLNode, _ section: String, _ noun: String, atMost most: Int
    ) -> [YAMLNode]? {
        guard case .sequence(let items, _) = node else {
            report(place(node.mark), section, "the value is not a list", "start each \(noun) with \"- name: ...\"")
            return nil
        }
        guard items.count <= most else {
            report(
                place(node.mark), section, "there are \(items.count) \(section)", "at most \(most) are allowed")
            return nil
        }
        return items
    }

    /// Appends a destination in the form of a list item, in YAML or JSON.
    mutating func readDestination(_ text: [UInt8]) {
        do {
            guard let item = try YAMLParser.parse(text), !isNull(item) else {
                return report(
                    .request(line: 1, column: 1), "", "there is no destination", "write its keys and values")
            }
            guard configuration.destinations.count < Configuration.maxDestinations else {
                return report(
                    place(item.mark), "", "there are already \(configuration.destinations.count) destinations",
                    "at most \(Configuration.maxDestinations) are allowed")
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
            remember("destinations[\(index)].url", place(item.mark)) // suppresses the report of a missing url
            return report(
                place(item.mark), "destinations[\(index)]", "the destination is not a mapping",
                "write \"- name: ...\" and align its keys below the name")
        }
        for entry in entries {
            if fromRequest, takeSecret(entry, of: index) { continue }
            guard let key = destinationKeys.first(where: { $0.name == entry.key.text }) else {
                let known = destinationKeys.map(\.name) + (fromRequest ? Self.requestKeys : [])
                reportUnknown(entry, in: "destinations[\(index)]", known)
                continue
            }
            apply(entry, key, as: "destinations[\(index)].\(key.name)", to: \.destinations[index])
        }
    }

    private mutating func appendWebhook(_ item: YAMLNode) {
        let index = configuration.webhooks.count
        configuration.webhooks.append(WebhookConfiguration())
        remember("webhooks[\(index)]", place(item.mark))
        guard case .mapping(let entries, _) = item else {
            return report(
                place(item.mark), "webhooks[\(index)]", "the webhook is not a mapping",
                "write \"- name: ...\" and align its keys below the name")
        }
        for entry in entries {
            guard let key = webhookKeys.first(where: { $0.name == entry.key.text }) else {
                reportUnknown(entry, in: "webhooks[\(index)]", webhookKeys.map(\.name))
                continue
            }
            apply(entry, key, as: "webhooks[\(index)].\(key.name)", to: \.webhooks[index])
        }
    }

    /// Keys of earlier versions, with their replacement.
    static let replacedKeys = [
        "video.subpixel_motion": """
            video.effort replaces it: low, normal and high all use subpixel motion search, and the daemon disables it \
            automatically if memory.cap_bytes is too small
            """
    ]

    private mutating func reportUnknown(_ entry: YAMLEntry, in section: String, _ known: [String]) {
        let key = entry.key
        if let replacement = Self.replacedKeys["\(section).\(key.text)"] {
            return report(place(key.mark), section, "the key \"\(key.text)\" was removed", replacement)
        }
        let remedy =
            if section.hasPrefix("destinations"), !known.contains("key"),
                ["key", "stream_key", "streamkey", "stream"].contains(key.text.lowercased())
            {
                "the file cannot contain stream keys: name a file in key_file or an environment variable in key_env"
            } else if section.hasPrefix("webhooks"), ["secret", "key", "token"].contains(key.text.lowercased()) {
                "the file cannot contain secrets: name a file in secret_file or an environment variable in secret_env"
            } else {
                KeyAliases.key(key.text, in: section, known).map { "did you mean \"\($0)\"?" }
                    ?? didYouMean(key.text, known) ?? "the keys are \(known.joined(separator: ", "))"
            }
        report(place(key.mark), section, "unknown \(entry.keyInWords)", remedy)
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
                    report(place(option.value.mark), name, "the option is not a single value", "write \"name: value\"")
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
            // YAML reads `background: #000000` as an empty value and a comment.
            report(
                place(scalar.mark), name, "there is no value",
                "write \(key.allowed), or remove the key to use its default; quote values that start with #")
        case .scalar(let scalar) where !key.isMapping:
            do { try key.apply(scalar.text, &configuration[keyPath: root]) } catch {
                report(place(scalar.mark), name, error.what, error.remedy)
            }
        default:
            report(place(entry.value.mark), name, "the value has the wrong type", "write \(key.allowed)")
        }
    }

    private func isNull(_ node: YAMLNode) -> Bool {
        if case .scalar(let scalar) = node { scalar.isNull } else { false }
    }
}
