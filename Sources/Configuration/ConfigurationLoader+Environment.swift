extension ConfigurationLoader {
    /// Variables with our prefix that are no keys: the socket that clients connect to, the file's own path, a test's
    /// hook (`TestFreeze`), and where upcastctl asks. (UPCAST_CONTROL_SOCKET and UPCAST_CONTROL_TOKEN_FILE, which it
    /// reads too, are keys.)
    static let foreignVariables = ["UPCAST_SOCKET", "UPCAST_CONFIG", "UPCAST_TEST_FREEZE", "UPCAST_CONTROL_URL"]

    /// Applies every `UPCAST_` variable, in the order of their names, lists by index.
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
        // Index before name, so that number 10 does not come before number 2.
        for (index, name, key) in destinations.sorted(by: { ($0.index, $0.name) < ($1.index, $1.name) }) {
            guard index < Configuration.maxDestinations else {
                report(
                    .environment(name), "", "there is no destination \(index)",
                    "one daemon serves at most \(Configuration.maxDestinations), numbered from 0")
                continue
            }
            guard index <= configuration.destinations.count else {
                report(
                    .environment(name), "", "destination \(index) would leave a gap",
                    "the next one is number \(configuration.destinations.count)")
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
            return report(.environment(name), "", "\(replaced.key) is not a key any more", replaced.value)
        }
        let index = name.dropFirst("UPCAST_DESTINATIONS_".count).prefix { $0.isNumber }
        let candidates = known.sorted() + destinationKeys.map { $0.environmentName(index: Int(index) ?? 0) }
        let parts = name.split(separator: "_")
        let remedy =
            if name.hasPrefix("UPCAST_DESTINATIONS_"), parts.last == "KEY", nearest(name, candidates) == nil {
                "name the variable that holds the stream key in UPCAST_DESTINATIONS_<number>_KEY_ENV, "
                    + "or its file in ..._KEY_FILE"
            } else {
                didYouMean(name, candidates)
                    ?? "the name is UPCAST_<SECTION>_<KEY>; variables that hold stream keys are named in key_env"
            }
        report(.environment(name), "", "no key has this name", remedy)
    }

    /// What Kubernetes puts into every container for a Service whose name begins with "upcast": not ours to refuse.
    private func isServiceLink(_ name: String, _ value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT") { return true }
        guard let range = name.firstRange(of: "_PORT") else { return false }
        let rest = name[range.upperBound...]
        if rest.isEmpty { return value.hasPrefix("tcp://") || value.hasPrefix("udp://") || value.hasPrefix("sctp://") }
        let parts = rest.split(separator: "_")
        return parts.count >= 2 && isDigits(parts[0]) && ["TCP", "UDP", "SCTP"].contains(parts[1])
    }
}
