import ControlProtocol
import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import PortalCapture
import ScreenCapture
import SoundCapture
import UpcastClient
import WaylandCapture
import Wording

/// What `--list` prints: tables, or members of a JSON object.
struct ScreenList {
    private var tables: [[[String]]] = []
    private var members: [JSONValue.Member] = []

    static func print(of command: UpcastScreen) -> ExitStatus {
        do {
            try command.refuseEmptyOptions()
            let (compositor, isNamed) = (try command.compositor(), command.wayland != nil)
            let (portal, display) = (command.portal, command.display)
            let server = compositor.map(DisplayServer.wayland) ?? (portal ? .desktop : .x11(display))
            let answers = AnswerWatch {}
            let silent = { () throws in throw ScreenError(server.silence("nothing can be listed")) }
            var (list, status) = (ScreenList(), ExitStatus.sent)
            do {
                let screens = try DisplayCall.run(answers, stop: -1, silent: silent) {
                    var list = ScreenList()
                    if let compositor {
                        try list.add(compositor: compositor, withPortal: !isNamed, answers)
                    } else if portal {
                        list.add(try PortalConnection().facts())
                    } else {
                        try list.add(display: display, answers)
                    }
                    return list
                }
                if let screens { list = screens }
            } catch let error as ScreenError {
                // Sound is listed without a screen, too.
                Report.line("upcast-screen: \(error)")
                status = .badScreen
            }
            try list.addSound()
            guard command.json || !list.tables.isEmpty else { return status }
            do {
                let text = command.json ? list.json : list.table
                try OutputBytes.write(Array((text + "\n").utf8), to: STDOUT_FILENO)
            } catch {
                Report.line("upcast-screen: cannot write the list: \(error)")
                return .refused
            }
            return status
        } catch let mistake as ScreenPlan.Mistake {
            Report.line("upcast-screen: \(mistake)")
            return .usage
        } catch {
            Report.line("upcast-screen: \(error)")
            return .badScreen
        }
    }

    var table: String { tables.map(Self.aligned).joined(separator: "\n\n") }
    var json: String { String(decoding: JSONValue.object(members).serialized(), as: UTF8.self) }

    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows[0].indices.map { column in rows.map(\.[column].count).max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { row[$0] + String(repeating: " ", count: columns[$0] - row[$0].count) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    private mutating func add(display: String?, _ answers: AnswerWatch) throws {
        let display = try X11Connection(display: display, answers: answers)
        add(width: display.width, height: display.height, try display.monitors())
        add(try display.facts(of: display.watchWindows().map(\.window)).sorted { $0.key < $1.key }.map(\.value))
    }

    /// - Parameter withPortal: whether the compositor is the session's, to which a portal belongs.
    private mutating func add(compositor: String, withPortal: Bool, _ answers: AnswerWatch) throws {
        let connection = try WaylandConnection(socket: compositor, answers: answers)
        let portal = withPortal ? try? PortalConnection().facts() : nil
        if let lack = connection.lack {
            guard portal != nil else { throw withPortal ? ScreenSource.noPortal(lack) : ScreenSource.noOutput(lack) }
        } else {
            add(connection.outputs.known)
        }
        if let portal { add(portal) }
    }

    /// Names and titles come from other programs: nothing in them may act on a terminal, or look like another row.
    private mutating func add(_ head: [String], _ rows: [[String]]) {
        if !rows.isEmpty { tables.append([head] + rows.map { $0.map(\.withHiddenCharactersReplaced) }) }
    }

    /// Adds the devices and programs of the sound server, if it answers.
    private mutating func addSound() throws {
        let stop = try EventDescriptor()
        do {
            add(try PulseConnection(stop: stop.raw, patience: .seconds(2)).facts())
        } catch PulseConnection.OpenFailure.silent, PulseConnection.Interruption.silent {
            Report.line("upcast-screen: \(PulseConnection.silence); the list is without sound")
        } catch PulseConnection.OpenFailure.failed(let error) {
            Report.line("upcast-screen: \(error); the list is without sound")
        } catch {
            Report.line("upcast-screen: the sound server has ended the connection; the list is without sound")
        }
    }

    /// A display, in pixels.
    mutating func add(width: Int, height: Int, _ monitors: [ScreenMonitor]) {
        add(
            ["MONITOR", "AREA"],
            [["(display)", "\(width)x\(height)+0+0"]]
                + monitors.map { [$0.name + ($0.isPrimary ? " (primary)" : ""), $0.area.name] })
        members.append(.init("display", .object([.init("width", .integer(width)), .init("height", .integer(height))])))
        members.append(
            .init(
                "monitors",
                .array(
                    monitors.map {
                        .object(
                            [.init("name", .string($0.name)), .init("primary", .bool($0.isPrimary))]
                                + Self.members($0.area))
                    })))
    }

    /// The area in the desktop, in logical pixels; the size of frames, and the orientation that they are sent with.
    mutating func add(_ outputs: [WaylandOutput]) {
        add(
            ["MONITOR", "AREA", "PIXELS", "ORIENTATION"],
            outputs.map {
                [$0.name, $0.area.name, "\($0.width)x\($0.height)", "\($0.transform.orientation())"]
            })
        members.append(
            .init(
                "monitors",
                .array(
                    outputs.map {
                        .object(
                            [.init("name", .string($0.name))] + Self.members($0.area) + [
                                .init("pixel_width", .integer($0.width)), .init("pixel_height", .integer($0.height)),
                                .init("orientation", .integer(Int($0.transform.orientation().rawValue))),
                            ])
                    })))
    }

    mutating func add(_ portal: PortalFacts) {
        let (sources, pointers) = (portal.sourceNames, portal.pointerNames)
        add(
            ["PORTAL (--portal)", "VERSION", "SHARES", "POINTER"],
            [[
                "ScreenCast", "\(portal.version)", sources.joined(separator: ", "), pointers.joined(separator: ", "),
            ]])
        members.append(
            .init(
                "portal",
                .object([
                    .init("version", .integer(portal.version)), .init("shares", .array(sources.map { .string($0) })),
                    .init("pointer", .array(pointers.map { .string($0) })),
                ])))
    }

    /// Adds the windows that an application shows.
    mutating func add(_ windows: [WindowFacts]) {
        let shown = windows.filter {
            $0.isViewable && !$0.isInputOnly && !$0.isEmptyFrame && !($0.className + $0.title).isEmpty
        }
        add(
            ["WINDOW (--window)", "CLASS", "TITLE"],
            shown.map { ["0x" + String($0.client, radix: 16), $0.className, String($0.title.prefix(50))] })
        members.append(
            .init(
                "windows",
                .array(
                    shown.map {
                        .object([
                            .init("number", .integer(Int($0.client))), .init("class", .string($0.className)),
                            .init("title", .string($0.title)),
                        ])
                    })))
    }

    mutating func add(_ sound: SoundFacts) {
        add(["SINK (--sound)", "DESCRIPTION"], sound.sinks.map { Self.row($0, sound.defaultSink) })
        add(["PROGRAM (--sound app=)", "EXECUTABLE"], sound.programs.map { [$0.application, $0.binary] })
        add(["SOURCE (--microphone)", "DESCRIPTION"], sound.microphones.map { Self.row($0, sound.defaultSource) })
        members.append(.init("sinks", Self.json(sound.sinks, sound.defaultSink)))
        members.append(
            .init(
                "programs",
                .array(
                    sound.programs.map {
                        .object([.init("name", .string($0.application)), .init("executable", .string($0.binary))])
                    })))
        members.append(.init("microphones", Self.json(sound.microphones, sound.defaultSource)))
    }

    private static func members(_ area: CaptureRectangle) -> [JSONValue.Member] {
        [
            .init("x", .integer(area.x)), .init("y", .integer(area.y)), .init("width", .integer(area.width)),
            .init("height", .integer(area.height)),
        ]
    }

    private static func row(_ device: SoundFacts.Device, _ standard: String) -> [String] {
        [device.name + (device.name == standard ? " (default)" : ""), device.description]
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
