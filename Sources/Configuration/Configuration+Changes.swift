/// The differences between two configurations, by key and destination name.
package struct ConfigurationChanges: Equatable, Sendable {
    /// Keys with another value, such as `video.width`, in the order of the shipped file. Destination keys are excluded.
    package var keys: [String] = []
    /// Destinations that only the newer configuration has.
    package var added: [DestinationConfiguration] = []
    /// Destinations whose name is in both configurations and whose values differ, with their newer values.
    package var changed: [DestinationConfiguration] = []
    /// Names of destinations that only the older configuration has.
    package var removed: [String] = []
}

extension Configuration {
    package func changes(since old: Configuration) -> ConfigurationChanges {
        var changes = ConfigurationChanges()
        changes.keys = ConfigurationTable.keys.filter { $0.render(self) != $0.render(old) }.map(\.path)
        for destination in destinations {
            guard let before = old.destinations.first(where: { $0.name == destination.name }) else {
                changes.added.append(destination)
                continue
            }
            if before != destination { changes.changed.append(destination) }
        }
        let names = destinations.map(\.name)
        changes.removed = old.destinations.map(\.name).filter { !names.contains($0) }
        return changes
    }
}

extension Configuration {
    /// A key with its value, such as "video.width 1280".
    package func setting(of path: String) -> String {
        let value = ConfigurationTable.keys.first { $0.path == path }.map { "\($0.render(self))" } ?? ""
        return "\(path) \(value)"
    }
}

extension ConfigurationKey {
    fileprivate var path: String { "\(section).\(name)" }
}
