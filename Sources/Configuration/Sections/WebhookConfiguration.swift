package import ControlProtocol
package import Endpoints
package import MediaCore
internal import Wording

/// One receiver of events.
package struct WebhookConfiguration: Equatable, Sendable {
    /// Name in the log, the status and metrics: at most 32 letters, digits, `.`, `_` and `-`.
    package var name = "hook"
    /// Nil until it is read. `Configuration.load` returns no webhook without it.
    package var url: WebhookURL?
    package var events = EventList(Self.defaultEvents)
    /// A file whose first line is the secret. It is read for each attempt.
    package var secretFile: String?
    /// The name of the environment variable with the secret.
    package var secretEnvironment: String?
    /// Trusted certificates (PEM) instead of the system's.
    package var caFile: String?
    /// For one attempt.
    package var timeout = MediaTime.milliseconds(15_000)
    package var maximumAttempts = 8
    /// Private addresses that may be connected to.
    package var allowPrivate = AddressPolicy()

    package init() {}

    /// What most receivers want to know.
    private static let defaultEvents: [DaemonEvent.Name] = [
        .broadcastStarted, .broadcastEnded, .broadcastFailed, .airStateChanged, .destinationFailed,
    ]
}

/// Names of events.
package struct EventList: Equatable, Sendable {
    package var names: [DaemonEvent.Name] = []

    package init(_ names: [DaemonEvent.Name] = []) { self.names = names }
}

extension ValueKind where Value == EventList {
    static var events: ValueKind {
        // A hook that hears of its own failures would fail for ever.
        let known = DaemonEvent.Name.allCases.filter { $0 != .webhookFailed }.map(\.rawValue)
        return ValueKind(
            summary: "events of docs/control.md but `webhook_failed`, separated by commas",
            parse: { text throws(ValueProblem) in
                var list = EventList()
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let name = part.trimmingSpaces
                    guard known.contains(name), let event = DaemonEvent.Name(rawValue: name) else {
                        throw ValueProblem(
                            what: "unknown event \"\(printable(name))\"",
                            remedy: name == DaemonEvent.Name.webhookFailed.rawValue
                                ? "remove it: a webhook cannot report failures of webhooks"
                                : didYouMean(name, known) ?? "the table in docs/control.md has the names")
                    }
                    if !list.names.contains(event) { list.names.append(event) }
                }
                return list
            },
            render: { "\"" + $0.names.map(\.rawValue).joined(separator: ", ") + "\"" })
    }
}

extension ValueKind where Value == AddressPolicy {
    static var privateAddresses: ValueKind {
        ValueKind(
            summary: "addresses, ranges such as 10.0.0.0/8 and host names, separated by commas, or \"\" for none",
            parse: { text throws(ValueProblem) in
                var policy = AddressPolicy()
                guard text.contains(where: { $0 != " " }) else { return policy }
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let item = part.trimmingSpaces
                    guard policy.allow(item) else {
                        throw ValueProblem(
                            what: "\"\(printable(item))\" is neither an address nor a range nor a host name",
                            remedy: "write items such as \"127.0.0.1, 10.0.0.0/8, fd00::/8, hooks.lan\"")
                    }
                }
                return policy
            },
            render: { quoted($0.items.joined(separator: ", ")) })
    }
}

extension ValueKind where Value == WebhookURL? {
    /// Messages never quote the URL, because it may contain a token.
    static var webhookURL: ValueKind {
        ValueKind(
            summary: WebhookURL.form,
            parse: { text throws(ValueProblem) in
                do throws(InvalidWebhookURL) { return try WebhookURL(text) } catch {
                    throw ValueProblem(what: error.what, remedy: error.remedy)
                }
            },
            render: { $0.map { quoted("\($0)/***") } ?? "\"\"" })
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
