import ArgumentParser
import ControlClient
import ControlProtocol
import LinuxSystem

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the daemons of this machine with their state.",
        discussion: """
            The command finds control.sock and NAME/control.sock in \(RuntimeFolder.standard) (if that does not exist: \
            the user's $XDG_RUNTIME_DIR/upcast), or in the folder of UPCAST_RUNTIME_DIRECTORY. A daemon that does \
            not answer within a second is listed with the reason.
            """)
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let folder = InstanceFolder()
        guard !folder.isUnreadable else {
            throw ControlClientError.unreachable(
                "no permission to read the folder \(TerminalText.printable(folder.path)); run the command as root")
        }
        let reports = InstanceSurvey.ask(folder.all)
        guard !json else { return OutputOptions.print(InstanceTable.json(reports)) }
        guard !reports.isEmpty else { return Output.note("no daemons in \(TerminalText.printable(folder.path))") }
        let columns = Output.isTerminal ? Terminal.size.columns : .max
        Output.write(Array(InstanceTable.text(reports, columns: columns).utf8))
    }
}
