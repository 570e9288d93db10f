internal import Configuration
internal import ControlProtocol
internal import Webhooks

extension Configuration {
    /// The settings of each webhook. A loaded configuration has a URL for each.
    func webhookSettings(environment: [String: String]) -> [WebhookSettings] {
        webhooks.compactMap { hook in
            guard let url = hook.url else { return nil }
            return WebhookSettings(
                name: hook.name, url: url, events: Set(hook.events.names.map(\.rawValue)), caFile: hook.caFile,
                timeout: hook.timeout, schedule: WebhookSchedule(maximumAttempts: hook.maximumAttempts),
                policy: hook.allowPrivate,
                readSecret: { () throws(WebhookSecretError) in
                    do {
                        return try WebhookSecret(hook.secret(environment: environment))
                    } catch {
                        throw WebhookSecretError("\(error)")
                    }
                })
        }
    }

    /// Problems of secrets that can be read but cannot sign deliveries, for `--check-config`.
    func webhookProblems(environment: [String: String], places: ConfigurationPlaces) -> [ConfigurationProblem] {
        webhooks.enumerated().compactMap { index, hook in
            guard let text = try? hook.secret(environment: environment) else { return nil }
            do throws(InvalidWebhookSecret) {
                _ = try WebhookSecret(text)
                return nil
            } catch {
                let path = "webhooks[\(index)].\(hook.secretFile != nil ? "secret_file" : "secret_env")"
                return ConfigurationProblem(
                    place: places[path], key: path, what: "\(error)",
                    remedy: "write whsec_ and the base64 of 24 to 64 random bytes")
            }
        }
    }
}
