internal import Grabbing
internal import UpcastClient

/// Places that still show a secure window which is not there any more. Pure.
///
/// An X server without a compositing manager has one picture for all windows. Where a window leaves, the windows below
/// are drawn again by their programs; until then, those without a background show what was there.
struct GhostPixels: Sendable {
    private struct Ghost {
        /// The window that has left; 0 for several.
        var window: UInt32
        /// The window was secure, whatever it is afterwards.
        var isCertain: Bool
        var parts: [CaptureRectangle]
    }

    /// More parts of one place are joined to fewer that are larger.
    private static let maxParts = 16
    /// A window that is dragged leaves one at each step.
    private static let maxGhosts = 24
    private var ghosts: [Ghost] = []
    /// Where a report of something drawn may be wrong, until the next picture.
    private var doubtful: [CaptureRectangle] = []

    var isEmpty: Bool { ghosts.isEmpty }
    var places: [CaptureRectangle] { ghosts.flatMap(\.parts) }
    func forEachPlace(_ body: (CaptureRectangle) -> Void) {
        for ghost in ghosts { for part in ghost.parts { body(part) } }
    }

    /// A window that may be secure has left a place.
    ///
    /// - Parameters:
    ///   - isCertain: it was secure then.
    ///   - bounds: the root window; nothing is seen outside of it.
    mutating func note(
        _ place: CaptureRectangle, of window: UInt32, isCertain: Bool = true, in bounds: CaptureRectangle
    ) {
        guard let part = place.intersection(bounds) else { return }
        // The same place again: nothing of it has been drawn since.
        if let same = ghosts.firstIndex(where: { $0.window == window && $0.parts == [part] }) {
            return ghosts[same].isCertain = ghosts[same].isCertain || isCertain
        }
        ghosts.append(Ghost(window: window, isCertain: isCertain, parts: [part]))
        if ghosts.count > Self.maxGhosts { joinOldest() }
    }

    /// The oldest one becomes a part of the next one of the same window; or else of the next one, then nobody's.
    private mutating func joinOldest() {
        let oldest = ghosts.removeFirst()
        let same = ghosts.firstIndex { $0.window == oldest.window }
        let index = same ?? 0
        if same == nil { ghosts[index].window = 0 }
        ghosts[index].isCertain = ghosts[index].isCertain || oldest.isCertain
        let all = oldest.parts + ghosts[index].parts
        ghosts[index].parts = [all.dropFirst().reduce(all[0]) { $0.joined(with: $1) }]
    }

    /// A window is not secure: what it left while nobody knew that is no secret.
    mutating func forget(_ window: UInt32) { ghosts.removeAll { $0.window == window && !$0.isCertain } }

    /// A window has moved or has another size. The server copies what it showed, and reports as drawn where that would
    /// be if nothing lay above it and the window had its old size, at whichever edge.
    mutating func copied(from old: CaptureRectangle, to new: CaptureRectangle) {
        let (right, down) = (max(0, old.width - new.width), max(0, old.height - new.height))
        doubt(
            CaptureRectangle(
                x: new.x - right, y: new.y - down, width: new.width + 2 * right, height: new.height + 2 * down))
    }

    /// Until the next picture, nothing that is reported as drawn there counts.
    mutating func doubt(_ area: CaptureRectangle) {
        if !doubtful.contains(area) { doubtful = Self.joined(doubtful + [area]) }
    }

    /// A picture was made: what is reported from here on is drawn.
    mutating func endPicture() { doubtful.removeAll(keepingCapacity: true) }

    /// Something was drawn after all that was noted so far.
    mutating func drawn(_ area: CaptureRectangle) {
        guard !ghosts.isEmpty else { return }
        let areas = doubtful.reduce([area]) { areas, doubtful in areas.flatMap { $0.without(doubtful) } }
        for index in ghosts.indices {
            for area in areas { ghosts[index].parts = Self.parts(ghosts[index].parts, without: area) }
        }
        ghosts.removeAll { $0.parts.isEmpty }
    }

    /// A window has moved, and has taken its pixels along.
    mutating func moved(from old: CaptureRectangle, to new: CaptureRectangle, in bounds: CaptureRectangle) {
        for index in ghosts.indices {
            let inside = ghosts[index].parts.compactMap { $0.intersection(old) }
            ghosts[index].parts += inside.compactMap {
                CaptureRectangle(x: $0.x - old.x + new.x, y: $0.y - old.y + new.y, width: $0.width, height: $0.height)
                    .intersection(bounds)
            }
            ghosts[index].parts = Self.joined(ghosts[index].parts)
        }
    }

    private static func parts(_ parts: [CaptureRectangle], without area: CaptureRectangle) -> [CaptureRectangle] {
        joined(parts.flatMap { $0.without(area) })
    }

    private static func joined(_ parts: [CaptureRectangle]) -> [CaptureRectangle] {
        guard parts.count > maxParts, let first = parts.first else { return parts }
        return [parts.dropFirst().reduce(first) { $0.joined(with: $1) }]
    }
}

extension CaptureRectangle {
    /// What is left of it without another one: at most four rectangles.
    func without(_ other: Self) -> [Self] {
        guard let hole = intersection(other) else { return [self] }
        let (right, bottom) = (x + width, y + height)
        let (holeRight, holeBottom) = (hole.x + hole.width, hole.y + hole.height)
        return [
            Self(x: x, y: y, width: width, height: hole.y - y),
            Self(x: x, y: holeBottom, width: width, height: bottom - holeBottom),
            Self(x: x, y: hole.y, width: hole.x - x, height: hole.height),
            Self(x: holeRight, y: hole.y, width: right - holeRight, height: hole.height),
        ].filter { $0.width > 0 && $0.height > 0 }
    }
}
