import ArgumentParser
import ControlClient
import ControlProtocol

struct DestinationAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a destination; a live broadcast begins there with the next keyframe.",
        discussion: """
            Settings are those of the configuration file's destinations, as name=value: \
            upcastctl destination add second rtmp://host/app key_file=/etc/upcast/key
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
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
        output.show(try control.client().ask("POST", "/destinations", body: .object(members)))
    }
}
