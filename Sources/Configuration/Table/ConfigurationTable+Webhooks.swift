extension ConfigurationTable {
    /// The keys of one webhook.
    static var webhookKeys: [ConfigurationKey<WebhookConfiguration>] {
        [
            ConfigurationKey(
                "webhooks", "name", \.name, .word("name", example: "hook", maxBytes: 32),
                "Name in the log, the status and metrics. It must be unique.", memory: nothing),
            ConfigurationKey(
                "webhooks", "url", \.url, .webhookURL,
                "Where events are posted. No output shows the path, which may contain a token. Redirects are not "
                    + "followed.",
                memory: "0.3 MiB for each webhook, and 0.3 MiB more with https://."),
            ConfigurationKey(
                "webhooks", "events", \.events, .events, "The events that are delivered.", memory: nothing),
            ConfigurationKey(
                "webhooks", "secret_file", \.secretFile, .optionalPath,
                "File whose first line is the secret that deliveries are signed with: at least 24 bytes, or whsec_ and "
                    + "base64. Either it or secret_env is required. The daemon reads the file at each attempt. "
                    + "credential:NAME is a systemd credential (LoadCredential=NAME:...).",
                memory: nothing),
            ConfigurationKey(
                "webhooks", "secret_env", \.secretEnvironment, .optionalVariable,
                "Name of the environment variable that holds the secret.", memory: nothing),
            ConfigurationKey(
                "webhooks", "ca_file", \.caFile, .optionalPath,
                "Trusted certificates (PEM) for https://, in place of the system's.", memory: nothing),
            ConfigurationKey(
                "webhooks", "timeout_ms", \.timeout, .milliseconds(100...60_000), unit: "ms",
                "Timeout for one attempt: name resolution, TCP, TLS, request and answer.", memory: nothing),
            ConfigurationKey(
                "webhooks", "max_attempts", \.maximumAttempts, .integer(1...20),
                "Attempts after which a delivery is given up. The first delay is 1 s. Each further delay is twice as "
                    + "long, up to 5 minutes, minus a random part of up to half.",
                memory: nothing),
            ConfigurationKey(
                "webhooks", "allow_private", \.allowPrivate, .privateAddresses,
                "Private, loopback and link-local addresses that the URL may resolve to. Others are refused. A host "
                    + "name allows all its addresses but those of metadata servers.",
                memory: nothing),
        ]
    }
}
