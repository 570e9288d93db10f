import ArgumentParser
import ControlClient
import Glibc

/// The daemon that a command connects to.
struct ControlOptions: ParsableArguments {
    static let defaultSocket = "/run/upcast/control.sock"

    @Option(
        help: ArgumentHelp(
            "Control socket of the daemon (default: $UPCAST_CONTROL_SOCKET, or \(defaultSocket)).",
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
        if socket != nil, url != nil {
            throw ValidationError("--socket and --url exclude each other; remove one of them")
        }
        if socket != nil, tokenFile != nil {
            throw ValidationError("--token-file applies to --url; a socket needs no token")
        }
        if let url {
            do { _ = try ControlAddress(url: url) } catch { throw ValidationError("\(error)") }
        }
    }

    /// Makes the client. The command line overrides the environment. In the environment, the URL overrides the socket.
    func client() throws -> ControlClient {
        if let socket { return ControlClient(address: .unix(socket)) }
        guard let url = url ?? Self.environment("UPCAST_CONTROL_URL") else {
            return ControlClient(address: .unix(Self.environment("UPCAST_CONTROL_SOCKET") ?? Self.defaultSocket))
        }
        let address: ControlAddress
        do { address = try ControlAddress(url: url) } catch { throw ValidationError("UPCAST_CONTROL_URL: \(error)") }
        let file = tokenFile ?? Self.environment("UPCAST_CONTROL_TOKEN_FILE")
        return ControlClient(address: address, token: try file.map { try AccessToken(file: $0) })
    }

    /// The value of a variable; nil if it is unset or empty.
    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
