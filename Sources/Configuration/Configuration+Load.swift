extension Configuration {
    /// A configuration file may hold this many bytes; the shipped one has about 12 KiB.
    package static let maxFileBytes = 256 * 1024

    /// Reads the file at `path` (nil: no file, defaults only), then the environment, which wins.
    ///
    /// Reads nothing else: key files and certificates are opened when a destination connects, and by
    /// `problemsOnThisMachine`. Throws all problems at once.
    package static func load(path: String?, environment: [String: String]) throws(ConfigurationError) -> Configuration {
        try loadWithPlaces(path: path, environment: environment).configuration
    }

    /// The same, with where each value was written.
    package static func loadWithPlaces(
        path: String?, environment: [String: String]
    ) throws(ConfigurationError) -> (configuration: Configuration, places: ConfigurationPlaces) {
        guard let path else { return try loadWithPlaces(text: nil, path: "", environment: environment) }
        let bytes: [UInt8]
        do {
            bytes = try readFile(path, limit: maxFileBytes)
        } catch {
            let place = ConfigurationProblem.Place.file(path, line: 1, column: 1)
            throw ConfigurationError(problems: [
                ConfigurationProblem(place: place, key: "", what: error.what, remedy: error.remedy)
            ])
        }
        return try loadWithPlaces(text: bytes, path: path, environment: environment)
    }

    /// As `load(path:environment:)` with the file's bytes in hand; `path` is what messages call it.
    package static func load(
        text: [UInt8]?, path: String, environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        try loadWithPlaces(text: text, path: path, environment: environment).configuration
    }

    private static func loadWithPlaces(
        text: [UInt8]?, path: String, environment: [String: String]
    ) throws(ConfigurationError) -> (configuration: Configuration, places: ConfigurationPlaces) {
        var loader = ConfigurationLoader(path: path)
        if let text { loader.read(text) }
        loader.read(environment: environment)
        loader.checkTogether()
        guard loader.problems.isEmpty else { throw ConfigurationError(problems: loader.sortedProblems) }
        return (loader.configuration, ConfigurationPlaces(byKey: loader.origins))
    }
}

extension Configuration {
    /// This configuration with one more destination, written as an item of `destinations` is, in YAML or JSON, by
    /// whoever may send requests: `ConfigurationLoader.confineSecrets` says what that one may name.
    ///
    /// - Parameter source: what messages call the text.
    package func adding(destination text: [UInt8], from source: String) throws(ConfigurationError) -> Configuration {
        var loader = ConfigurationLoader(path: source)
        loader.configuration = self
        loader.readDestination(text)
        loader.checkTogether()
        guard loader.problems.isEmpty else { throw ConfigurationError(problems: loader.sortedProblems) }
        return loader.configuration
    }
}
