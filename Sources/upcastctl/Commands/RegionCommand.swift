import ArgumentParser
import ControlClient
import ControlProtocol

struct RegionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "region",
        abstract: "Hide rectangles of the picture.",
        discussion: "Standing regions apply to this and later broadcasts until they are removed.",
        subcommands: [RegionListCommand.self, RegionAddCommand.self, RegionRemoveCommand.self])
}

struct RegionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List standing regions and their holders.")
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
        commandName: "add", abstract: "Hide a rectangle, or move the region with this name.",
        discussion: "The unit is pixels of the upright picture; with --normalized, fractions of its width and height.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the region.", completion: Completion.regions) var name: String
    @Argument(help: "Distance from the left. Before negative numbers, write the options and --.") var x: Double
    @Argument(help: "Distance from the top.") var y: Double
    @Argument(help: "Width.") var width: Double
    @Argument(help: "Height.") var height: Double
    @Flag(help: "Use fractions of the picture: 0.5 is half of its width or height.") var normalized = false
    @Option(help: "Hide the region for this app, not as an operator.") var app: String?
    @Option(help: "Reason, for the log.") var reason: String?

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
        commandName: "remove", abstract: "Remove one region, or all regions of a holder.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the region (default: all regions of the holder).", completion: Completion.regions)
    var name: String?
    @Option(help: "Remove regions of this app, not of operators.", completion: Completion.apps) var app: String?
    @Option(help: "User ID of the app, if several users have an app with this name.") var user: Int?
    @Option(help: "Reason, for the log.") var reason: String?

    func run() throws {
        let query = [("app", app), ("user", user.map(String.init)), ("name", name), ("reason", reason)]
            .compactMap { key, value in
                value.map { "\(key)=\(ControlClient.escaped($0))" }
            }.joined(separator: "&")
        output.show(
            try control.client().ask("DELETE", query.isEmpty ? "/regions" : "/regions?\(query)"))
    }
}
