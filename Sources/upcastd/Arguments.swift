internal import Configuration

/// The command line. The daemon uses no argument parser: swift-argument-parser depends on FoundationEssentials, which
/// needs more resident memory than all other non-media code in the daemon (docs/dependencies.md).
struct Arguments: Equatable {
    enum Action: Equatable {
        case run, checkConfiguration, printPlan, printVersion, printHelp
    }

    var action = Action.run
    /// Nil for the built-in defaults and the environment.
    var configurationPath: String?

    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String], environment: [String: String]) throws(Invalid) {
        // Environment files and containers use an empty value for an unset variable.
        configurationPath = environment["UPCAST_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config", "-c":
                guard let path = rest.popFirst(), !path.isEmpty else {
                    throw Invalid(description: "\(argument) requires the path of a file")
                }
                configurationPath = path
            case _ where argument.hasPrefix("--config="):
                configurationPath = String(argument.dropFirst("--config=".count))
            case "--check-config": action = .checkConfiguration
            case "--plan": action = .printPlan
            case "--version", "-V": action = .printVersion
            case "--help", "-h": action = .printHelp
            default: throw Invalid(description: "unknown argument \(argument); \(Self.remedy(for: argument))")
            }
        }
    }

    private static let options = ["--config", "--check-config", "--plan", "--version", "--help"]

    /// What the user may have meant. A path without an option is the file, as in other daemons.
    private static func remedy(for argument: String) -> String {
        guard argument.hasPrefix("-") else { return "did you mean --config \(argument)?" }
        let name = String(argument.prefix { $0 != "=" })
        return Suggestion.sentence(for: name, options) ?? "--config FILE names a file, --help lists all options"
    }

    static let help = """
        usage: upcastd [--config FILE] [--check-config | --plan]

        Receive raw samples from a capture client on a Unix socket, encode them and publish to all destinations.

          -c, --config FILE   configuration file, YAML (default: $UPCAST_CONFIG, else built-in defaults)
              --check-config  check the configuration and its key files, and exit
              --plan          print the memory plan of the configuration, and exit
          -V, --version       print the version, and exit
          -h, --help          print this help, and exit

        The environment can set every key of the configuration: UPCAST_VIDEO_WIDTH=1920,
        UPCAST_DESTINATIONS_0_URL=rtmp://host/app. Config/upcastd.yaml documents all keys.

        Exit status:
           0  stopped, and all queued packets were sent (earlier drops do not count)
           3  stopped before all queued packets were sent, or no broadcast was ever published
          64  usage error
          69  a required socket, thread or library is unavailable (the error message names it)
          70  stopped, but a thread was blocked
          78  invalid configuration
        """
}
