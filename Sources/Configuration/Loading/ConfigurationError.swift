/// All problems of a configuration. One check reports them together.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// At least one problem. Problems of the file come first, in its order; problems of the environment follow.
    package let problems: [ConfigurationProblem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One problem of a configuration: place, cause and remedy. It never contains a value that may be a secret.
package struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible {
    /// Where a value was written.
    package enum Place: Equatable, Sendable, CustomStringConvertible {
        /// Line and column count from 1.
        case file(String, line: Int, column: Int)
        /// A file that cannot be read.
        case wholeFile(String)
        /// A request's text. Its sender needs no place: the message names the key.
        case request(line: Int, column: Int)
        /// The name of an environment variable.
        case environment(String)
        /// No place: the value is a built-in default.
        case defaults
        /// The state of the machine, such as a missing file or a folder that is not writable.
        case machine

        package var description: String {
            switch self {
            case .file(let path, let line, let column): "\(path):\(line):\(column)"
            case .wholeFile(let path): path
            case .request(let line, let column): "line \(line), column \(column)"
            case .environment(let name): "environment variable \(name)"
            case .defaults: "built-in default"
            case .machine: "on this machine"
            }
        }
    }

    package var place: Place
    /// The key's path, such as `video.width` or `destinations[0].url`. Empty if the problem concerns no key.
    package var key: String
    package var what: String
    /// The remedy, in words that can follow "what; ".
    package var remedy: String

    package init(place: Place, key: String, what: String, remedy: String) {
        self.place = place
        self.key = key
        self.what = what
        self.remedy = remedy
    }

    package var description: String {
        let subject = subject
        return "\(subject.isEmpty ? "" : "\(subject): ")\(what)\(remedy.isEmpty ? "" : "; \(remedy)")"
    }

    /// Place and key, each said once.
    private var subject: String {
        switch place {
        case .request:
            // A request has one destination, whose number means nothing to its sender.
            guard key.hasPrefix("destinations["), let end = key.firstIndex(of: "]") else {
                return key.isEmpty ? "\(place)" : key
            }
            return String(key[key.index(after: end)...].drop { $0 == "." })
        case .environment(let name) where name == Self.variable(of: key): return "\(place)"
        case .file, .wholeFile, .environment, .defaults, .machine:
            return key.isEmpty ? "\(place)" : "\(place): \(key)"
        }
    }

    /// `UPCAST_DESTINATIONS_0_URL` of `destinations[0].url`.
    private static func variable(of key: String) -> String {
        "UPCAST_" + key.replacing("].", with: "_").map { $0 == "." || $0 == "[" ? "_" : "\($0)" }.joined().uppercased()
    }
}

extension [ConfigurationProblem] {
    /// In the order of the file; those of the environment and of the machine follow.
    var inOrder: [ConfigurationProblem] {
        func rank(_ place: ConfigurationProblem.Place) -> (Int, Int) {
            switch place {
            case .file(_, let line, let column), .request(let line, let column): (line, column)
            case .wholeFile: (0, 0)
            case .environment, .defaults, .machine: (.max, 0)
            }
        }
        // `sort` is not stable, so the index breaks ties.
        return enumerated().sorted { a, b in
            let (left, right) = (rank(a.element.place), rank(b.element.place))
            return left == right ? a.offset < b.offset : left < right
        }.map(\.element)
    }
}

/// Where each value of a configuration was written. Later checks use it in their messages.
package struct ConfigurationPlaces: Sendable {
    /// By key path. A missing key has its default.
    var byKey: [String: ConfigurationProblem.Place] = [:]

    package init() {}
    init(byKey: [String: ConfigurationProblem.Place]) { self.byKey = byKey }

    package subscript(key: String) -> ConfigurationProblem.Place { byKey[key] ?? .machine }
}
