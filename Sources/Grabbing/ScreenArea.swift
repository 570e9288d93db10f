internal import IngestProtocol
package import UpcastClient

/// A monitor of a display, in pixels of its root window.
package struct ScreenMonitor: Equatable, Sendable {
    package var name: String
    package var area: CaptureRectangle
    package var isPrimary: Bool

    package init(name: String, area: CaptureRectangle, isPrimary: Bool) {
        (self.name, self.area, self.isPrimary) = (name, area, isPrimary)
    }
}

/// The part of a display that is captured. Pure.
package enum ScreenArea: Equatable, Sendable {
    case display
    case monitor(String)
    case rectangle(CaptureRectangle)

    /// The shortest and longest side of a picture that the daemon takes, in pixels.
    package static let sides = IngestLimits.sides
    package static let limits = "sides are \(sides.lowerBound) to \(sides.upperBound) pixels"

    package static func canBeSent(width: Int, height: Int) -> Bool { sides.contains(width) && sides.contains(height) }

    /// Where the area lies now.
    ///
    /// - Parameters:
    ///   - width: of the root window, in pixels.
    ///   - height: of the root window, in pixels.
    /// - Throws: if the area does not exist now, or cannot be sent.
    package func place(width: Int, height: Int, monitors: [ScreenMonitor]) throws(ScreenError) -> CaptureRectangle {
        let root = CaptureRectangle(x: 0, y: 0, width: width, height: height)
        var wanted = root
        switch self {
        case .display: if let monitor = Self.substitute(for: root, monitors) { wanted = monitor.area }
        case .rectangle(let rectangle): wanted = rectangle
        case .monitor(let name):
            guard let monitor = monitors.first(where: { $0.name == name }) else {
                let names = monitors.map(\.name).joined(separator: ", ")
                throw ScreenError(
                    "the display has no monitor \(name)" + (names.isEmpty ? "" : "; it has \(names)"),
                    isTemporary: true)
            }
            wanted = monitor.area
        }
        guard let place = wanted.intersection(root) else {
            throw ScreenError(
                "the area \(wanted.name) lies outside of the display, which is \(root.name): choose a part of it, as "
                    + "WIDTHxHEIGHT+LEFT+TOP, or a monitor that --list shows", isTemporary: true)
        }
        guard Self.canBeSent(width: place.width, height: place.height) else {
            let isLarge = place.width > Self.sides.upperBound || place.height > Self.sides.upperBound
            let other = Self.fitting(monitors).isEmpty ? "" : "a monitor with --monitor, or "
            let remedy = isLarge ? "; choose \(other)a part with --area" : ""
            let part = place == wanted ? "" : ", the part of \(wanted.name) on the display,"
            throw ScreenError(
                "the area \(place.name)\(part) cannot be sent: \(Self.limits)\(remedy)", isTemporary: true)
        }
        return place
    }

    /// The monitor that is captured in place of a display that is too large; nil for none.
    private static func substitute(for root: CaptureRectangle, _ monitors: [ScreenMonitor]) -> ScreenMonitor? {
        guard root.width > sides.upperBound || root.height > sides.upperBound else { return nil }
        let fitting = fitting(monitors)
        return fitting.first(where: \.isPrimary) ?? fitting.first
    }

    private static func fitting(_ monitors: [ScreenMonitor]) -> [ScreenMonitor] {
        monitors.filter { canBeSent(width: $0.area.width, height: $0.area.height) }
    }

    /// Says that only a part of the display is captured, although the user has not asked for a part; nil otherwise.
    ///
    /// - Parameters: as for `place`.
    package func hint(width: Int, height: Int, monitors: [ScreenMonitor]) -> String? {
        let root = CaptureRectangle(x: 0, y: 0, width: width, height: height)
        guard self == .display, let monitor = Self.substitute(for: root, monitors) else { return nil }
        let others = Self.fitting(monitors).map(\.name).filter { $0 != monitor.name }
        return "the display is \(width)x\(height), and frames have at most \(Self.sides.upperBound) pixels a side: "
            + "only the monitor \(monitor.name) is captured"
            + (others.isEmpty ? "" : "; --monitor chooses another one: \(others.joined(separator: ", "))")
    }
}

extension CaptureRectangle {
    /// The rectangle as options write it: width, height, left and top.
    package var name: String { "\(width)x\(height)\(x < 0 ? "" : "+")\(x)\(y < 0 ? "" : "+")\(y)" }

    /// The area that is in both; nil for none.
    package func intersection(_ other: Self) -> Self? {
        let (left, top) = (max(x, other.x), max(y, other.y))
        let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
        return right > left && bottom > top
            ? Self(x: left, y: top, width: right - left, height: bottom - top) : nil
    }

    /// The same area relative to the corner of another one.
    package func relative(to origin: Self) -> Self {
        Self(x: x - origin.x, y: y - origin.y, width: width, height: height)
    }
}
