/// Everything that is wrong with a configuration, so that one run is enough to mend it all.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// At least one, in the order of the file, those of the environment last.
    package let problems: [ConfigurationProblem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong: where, what, and what would be right. Never holds a value that may be a secret.
package struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible {
    /// Where a value was written.
    package enum Place: Equatable, Sendable, CustomStringConvertible {
        /// Line and column count from 1.
        case file(String, line: Int, column: Int)
        /// The name of an environment variable.
        case environment(String)
        /// Nowhere: a built-in default takes part in the conflict.
        case defaults
        /// The machine as it is: a file that is missing, a folder that cannot be written to.
        case machine

        package var description: String {
            switch self {
            case .file(let path, let line, let column): "\(path):\(line):\(column)"
            case .environment(let name): "environment variable \(name)"
            case .defaults: "built-in default"
            case .machine: "on this machine"
            }
        }
    }

    package var place: Place
    /// The key's path, such as `video.width` or `destinations[0].url`; empty when no key is concerned.
    package var key: String
    package var what: String
    /// What would be right, as a sentence that can follow "what; ".
    package var remedy: String

    package init(place: Place, key: String, what: String, remedy: String) {
        self.place = place
        self.key = key
        self.what = what
        self.remedy = remedy
    }

    package var description: String {
        "\(place): \(key.isEmpty ? "" : "\(key): ")\(what)\(remedy.isEmpty ? "" : "; \(remedy)")"
    }
}

/// Where each value of a configuration was written, for what turns out to be wrong with it later.
package struct ConfigurationPlaces: Sendable {
    /// By the key's path; a key that is missing has its default.
    var byKey: [String: ConfigurationProblem.Place] = [:]

    package init() {}
    init(byKey: [String: ConfigurationProblem.Place]) { self.byKey = byKey }

    package subscript(key: String) -> ConfigurationProblem.Place { byKey[key] ?? .machine }
}
