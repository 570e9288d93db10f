internal import Grabbing
internal import UpcastClient

/// Places that show a secure window that is no longer there. Pure.
///
/// Without a compositing manager, an X server has one picture for all windows. A window without a background shows what
/// was at its place until its program draws, and takes those pixels along when it moves. DAMAGE reports what programs
/// draw as rectangles, which may be larger. So these places stay hidden until they are painted over.
struct GhostPixels: Sendable {
    private struct Ghost {
        /// The window that has left; 0 for several.
        var window: UInt32
        /// The window was secure then, whatever it is later.
        var isCertain: Bool
        var parts: [CaptureRectangle]
        var box: CaptureRectangle { parts.dropFirst().reduce(parts[0]) { $0.joined(with: $1) } }
    }

    /// A dragged window leaves a ghost at each step.
    private static let maxGhosts = 24
    private var ghosts: [Ghost] = []

    var isEmpty: Bool { ghosts.isEmpty }
    var places: [CaptureRectangle] { ghosts.flatMap(\.parts) }
    func contains(where isMatch: (CaptureRectangle) -> Bool) -> Bool {
        ghosts.contains { $0.parts.contains(where: isMatch) }
    }
    func forEachPlace(_ body: (CaptureRectangle) -> Void) {
        for ghost in ghosts { for part in ghost.parts { body(part) } }
    }

    /// Notes that a place shows a window that may be secure, or will show it when that window moves.
    ///
    /// - Parameters:
    ///   - isCertain: whether the window was secure then.
    ///   - bounds: the root window; nothing is seen outside of it.
    mutating func note(
        _ place: CaptureRectangle, of window: UInt32, isCertain: Bool = true, in bounds: CaptureRectangle
    ) {
        guard let part = place.intersection(bounds) else { return }
        // The same place is noted, and no part of it was painted over since.
        if let same = ghosts.firstIndex(where: { $0.window == window && $0.parts == [part] }) {
            return ghosts[same].isCertain = ghosts[same].isCertain || isCertain
        }
        ghosts.append(Ghost(window: window, isCertain: isCertain, parts: [part]))
        if ghosts.count > Self.maxGhosts { joinOldest() }
    }

    /// Joins the oldest ghost to the one that grows the least. A ghost of two windows then belongs to none.
    private mutating func joinOldest() {
        let oldest = ghosts.removeFirst()
        let (place, boxes) = (oldest.box, ghosts.map(\.box))
        guard let index = CaptureRectangle.leastGrown(boxes, by: place) else { return }
        if ghosts[index].window != oldest.window { ghosts[index].window = 0 }
        ghosts[index].isCertain = ghosts[index].isCertain || oldest.isCertain
        ghosts[index].parts = [boxes[index].joined(with: place)]
    }

    /// Forgets the ghosts that a window left while it was unknown, because it is not secure.
    mutating func forget(_ window: UInt32) { ghosts.removeAll { $0.window == window && !$0.isCertain } }

    /// Marks all ghosts of a window as secret, because it is secure or can no longer be read.
    mutating func certify(_ window: UInt32) {
        for index in ghosts.indices where ghosts[index].window == window { ghosts[index].isCertain = true }
    }

    /// Removes the places that were painted over.
    mutating func erased(_ areas: [CaptureRectangle]) {
        for index in ghosts.indices {
            ghosts[index].parts = CaptureRectangle.parts(of: ghosts[index].parts, without: areas)
        }
        ghosts.removeAll { $0.parts.isEmpty }
    }

    /// A window has moved, and has taken its pixels along.
    mutating func moved(from old: CaptureRectangle, to new: CaptureRectangle, in bounds: CaptureRectangle) {
        for index in ghosts.indices {
            let inside = ghosts[index].parts.compactMap { $0.intersection(old) }
            add(
                inside.compactMap {
                    CaptureRectangle(
                        x: $0.x - old.x + new.x, y: $0.y - old.y + new.y, width: $0.width, height: $0.height
                    ).intersection(bounds)
                }, to: index)
        }
    }

    /// Pixels at a window's old place may have been copied anywhere in its new place, which may be the same.
    mutating func spread(
        from old: CaptureRectangle, to new: CaptureRectangle, in bounds: CaptureRectangle
    ) {
        guard let new = new.intersection(bounds) else { return }
        for index in ghosts.indices where ghosts[index].parts.contains(where: { $0.intersection(old) != nil }) {
            add([new], to: index)
        }
    }

    private mutating func add(_ parts: [CaptureRectangle], to index: Int) {
        let new = parts.filter { part in !ghosts[index].parts.contains { $0.contains(part) } }
        if !new.isEmpty { ghosts[index].parts = CaptureRectangle.joined(ghosts[index].parts + new) }
    }
}

extension CaptureRectangle {
    var area: Int { width * height }

    func contains(_ other: Self) -> Bool { intersection(other) == other }

    /// The parts, or their bounding box if they are more than 16.
    static func joined(_ parts: [Self]) -> [Self] {
        guard parts.count > 16 else { return parts }
        return [parts.dropFirst().reduce(parts[0]) { $0.joined(with: $1) }]
    }

    /// What remains of parts outside some areas. It may be too large, if there were many parts.
    static func parts(of parts: [Self], without areas: [Self]) -> [Self] {
        joined(areas.reduce(parts) { parts, area in parts.flatMap { $0.without(area) } })
    }

    /// The index of the rectangle that grows the least if a place is joined to it; nil if there is none.
    static func leastGrown(_ rectangles: [Self], by place: Self) -> Int? {
        func growth(_ rectangle: Self) -> Int { rectangle.joined(with: place).area - rectangle.area }
        return rectangles.indices.min { growth(rectangles[$0]) < growth(rectangles[$1]) }
    }

    /// The parts of this rectangle outside another one: at most four rectangles.
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
