import ScreenCapture
import UpcastClient

/// What `--list` prints.
enum ScreenList {
    static func print(of command: UpcastScreen) -> ExitStatus {
        do {
            let display = try X11Connection(display: command.display)
            let monitors = try display.monitors()
            Swift.print(
                command.json
                    ? json(display.width, display.height, monitors) : table(display.width, display.height, monitors))
            return .sent
        } catch {
            Report.line("upcast-screen: \(error)")
            return .badScreen
        }
    }

    static func table(_ width: Int, _ height: Int, _ monitors: [ScreenMonitor]) -> String {
        var rows = [("MONITOR", "AREA"), ("(display)", "\(width)x\(height)+0+0")]
        rows += monitors.map { ($0.name + ($0.isPrimary ? " (primary)" : ""), $0.area.name) }
        let columns = rows.map(\.0.count).max() ?? 0
        return rows.map { name, area in
            name + String(repeating: " ", count: columns - name.count + 2) + area
        }.joined(separator: "\n")
    }

    static func json(_ width: Int, _ height: Int, _ monitors: [ScreenMonitor]) -> String {
        let list = monitors.map { monitor in
            let area = monitor.area
            return "{\"name\":\(quoted(monitor.name)),\"primary\":\(monitor.isPrimary),\"x\":\(area.x),\"y\":\(area.y),"
                + "\"width\":\(area.width),\"height\":\(area.height)}"
        }
        return "{\"display\":{\"width\":\(width),\"height\":\(height)},\"monitors\":[\(list.joined(separator: ","))]}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
