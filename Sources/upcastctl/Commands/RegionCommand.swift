import ArgumentParser
import ControlClient
import ControlProtocol

struct RegionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "region",
        abstract: "Keeps rectangles of the picture hidden.",
        discussion: "They stay hidden, in this broadcast and those that follow, until they are removed.",
        subcommands: [RegionListCommand.self, RegionAddCommand.self, RegionRemoveCommand.self])
}

struct RegionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists what is kept hidden, and for whom.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.client().ask("GET", "/status")
        let regions = StatusReport(json: answer).privacy.regions
        guard !output.json else {
            return output.show(.object([.init("regions", .array(regions.map(\.json)))]))
        }
        if regions.isEmpty { Output.line("none") }
        for region in regions {
            let place = "\(region.width)x\(region.height) at \(region.x), \(region.y)"
            Output.line(
                TerminalText.printable(
                    "\(region.name), for \(StatusText.holder(region.holder, region.user)): \(place) (\(region.unit))"
                ))
        }
    }
}

struct RegionAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Hides a rectangle, or moves the one of that name.",
        discussion: "In pixels of the upright picture, or with --normalized in parts of its width and height.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "What it is called.") var name: String
    @Argument(help: "Pixels from the left; where a number is negative, options first and then --.") var x: Double
    @Argument(help: "Pixels from the top.") var y: Double
    @Argument(help: "Pixels across.") var width: Double
    @Argument(help: "Pixels down.") var height: Double
    @Flag(help: "The numbers are parts of the picture: 0.5 is half of it.") var normalized = false
    @Option(help: "Hide it for this app, and not as an operator.") var app: String?
    @Option(help: "Why, for the log.") var reason: String?

    func run() throws {
        var request = RegionRequest()
        (request.app, request.name, request.reason) = (app, name, reason)
        (request.x, request.y, request.width, request.height) = (x, y, width, height)
        request.unit = normalized ? .normalized : .pixels
        output.show(try control.client().ask("POST", "/regions", body: request.json))
    }
}

struct RegionRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Shows a rectangle again, or all of one holder's.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "What it is called; all of the holder's without it.") var name: String?
    @Option(help: "One of this app's, and not of the operator's.") var app: String?
    @Option(help: "Of several users' apps of that name, this user's (a number).") var user: Int?
    @Option(help: "Why, for the log.") var reason: String?

    func run() throws {
        let query = [("app", app), ("user", user.map(String.init)), ("name", name), ("reason", reason)]
            .compactMap { key, value in
                value.map { "\(key)=\(ControlClient.escaped($0))" }
            }.joined(separator: "&")
        output.show(
            try control.client().ask("DELETE", query.isEmpty ? "/regions" : "/regions?\(query)"))
    }
}
