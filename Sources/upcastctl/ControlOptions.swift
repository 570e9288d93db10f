import ArgumentParser
import ControlClient
import Glibc

/// Which daemon a command asks.
struct ControlOptions: ParsableArguments {
    static let defaultSocket = "/run/upcast/control.sock"

    @Option(
        help: ArgumentHelp(
            "The daemon's control socket (default: $UPCAST_CONTROL_SOCKET, or \(defaultSocket)).",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where it answers over TCP instead, as http://127.0.0.1:9180 (default: $UPCAST_CONTROL_URL).",
            valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "File with the token that it asks for over TCP (default: $UPCAST_CONTROL_TOKEN_FILE).", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    func validate() throws {
        if socket != nil, url != nil { throw ValidationError("--socket and --url name two daemons; give one of them") }
        if socket != nil, tokenFile != nil {
            throw ValidationError("--token-file is for --url; a socket asks for none")
        }
        if let url {
            do { _ = try ControlAddress(url: url) } catch { throw ValidationError("\(error)") }
        }
    }

    /// The command line comes before the environment, and there the URL before the socket.
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

    /// Empty is as good as unset.
    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
