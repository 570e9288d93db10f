import ArgumentParser
import ControlClient

/// The daemon that a command connects to.
struct ControlOptions: ParsableArguments {
    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp(
            "Instance, as in upcastd@NAME (default: $UPCAST_INSTANCE, or the only one). See upcastctl list.",
            valueName: "name"),
        completion: Completion.instances)
    var instance: String?

    @Option(
        help: ArgumentHelp(
            "Control socket of the daemon (default: $UPCAST_CONTROL_SOCKET, or that of the instance).",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "URL for access over TCP, such as http://127.0.0.1:9180 (default: $UPCAST_CONTROL_URL).",
            valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "File with the access token for --url (default: $UPCAST_CONTROL_TOKEN_FILE).", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    func validate() throws {
        let given = [("--instance", instance), ("--socket", socket), ("--url", url)].filter { $0.1 != nil }.map(\.0)
        if given.count > 1 {
            throw ValidationError("\(given.joined(separator: " and ")) exclude each other; use one of them")
        }
        if given.first == "--socket" || given.first == "--instance", tokenFile != nil {
            throw ValidationError("--token-file applies to --url; a socket needs no token")
        }
        if let url {
            do { _ = try ControlAddress(url: url) } catch { throw ValidationError("\(error)") }
        }
    }

    /// Makes the client. The command line overrides the environment. In the environment, the URL comes first, then
    /// the socket, then the instance. Without all of them, the only daemon of this machine is used.
    ///
    /// - Throws: `UsageError` if the user has to choose, or if a file of the user cannot be used.
    func client() throws -> ControlClient {
        if let socket { return ControlClient(address: .unix(socket)) }
        if let url { return try remote(url, "--url") }
        if let instance { return try local(instance) }
        if let url = Environment.value("UPCAST_CONTROL_URL") { return try remote(url, "UPCAST_CONTROL_URL") }
        if let socket = Environment.value("UPCAST_CONTROL_SOCKET") { return ControlClient(address: .unix(socket)) }
        if let instance = Environment.value("UPCAST_INSTANCE") { return try local(instance) }
        return ControlClient(address: .unix(try InstanceFolder().only().socket))
    }

    private func local(_ name: String) throws -> ControlClient {
        ControlClient(address: .unix(try InstanceFolder().named(name).socket))
    }

    private func remote(_ url: String, _ from: String) throws -> ControlClient {
        let address: ControlAddress
        do { address = try ControlAddress(url: url) } catch { throw UsageError(description: "\(from): \(error)") }
        guard let file = tokenFile ?? Environment.value("UPCAST_CONTROL_TOKEN_FILE") else {
            return ControlClient(address: address)
        }
        do throws(ControlClientError) {
            return ControlClient(address: address, token: try AccessToken(file: file))
        } catch {
            throw UsageError(description: "\(error)")
        }
    }
}
