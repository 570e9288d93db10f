import ControlProtocol
import LinuxSystem
import ScreenCapture
import SoundCapture
import UpcastClient

/// What `--list` prints.
struct ScreenList {
    var width: Int
    var height: Int
    var monitors: [ScreenMonitor]
    /// Nil without a sound server.
    var sound: SoundFacts?

    static func print(of command: UpcastScreen) -> ExitStatus {
        do {
            let display = try X11Connection(display: command.display)
            let sound = try? PulseConnection(stop: try EventDescriptor().raw).facts()
            let list = ScreenList(
                width: display.width, height: display.height, monitors: try display.monitors(), sound: sound)
            Swift.print(command.json ? list.json : list.table)
            return .sent
        } catch {
            Report.line("upcast-screen: \(error)")
            return .badScreen
        }
    }

    var table: String {
        var blocks = [
            [("MONITOR", "AREA"), ("(display)", "\(width)x\(height)+0+0")]
                + monitors.map { ($0.name + ($0.isPrimary ? " (primary)" : ""), $0.area.name) }
        ]
        if let sound {
            blocks.append(
                [("SINK (--sound)", "DESCRIPTION")]
                    + sound.sinks.map { (Self.marked($0.name, sound.defaultSink), $0.description) })
            blocks.append(
                [("PROGRAM (--sound app=)", "EXECUTABLE")] + sound.programs.map { ($0.application, $0.binary) })
            blocks.append(
                [("SOURCE (--microphone)", "DESCRIPTION")]
                    + sound.microphones.map { (Self.marked($0.name, sound.defaultSource), $0.description) })
        }
        let columns = blocks.joined().map(\.0.count).max() ?? 0
        return blocks.filter { $0.count > 1 }.map { rows in
            rows.map { name, text in
                name + String(repeating: " ", count: columns - name.count + 2) + text
            }.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    private static func marked(_ name: String, _ standard: String) -> String {
        name == standard ? name + " (default)" : name
    }

    var json: String {
        var members: [JSONValue.Member] = [
            .init("display", .object([.init("width", .integer(width)), .init("height", .integer(height))])),
            .init("monitors", .array(monitors.map(Self.json))),
        ]
        if let sound {
            members.append(.init("sinks", Self.json(sound.sinks, sound.defaultSink)))
            members.append(.init("microphones", Self.json(sound.microphones, sound.defaultSource)))
            members.append(
                .init(
                    "programs",
                    .array(
                        sound.programs.map {
                            .object([.init("name", .string($0.application)), .init("executable", .string($0.binary))])
                        })))
        }
        return String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
    }

    private static func json(_ monitor: ScreenMonitor) -> JSONValue {
        let area = monitor.area
        return .object([
            .init("name", .string(monitor.name)), .init("primary", .bool(monitor.isPrimary)),
            .init("x", .integer(area.x)), .init("y", .integer(area.y)), .init("width", .integer(area.width)),
            .init("height", .integer(area.height)),
        ])
    }

    private static func json(_ devices: [SoundFacts.Device], _ standard: String) -> JSONValue {
        .array(
            devices.map {
                .object([
                    .init("name", .string($0.name)), .init("description", .string($0.description)),
                    .init("default", .bool($0.name == standard)),
                ])
            })
    }
}
