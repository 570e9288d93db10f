extension ConfigurationLoader {
    /// Variables with the prefix UPCAST_ that are not keys: the socket of capture clients, the path of the
    /// configuration file, a test hook (`TestFreeze`) and the URL for upcastctl.
    static let foreignVariables = ["UPCAST_SOCKET", "UPCAST_CONFIG", "UPCAST_TEST_FREEZE", "UPCAST_CONTROL_URL"]

    /// Applies all `UPCAST_` variables in the order of their names, and destinations in the order of their index.
    mutating func read(environment: [String: String]) {
        let byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.environmentName(), $0) })
        var unknown: [String] = []
        var destinations: [(index: Int, name: String, key: ConfigurationKey<DestinationConfiguration>)] = []
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("UPCAST_") {
            if Self.foreignVariables.contains(name) || isServiceLink(name, value) { continue }
            if let key = byName[name] {
                apply(value, of: name, key, as: "\(key.section).\(key.name)", to: \.self)
            } else if let (index, key) = destinationVariable(name) {
                destinations.append((index, name, key))
            } else {
                unknown.append(name)
            }
        }
        // Index 10 comes after index 2.
        for (index, name, key) in destinations.sorted(by: { ($0.index, $0.name) < ($1.index, $1.name) }) {
            guard index < Configuration.maxDestinations else {
                report(
                    .environment(name), "", "destination \(index) exceeds the limit",
                    "at most \(Configuration.maxDestinations) destinations are allowed, numbered from 0")
                continue
            }
            guard index <= configuration.destinations.count else {
                report(
                    .environment(name), "", "destination \(index) leaves a gap",
                    "number destinations without gaps; the next number is \(configuration.destinations.count)")
                continue
            }
            if index == configuration.destinations.count {
                configuration.destinations.append(DestinationConfiguration())
                remember("destinations[\(index)]", .environment(name))
            }
            apply(
                environment[name] ?? "", of: name, key, as: "destinations[\(index)].\(key.name)",
                to: \.destinations[index])
        }
        let secrets = configuration.destinations.flatMap { [$0.keyEnvironment, $0.loginEnvironment].compactMap(\.self) }
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

    /// `UPCAST_DESTINATIONS_<index>_<KEY>`.
    private func destinationVariable(_ name: String) -> (Int, ConfigurationKey<DestinationConfiguration>)? {
        let rest = name.dropFirst("UPCAST_DESTINATIONS_".count)
        guard name.hasPrefix("UPCAST_DESTINATIONS_"), let bar = rest.firstIndex(of: "_"), isDigits(rest[..<bar]),
            let index = Int(rest[..<bar]), String(index) == rest[..<bar]
        else { return nil }
        let keyName = rest[rest.index(after: bar)...].lowercased()
        return destinationKeys.first { $0.name == keyName && $0.environmentName(index: index) == name }.map {
            (index, $0)
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
        let index = name.dropFirst("UPCAST_DESTINATIONS_".count).prefix { $0.isNumber }
        let candidates = known.sorted() + destinationKeys.map { $0.environmentName(index: Int(index) ?? 0) }
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
