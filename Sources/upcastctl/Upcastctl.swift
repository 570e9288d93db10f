import ArgumentParser
import Glibc

/// The operator's tool: asks a running daemon over its control socket.
struct Upcastctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcastctl",
        abstract: "Looks at a running upcastd, and commands it.",
        discussion: """
            Exit codes: 0 success, 1 wrong usage, 2 the daemon cannot be reached, 3 the daemon answered with an error.
            """,
        subcommands: [StatusCommand.self, DestinationCommand.self, RetryCommand.self])
}

/// How this program ends; scripts rely on the numbers.
enum ExitStatus: Int32 {
    case usage = 1
    case unreachable = 2
    case refused = 3
}

/// ArgumentParser would end with 64 for wrong usage; here every code is our own.
@main
enum Main {
    static func main() {
        do {
            var command = try Upcastctl.parseAsRoot()
            try command.run()
        } catch let error as ControlClientError {
            fail("upcastctl: \(error)", error.exitStatus)
        } catch  where Upcastctl.exitCode(for: error).isSuccess {
            print(Upcastctl.fullMessage(for: error)) // --help
        } catch {
            fail(Upcastctl.fullMessage(for: error), .usage)
        }
    }

    private static func fail(_ message: String, _ status: ExitStatus) -> Never {
        let line = message + "\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
        exit(status.rawValue)
    }
}
