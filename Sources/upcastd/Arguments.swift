/// The command line. Five options do not earn an argument parser: the one for Swift brings FoundationEssentials, which
/// costs the daemon more resident memory than everything else in it that is not media (docs/dependencies.md).
struct Arguments: Equatable {
    enum Action: Equatable {
        case run, checkConfiguration, printPlan, printVersion, printHelp
    }

    var action = Action.run
    /// Nil: the built-in defaults and the environment.
    var configurationPath: String?

    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String], environment: [String: String]) throws(Invalid) {
        // Empty is as good as unset: that is how an environment file or a container says that there is none.
        configurationPath = environment["UPCAST_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config", "-c":
                guard let path = rest.popFirst(), !path.isEmpty else {
                    throw Invalid(description: "\(argument) needs the path of a file")
                }
                configurationPath = path
            case _ where argument.hasPrefix("--config="):
                configurationPath = String(argument.dropFirst("--config=".count))
            case "--check-config": action = .checkConfiguration
            case "--plan": action = .printPlan
            case "--version", "-V": action = .printVersion
            case "--help", "-h": action = .printHelp
            default: throw Invalid(description: "unknown argument \(argument); upcastd --help lists them")
            }
        }
    }

    static let help = """
        usage: upcastd [--config FILE] [--check-config | --plan]

        Takes raw sample buffers from a capture client at a Unix socket and pushes one broadcast to its destinations.

          -c, --config FILE   configuration (YAML); default: $UPCAST_CONFIG, else built-in defaults
              --check-config  check the configuration, its key files included, and exit
              --plan          print the memory plan of the configuration and exit
          -V, --version       print the version and exit
          -h, --help          print this

        Every key of the configuration can be given in the environment: UPCAST_VIDEO_WIDTH=1920,
        UPCAST_DESTINATIONS_0_URL=rtmp://host/app. Config/upcastd.yaml documents all of them.

        Exit status: 0 stopped, and all that was left at the end was sent (packets that were lost before
        do not count); 3 stopped, but not everything could be sent in time, or there were broadcasts and
        nothing was ever published; 64 wrong usage; 69 something it needs is not there (the sentence says
        what); 78 wrong configuration.
        """
}
