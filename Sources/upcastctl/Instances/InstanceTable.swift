import ControlClient
import ControlProtocol

/// What `upcastctl list` prints. Pure.
enum InstanceTable {
    /// A table with one row for each instance. If an instance does not answer, the reason follows its row.
    static func text(_ reports: [InstanceReport], columns: Int) -> String {
        let header = ["NAME", "STATE", "SINCE", "CLIENT", "DESTINATIONS"]
        let table = TextTable.lines([header] + reports.map(cells))
        var lines = TerminalText.wrapped(table[0], to: columns, indent: 2)
        for (report, row) in zip(reports, table.dropFirst()) {
            lines += TerminalText.wrapped(row, to: columns, indent: 2)
            guard let reason = reason(report) else { continue }
            lines += TerminalText.wrapped("  " + reason, to: columns, indent: 2)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func cells(_ report: InstanceReport) -> [String] {
        guard case .status(let json) = report.answer else {
            return [report.instance.name, word(report.answer), "-", "-", "-"]
        }
        let status = StatusReport(json: json)
        let state = ShownState(status)
        let destinations = status.destinations.map { "\($0.name) \($0.state.rawValue)" }
        return [
            report.instance.name, state.word, "\(Quantity.seconds(state.milliseconds)) ago", status.client?.name ?? "-",
            destinations.isEmpty ? "none" : destinations.joined(separator: ", "),
        ]
    }

    /// One or two words that replace the state.
    private static func word(_ answer: InstanceReport.Answer) -> String {
        switch answer {
        case .status: ""
        case .waiting: "not started"
        case .failure(let error):
            switch error {
            case .nobodyListens: "stale"
            case .noSocket: "gone"
            case .unanswered: "no answer"
            case .unreachable: "unreachable"
            case .refused: "refused"
            case .unintelligible, .captureSocket, .unusable: "unknown"
            }
        }
    }

    private static func reason(_ report: InstanceReport) -> String? {
        switch report.answer {
        case .status: nil
        case .waiting: "systemd starts it for the first client, or: systemctl start upcastd@\(report.instance.name)"
        case .failure(let error): "\(error)"
        }
    }

    static func json(_ reports: [InstanceReport]) -> JSONValue {
        .object([.init("instances", .array(reports.map(json)))])
    }

    private static func json(_ report: InstanceReport) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(report.instance.name)), .init("socket", .string(report.instance.socket)),
        ]
        switch report.answer {
        case .waiting: members.append(.init("state", .string("not_started")))
        case .failure(let error):
            members.append(.init("state", .null))
            if let body = error.report.json["error"] { members.append(.init("error", body)) }
        case .status(let status):
            // The daemon's values are passed on unchanged, because newer daemons have more of them.
            for name in ["state", "state_ms", "air", "client"] {
                if let value = status[name] { members.append(.init(name, value)) }
            }
            let destinations = StatusReport(json: status).destinations.map { destination in
                JSONValue.object([
                    .init("name", .string(destination.name)), .init("state", .string(destination.state.rawValue)),
                ])
            }
            members.append(.init("destinations", .array(destinations)))
        }
        return .object(members)
    }
}
