internal import Wording

extension ConfigurationLoader {
    /// Variables with the prefix UPCAST_ that are not keys: the socket of capture clients, the path of the
    /// configuration file, a test hook (`TestFreeze`) and what upcastctl reads.
    static let foreignVariables = [
        "UPCAST_SOCKET", "UPCAST_CONFIG", "UPCAST_TEST_FREEZE", "UPCAST_CONTROL_URL", "UPCAST_INSTANCE",
        "UPCAST_RUNTIME_DIRECTORY",
    ]

    /// Applies all `UPCAST_` variables in the order of their names, and items of lists in the order of their index.
    mutating func read(environment: [String: String]) {
        let byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.environmentName(), $0) })
        var unknown: [String] = []
        var destinations: [Variable<DestinationConfiguration>] = []
        var webhooks: [Variable<WebhookConfiguration>] = []
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("UPCAST_") {
            if Self.foreignVariables.contains(name) || isServiceLink(name, value) { continue }
            if let key = byName[name] {
                apply(value, of: name, key, as: "\(key.section).\(key.name)", to: \.self)
            } else if let variable = variable(name, of: destinationKeys) {
                destinations.append(variable)
            } else if let variable = variable(name, of: webhookKeys) {
                webhooks.append(variable)
            } else {
                unknown.append(name)
            }
        }
        apply(
            destinations, environment, to: \.destinations, atMost: Configuration.maxDestinations, "destination",
            DestinationConfiguration())
        apply(
            webhooks, environment, to: \.webhooks, atMost: Configuration.maxWebhooks, "webhook",
            WebhookConfiguration())
        let secrets =
            configuration.destinations.flatMap { [$0.keyEnvironment, $0.loginEnvironment].compactMap(\.self) }
            + configuration.webhooks.compactMap(\.secretEnvironment)
        for name in unknown where !secrets.contains(name) { reportUnknown(name, Array(byName.keys)) }
    }

    private mutating func apply<Root>(
        _ value: String, of name: String, _ key: ConfigurationKey<Root>, as path: String,
        to root: WritableKeyPath<Configuration, Root>
    ) {
        remember(path, .environment(name))
        do { try key.apply(value, &configuration[keyPath: root]) } catch {
            report(.environment(name), path, error.what, error.remedy)
        }
    }

    /// A variable of an item of a list.
    private struct Variable<Item: Sendable> {
        var index: Int
        var name: String
        var key: ConfigurationKey<Item>
    }

    /// `UPCAST_<SECTION>_<index>_<KEY>`.
    private func variable<Item>(_ name: String, of keys: [ConfigurationKey<Item>]) -> Variable<Item>? {
        guard let section = keys.first?.section else { return nil }
        let prefix = "UPCAST_\(section.uppercased())_"
        let rest = name.dropFirst(prefix.count)
        guard name.hasPrefix(prefix), let bar = rest.firstIndex(of: "_"), isDigits(rest[..<bar]),
            let index = Int(rest[..<bar]), String(index) == rest[..<bar]
        else { return nil }
        let keyName = rest[rest.index(after: bar)...].lowercased()
        return keys.first { $0.name == keyName && $0.environmentName(index: index) == name }.map {
            Variable(index: index, name: name, key: $0)
        }
    }

    private mutating func apply<Item>(
        _ variables: [Variable<Item>], _ environment: [String: String],
        to list: WritableKeyPath<Configuration, [Item]>, atMost most: Int, _ noun: String, _ new: Item
    ) {
        // Index 10 comes after index 2.
        for variable in variables.sorted(by: { ($0.index, $0.name) < ($1.index, $1.name) }) {
            let (index, name, section) = (variable.index, variable.name, variable.key.section)
            guard index < most else {
                report(
                    .environment(name), "", "\(noun) \(index) exceeds the limit",
                    "at most \(most) \(section) are allowed, numbered from 0")
                continue
            }
            let count = configuration[keyPath: list].count
            guard index <= count else {
                report(
                    .environment(name), "", "\(noun) \(index) leaves a gap",
                    "number \(section) without gaps; the next number is \(count)")
                continue
            }
            if index == count {
                configuration[keyPath: list].append(new)
                remember("\(section)[\(index)]", .environment(name))
            }
            apply(
                environment[name] ?? "", of: name, variable.key, as: "\(section)[\(index)].\(variable.key.name)",
                to: list.appending(path: \.[index]))
        }
    }

    private mutating func reportUnknown(_ name: String, _ known: [String]) {
        let replaced = Self.replacedKeys.first { "UPCAST_" + $0.key.uppercased().replacing(".", with: "_") == name }
        if let replaced {
            return report(.environment(name), "", "the key \(replaced.key) was removed", replaced.value)
        }
        if let key = alias(of: name) {
            return report(.environment(name), "", "unknown variable", "did you mean \"\(key)\"?")
        }
        func index(after section: String) -> Int {
            Int(name.dropFirst("UPCAST_\(section)_".count).prefix { $0.isNumber }) ?? 0
        }
        let candidates =
            known.sorted() + destinationKeys.map { $0.environmentName(index: index(after: "DESTINATIONS")) }
            + webhookKeys.map { $0.environmentName(index: index(after: "WEBHOOKS")) }
        let parts = name.split(separator: "_")
        let remedy =
            if name.hasPrefix("UPCAST_DESTINATIONS_"), parts.last == "KEY", nearest(name, candidates) == nil {
                "name the variable with the stream key in UPCAST_DESTINATIONS_<number>_KEY_ENV, "
                + "or the file in ..._KEY_FILE"
            } else {
                didYouMean(name, candidates)
                    ?? "names have the form UPCAST_<SECTION>_<KEY>; key_env names variables with stream keys"
            }
        report(.environment(name), "", "unknown variable", remedy)
    }

    /// The variable of the key that another program's name, or a name without its unit, stands for.
    private func alias(of name: String) -> String? {
        let rest = name.dropFirst("UPCAST_".count).lowercased()
        for section in ConfigurationTable.sections.map(\.name) where rest.hasPrefix("\(section)_") {
            var key = rest.dropFirst(section.count + 1)
            var known = keys.filter { $0.section == section }.map(\.name)
            var prefix = "UPCAST_\(section)_"
            if section == "destinations" {
                let index = key.prefix { $0.isNumber }
                key = key.dropFirst(index.count + 1)
                known = destinationKeys.map(\.name)
                prefix += "\(index)_"
            }
            if let found = KeyAliases.key(String(key), in: section, known) { return (prefix + found).uppercased() }
        }
        return nil
    }

    /// Kubernetes sets these variables in every container for a Service whose name begins with "upcast".
    private func isServiceLink(_ name: String, _ value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT") { return true }
        guard let range = name.firstRange(of: "_PORT") else { return false }
        let rest = name[range.upperBound...]
        if rest.isEmpty { return value.hasPrefix("tcp://") || value.hasPrefix("udp://") || value.hasPrefix("sctp://") }
        let parts = rest.split(separator: "_")
        return parts.count >= 2 && isDigits(parts[0]) && ["TCP", "UDP", "SCTP"].contains(parts[1])
    }
}
