import ArgumentParser
import ControlClient
import ControlProtocol

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show the memory plan of the running daemon, by purpose.",
        discussion: "upcastd --plan shows the memory plan of a configuration file.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let memory = StatusReport(json: try control.client().get("/status")).memory
        guard !output.json else {
            return OutputOptions.print(
                .object([
                    .init("plan", .object(memory.plan.map { .init($0.name, .integer($0.value)) })),
                    .init("plan_bytes", .integer(memory.planBytes)), .init("cap_bytes", .integer(memory.capBytes)),
                ]))
        }
        Output.write(Array(Self.text(memory).utf8))
    }

    static func text(_ memory: MemoryStatus) -> String {
        var rows = memory.plan.map { (StatusText.words($0.name), Quantity.bytes($0.value)) }
        rows.append(("total", Quantity.bytes(memory.planBytes)))
        rows.append(("memory.cap_bytes", Quantity.bytes(memory.capBytes)))
        rows = rows.map { (TerminalText.printable($0.0), $0.1) }
        let names = rows.reduce(0) { max($0, TerminalText.width($1.0)) }
        let sizes = rows.reduce(0) { max($0, $1.1.count) }
        return rows.map { name, size in
            let space = String(repeating: " ", count: 2 + sizes - size.count)
            return TerminalText.padded(name, to: names) + space + size + "\n"
        }.joined()
    }
}
