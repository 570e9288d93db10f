internal import LinuxSystem

extension Configuration {
    /// The maximum size of a configuration file. The shipped file has about 12 KiB.
    package static let maxFileBytes = 256 * 1024

    /// Reads the file at `path` (nil: defaults only), then the environment, which takes precedence.
    ///
    /// Key files and certificates are not read here, but when a destination connects and by `problemsOnThisMachine`.
    /// The error contains all problems.
    package static func load(path: String?, environment: [String: String]) throws(ConfigurationError) -> Configuration {
        try loadWithPlaces(path: path, environment: environment).configuration
    }

    /// Loads a configuration and records where each value was written.
    package static func loadWithPlaces(
        path: String?, environment: [String: String]
    ) throws(ConfigurationError) -> (configuration: Configuration, places: ConfigurationPlaces) {
        guard let path else { return try loadWithPlaces(text: nil, path: "", environment: environment) }
        return try loadWithPlaces(text: text(of: path), path: path, environment: environment)
    }

    /// Reads the file at `path`.
    static func text(of path: String) throws(ConfigurationError) -> [UInt8] {
        do {
            return try readFile(path, limit: maxFileBytes)
        } catch {
            throw ConfigurationError(problems: [
                ConfigurationProblem(place: .wholeFile(path), key: "", what: error.what, remedy: error.remedy)
            ])
        }
    }

    /// Loads a configuration from the bytes of a file. Messages show `path`.
    package static func load(
        text: [UInt8]?, path: String, environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        try loadWithPlaces(text: text, path: path, environment: environment).configuration
    }

    private static func loadWithPlaces(
        text: [UInt8]?, path: String, environment: [String: String]
    ) throws(ConfigurationError) -> (configuration: Configuration, places: ConfigurationPlaces) {
        let draft = draft(text: text, path: path, environment: environment)
        guard draft.problems.isEmpty else { throw ConfigurationError(problems: draft.problems) }
        return (draft.configuration, draft.places)
    }

    static func draft(text: [UInt8]?, path: String, environment: [String: String]) -> ConfigurationDraft {
        var loader = ConfigurationLoader(path: path)
        loader.configuration.placeSockets(in: RuntimeFolder.path(personal: environment["XDG_RUNTIME_DIR"]))
        if let text { loader.read(text) }
        loader.read(environment: environment)
        loader.checkTogether()
        return ConfigurationDraft(loader)
    }

    /// Sets the default sockets, which have the same names in each folder.
    mutating func placeSockets(in folder: String) {
        ingest.socket = "\(folder)/capture.sock"
        control.socket = "\(folder)/control.sock"
    }

    /// Creates the folder of this user's own default sockets if one of the two is there.
    package func createOwnFolder(environment: [String: String]) {
        let folder = RuntimeFolder.path(personal: environment["XDG_RUNTIME_DIR"])
        guard [ingest.socket, control.socket].contains(where: { $0.hasPrefix("\(folder)/") }) else { return }
        RuntimeFolder.create(folder)
    }
}

extension Configuration {
    /// Returns this configuration with one more destination from a request. The text has the form of an item of
    /// `destinations`, in YAML or JSON. `ConfigurationLoader.confineSecrets` restricts the files that it may name.
    package func adding(destination text: [UInt8]) throws(ConfigurationError) -> Configuration {
        var loader = ConfigurationLoader(path: nil)
        loader.configuration = self
        loader.readDestination(text)
        loader.checkTogether()
        guard loader.problems.isEmpty else { throw ConfigurationError(problems: loader.sortedProblems) }
        return loader.configuration
    }
}
