import ControlClient
import ControlProtocol
import Glibc
import MediaCore

/// `state --follow`: prints the capture state and each change. It reconnects after a lost connection.
///
/// While the state is unknown, it prints that as a line, so that readers do not rely on the previous line.
struct StateFollower {
    /// The daemon sends something each second.
    static let silenceSeconds: Int64 = 4

    private let client: ControlClient
    private let json: Bool
    /// The last printed state, without its duration; nil if the state is unknown.
    private var last: CaptureStateReport?
    private var isLost = false

    init(_ client: ControlClient, json: Bool) {
        self.client = client
        self.json = json
    }

    /// Runs until interrupted. Throws if the first connection fails.
    consuming func run() throws {
        var connection: EventConnection? = try EventConnection(client, "/state/events")
        while true {
            do throws(ControlClientError) {
                let open = if let connection { connection } else { try EventConnection(client, "/state/events") }
                connection = open
                try follow(open)
            } catch {
                connection = nil
                lose(error)
                sleep(1)
            }
        }
    }

    private mutating func follow(_ connection: EventConnection) throws(ControlClientError) {
        while true {
            guard connection.wait(seconds: Self.silenceSeconds) else {
                throw .unanswered("the daemon has sent nothing for \(Self.silenceSeconds) s")
            }
            for event in try connection.next() {
                guard let data = try? JSONParser.parse(Array(event.data.utf8)) else {
                    throw .unintelligible("an event is not JSON")
                }
                show(try StateCommand.state(data), data)
            }
        }
    }

    private mutating func show(_ state: CaptureStateReport, _ data: JSONValue) {
        isLost = false
        var comparable = state
        comparable.milliseconds = 0
        comparable.waitingFor = []
        guard comparable != last else { return }
        last = comparable
        if json {
            OutputOptions.print(data, pretty: false)
        } else {
            Output.line(StateCommand.line(state))
        }
    }

    private mutating func lose(_ error: ControlClientError) {
        guard !isLost else { return }
        isLost = true
        last = nil
        Output.note("\(error); retrying every second")
        if json {
            OutputOptions.print(.object([.init("captured", .null)]), pretty: false)
        } else {
            Output.line("unknown; assume that the screen is captured")
        }
    }
}
