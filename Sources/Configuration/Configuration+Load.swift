internal import Glibc
internal import LinuxSystem

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
    /// This configuration with one more destination, written as an item of `destinations` is, in YAML or JSON.
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

/// The whole file at `path`, refused past `limit` bytes.
func readFile(_ path: String, limit: Int) throws(ValueProblem) -> [UInt8] {
    // Without waiting: a pipe that nobody writes to would hold the caller for ever, and is refused below.
    let fd = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard fd >= 0 else {
        throw ValueProblem(what: "cannot be opened: \(Errno.current)", remedy: "check the path and its permissions")
    }
    let descriptor = OwnedDescriptor(fd)
    var status = stat()
    guard unsafe fstat(fd, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw ValueProblem(what: "is not a regular file", remedy: "name a file, not a folder, pipe or device")
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count < bytes.count {
        let got = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe Glibc.read(descriptor.raw, buffer.baseAddress! + count, buffer.count - count)
        }
        if got == 0 { break }
        if got < 0 {
            let error = Errno.current
            if error.code == EINTR { continue }
            throw ValueProblem(what: "cannot be read: \(error)", remedy: "check that it is a file")
        }
        count += got
    }
    guard count <= limit else {
        throw ValueProblem(what: "has more than \(limit) bytes", remedy: "check that it is the right file")
    }
    bytes.removeLast(bytes.count - count)
    return bytes
}
