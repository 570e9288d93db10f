import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc
import LinuxSystem
import MediaCore
internal import ProductVersion

/// The operator's tool: controls a running daemon over its control socket or TCP.
struct Upcastctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcastctl",
        abstract: "Monitor and control a running upcastd.",
        discussion: """
            Without -i, --socket and --url, the only daemon of this machine is used. Exit status: 0 success; 1 \
            refused, not done, or the answer is no (not healthy, not ready, invalid configuration); 2 daemon \
            unreachable, or another server answers; 64 usage error. With --json, errors except usage errors are also \
            printed to standard output as {"error":{"code":"...","message":"..."}}.
            """,
        version: "upcastctl \(Version.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "Monitoring",
                subcommands: [
                    ListCommand.self, StatusCommand.self, TopCommand.self, EventsCommand.self, SnapshotCommand.self,
                    HealthCommand.self, ReadyCommand.self, StateCommand.self, PlanCommand.self,
                ]),
            CommandGroup(
                name: "Control",
                subcommands: [
                    StopCommand.self, PauseCommand.self, ResumeCommand.self, BitrateCommand.self, KeyframeCommand.self,
                    RetryCommand.self, DestinationCommand.self, LogLevelCommand.self, ReloadCommand.self,
                    CurtainCommand.self,
                    RegionCommand.self, ProtectionCommand.self,
                ]),
            CommandGroup(name: "Setup", subcommands: [ConfigCommand.self, CompletionCommand.self]),
        ])
}

@main
enum Main {
    static func main() {
        StandardStreams.occupy()
        let arguments = LeadingOptions.moved(Array(CommandLine.arguments.dropFirst()))
        do {
            var command = try Upcastctl.parseAsRoot(arguments)
            let type = type(of: command)
            // A group of commands without a command is a mistake, and not a request for help.
            guard type.configuration.subcommands.isEmpty else {
                fail(Upcastctl.helpMessage(for: type), ExitStatus.usage.rawValue)
            }
            try command.run()
        } catch let error as ControlClientError {
            fail(error, json: arguments.prefix { $0 != "--" }.contains("--json"), error.exitStatus)
        } catch let error as UsageError {
            fail("upcastctl: \(error)", ExitStatus.usage.rawValue)
        } catch let status as ExitCode {
            exit(status.rawValue)
        } catch  where Upcastctl.exitCode(for: error).isSuccess {
            // The message is that of --help, or names for a shell to complete. No names must not print an empty line.
            let message = Upcastctl.fullMessage(for: error)
            if !message.isEmpty { Output.line(message) }
        } catch {
            let message = UnknownCommand(in: arguments).map { "Error: \($0)" } ?? Upcastctl.fullMessage(for: error)
            fail(message, ExitStatus.usage.rawValue)
        }
    }

    /// Reports an error of the connection to the daemon.
    static func fail(_ error: ControlClientError, json: Bool, _ status: ExitStatus) -> Never {
        if json { OutputOptions.print(error.report.json) }
        fail("upcastctl: \(error)", status.rawValue)
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        try? OutputBytes.write(Array((message + "\n").utf8), to: STDERR_FILENO)
        exit(status)
    }
}
