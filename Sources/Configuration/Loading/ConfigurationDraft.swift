/// A configuration as far as it is valid: refused values have their defaults. For `--check-config`, which names the
/// mistakes of a file and those of the machine together.
package struct ConfigurationDraft: Sendable {
    package let configuration: Configuration
    package let places: ConfigurationPlaces
    /// What the file and the environment have wrong, in their order. Empty for a valid configuration.
    package let problems: [ConfigurationProblem]
    /// False if nothing of the file could be read. The defaults then say nothing about it.
    package let isReadable: Bool

    /// Reads the file at `path` (nil: defaults only), then the environment.
    ///
    /// - Throws: if the file cannot be read at all.
    package init(path: String?, environment: [String: String]) throws(ConfigurationError) {
        let text = try path.map { path throws(ConfigurationError) in try Configuration.text(of: path) }
        self = Configuration.draft(text: text, path: path ?? "", environment: environment)
    }

    /// - Parameter loader: has read everything.
    init(_ loader: ConfigurationLoader) {
        (configuration, problems) = (loader.configuration, loader.sortedProblems)
        (places, isReadable) = (ConfigurationPlaces(byKey: loader.origins), !loader.isUnreadable)
    }

    /// Whether all keys of these sections are valid, so that what follows from them means something.
    package func isValid(_ sections: String...) -> Bool {
        !problems.contains { problem in problem.key.isEmpty || sections.contains { problem.key.hasPrefix($0) } }
    }

    /// The problems, and those of `found` that concern no key with a problem of its own.
    package func problems(and found: [ConfigurationProblem]) -> [ConfigurationProblem] {
        let known = Set(problems.map(\.key))
        return (problems + found.filter { !known.contains($0.key) }).inOrder
    }
}
