import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc
import MediaCore
internal import ProductVersion

/// The operator's tool: asks a running daemon over its control socket, or over TCP.
struct Upcastctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcastctl",
        abstract: "Looks at a running upcastd, and commands it.",
        discussion: """
            Exit status: 0 done; 1 the daemon refused, or it is not so (not healthy, not ready, a wrong \
            configuration); 2 the daemon cannot be reached, or something else answers; 64 wrong usage. With --json, an \
            error is an object on standard output, too, as the daemon writes it: \
            {"error":{"code":"...","message":"..."}}; but not of wrong usage.
            """,
        version: "upcastctl \(Version.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "Looking",
                subcommands: [
                    StatusCommand.self, TopCommand.self, WatchCommand.self, SnapshotCommand.self, HealthCommand.self,
                    ReadyCommand.self, StateCommand.self, PlanCommand.self,
                ]),
            CommandGroup(
                name: "Commanding",
                subcommands: [
                    StopCommand.self, PauseCommand.self, ResumeCommand.self, BitrateCommand.self, KeyframeCommand.self,
                    RetryCommand.self, DestinationCommand.self, LogLevelCommand.self, CurtainCommand.self,
                    RegionCommand.self, ProtectionCommand.self,
                ]),
            CommandGroup(name: "Setting up", subcommands: [ConfigCommand.self, CompletionCommand.self]),
        ])
}

@main
enum Main {
    static func main() {
        do {
            var command = try Upcastctl.parseAsRoot()
            try command.run()
        } catch let error as ControlClientError {
            let json = CommandLine.arguments.dropFirst().prefix(while: { $0 != "--" }).contains("--json")
            fail(error, json: json, error.exitStatus)
        } catch let status as ExitCode {
            exit(status.rawValue)
        } catch  where Upcastctl.exitCode(for: error).isSuccess {
            Output.line(Upcastctl.fullMessage(for: error)) // --help
        } catch {
            fail(Upcastctl.fullMessage(for: error), ExitStatus.usage.rawValue)
        }
    }

    /// What went wrong between here and the daemon.
    static func fail(_ error: ControlClientError, json: Bool, _ status: ExitStatus) -> Never {
        if json { OutputOptions.print(error.report.json) }
        fail("upcastctl: \(error)", status.rawValue)
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        try? Output.write(Array((message + "\n").utf8), to: STDERR_FILENO)
        exit(status)
    }
}
