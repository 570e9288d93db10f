extension ConfigurationTable {
    /// The keys of one webhook.
    static var webhookKeys: [ConfigurationKey<WebhookConfiguration>] {
        [
            ConfigurationKey(
                "webhooks", "name", \.name, .word("name", example: "hook", maxBytes: 32),
                "Unique name in logs, status and metrics.", memory: nothing),
            ConfigurationKey(
                "webhooks", "url", \.url, .webhookURL,
                "Where events are posted. No output shows the path, which may contain a token.",
                memory: "0.3 MiB for each webhook, 0.6 MiB with https://."),
            ConfigurationKey(
                "webhooks", "events", \.events, .events,
                "Events to deliver.", memory: nothing),
            ConfigurationKey(
                "webhooks", "secret_file", \.secretFile, .optionalPath,
                "File, or systemd credential:NAME (LoadCredential=NAME:...), whose first line is the secret that "
                    + "signs deliveries: at least 24 bytes, or whsec_ and base64; read at each attempt. Required "
                    + "without secret_env.",
                memory: nothing),
            ConfigurationKey(
                "webhooks", "secret_env", \.secretEnvironment, .optionalVariable,
                "Environment variable with the secret.", memory: nothing),
            ConfigurationKey(
                "webhooks", "ca_file", \.caFile, .optionalPath,
                "Trusted certificates (PEM), in place of the system's.", memory: nothing),
            ConfigurationKey(
                "webhooks", "timeout_ms", \.timeout, .milliseconds(100...60_000), unit: "ms",
                "Timeout for one attempt, from name resolution to answer.", memory: nothing),
            ConfigurationKey(
                "webhooks", "max_attempts", \.maximumAttempts, .integer(1...20),
                "Attempts after which a delivery is given up.",
                memory: nothing),
            ConfigurationKey(
                "webhooks", "allow_private", \.allowPrivate, .privateAddresses,
                "Private, loopback and link-local addresses that the URL may resolve to. A host name allows all its "
                    + "addresses but those of metadata servers.",
                memory: nothing),
        ]
    }
}
