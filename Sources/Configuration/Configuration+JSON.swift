package import ControlProtocol

extension Configuration {
    /// Every key with its value as the file would have it; secrets are paths here, and URLs are redacted.
    package var json: JSONValue {
        let sections = ConfigurationTable.sections.map { section -> JSONValue.Member in
            guard section.name != "destinations" else {
                return .init("destinations", .array(destinations.map(\.json)))
            }
            let keys = ConfigurationTable.keys.filter { $0.section == section.name }
            return .init(section.name, .object(keys.map { .init($0.name, Self.value($0.render(self))) }))
        }
        return .object(sections)
    }

    /// What YAML writes plainly as a number or a word of its own, and everything else as text.
    static func value(_ rendered: String) -> JSONValue {
        if let parsed = try? JSONParser.parse(Array(rendered.utf8)) { return parsed }
        return .string(rendered)
    }
}

extension DestinationConfiguration {
    fileprivate var json: JSONValue {
        .object(
            ConfigurationTable.destinationKeys.map { key in
                switch key.name {
                case "url": .init("url", .string(redactedURL))
                // A key may have been written in the place of its variable's name.
                case "key_env": .init("key_env", .string(keyEnvironment == nil ? "" : "***"))
                case "login_env": .init("login_env", .string(loginEnvironment == nil ? "" : "***"))
                default: .init(key.name, Configuration.value(key.render(self)))
                }
            })
    }
}
