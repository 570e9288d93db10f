package import ControlProtocol

extension Configuration {
    /// All keys with their values as in the file. Secrets appear as paths, and URLs are redacted.
    package var json: JSONValue {
        let sections = ConfigurationTable.sections.map { section -> JSONValue.Member in
            guard section.name != "destinations" else {
                return .init("destinations", .array(destinations.map(\.json)))
            }
            guard section.name != "webhooks" else { return .init("webhooks", .array(webhooks.map(\.json))) }
            let keys = ConfigurationTable.keys.filter { $0.section == section.name }
            return .init(section.name, .object(keys.map { .init($0.name, Self.value($0.render(self), $0.schema)) }))
        }
        return .object(sections)
    }

    /// Converts a rendered YAML value: numbers, booleans and mappings keep their type, everything else is text, also a
    /// name such as `1`.
    static func value(_ rendered: String, _ schema: ValueSchema) -> JSONValue {
        guard let parsed = try? JSONParser.parse(Array(rendered.utf8)) else { return .string(rendered) }
        if case .text = schema, case .string = parsed { return parsed }
        if case .text = schema { return .string(rendered) }
        return parsed
    }
}

extension DestinationConfiguration {
    fileprivate var json: JSONValue {
        .object(
            ConfigurationTable.destinationKeys.map { key in
                switch key.name {
                case "url": .init("url", .string(redactedURL))
                // Someone may have written a stream key in place of the variable's name.
                case "key_env": .init("key_env", .string(keyEnvironment == nil ? "" : "***"))
                case "login_env": .init("login_env", .string(loginEnvironment == nil ? "" : "***"))
                default: .init(key.name, Configuration.value(key.render(self), key.schema))
                }
            })
    }
}

extension WebhookConfiguration {
    fileprivate var json: JSONValue {
        .object(
            ConfigurationTable.webhookKeys.map { key in
                // Someone may have written the secret in place of the variable's name.
                guard key.name != "secret_env" else {
                    return .init("secret_env", .string(secretEnvironment == nil ? "" : "***"))
                }
                return .init(key.name, Configuration.value(key.render(self), key.schema))
            })
    }
}
