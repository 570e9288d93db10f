import ArgumentParser
import ControlProtocol

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination",
        abstract: "Adds and removes destinations while the daemon runs.",
        discussion: "What is changed here lasts until the daemon ends.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows every destination with its state.")
        @OptionGroup var control: ControlOptions

        func run() throws {
            let report = StatusReport(json: try control.client.get("/status"))
            for destination in report.destinations {
                print("\(destination.name)  \(destination.state.rawValue)  \(destination.url)")
            }
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds a destination; a live broadcast begins there with the next keyframe.",
            discussion: """
                Settings are those of the configuration file's destinations, as name=value: \
                upcastctl destination add second rtmp://host/app key_file=/etc/upcast/key
                """)
        @OptionGroup var control: ControlOptions
        @Argument(help: "What logs and status call it.") var name: String
        @Argument(help: "rtmp:// or rtmps:// URL, file:/path, or a path that ends in .flv.") var url: String
        @Argument(help: "Further settings, as name=value.") var settings: [String] = []

        func validate() throws {
            for setting in settings where setting.firstIndex(of: "=") == nil {
                throw ValidationError("\"\(setting)\" is not name=value")
            }
        }

        func run() throws {
            var members = [JSONValue.Member("name", .string(name)), JSONValue.Member("url", .string(url))]
            for setting in settings {
                let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                members.append(JSONValue.Member(String(parts[0]), .string(String(parts[1]))))
            }
            let body = String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
            try control.client.ask("POST", "/destinations", body: body)
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends a destination in order, while the others go on.")
        @OptionGroup var control: ControlOptions
        @Argument(help: "Its name.") var name: String

        func run() throws {
            try control.client.ask("DELETE", "/destinations?name=\(ControlClient.escaped(name))")
        }
    }
}

struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Destinations that wait for their next attempt make it now.")
    @OptionGroup var control: ControlOptions
    @Argument(help: "Only the one of this name.") var name: String?

    func run() throws {
        let query = name.map { "?name=\(ControlClient.escaped($0))" } ?? ""
        try control.client.ask("POST", "/destinations/retry\(query)")
    }
}
