internal import LinuxSystem
package import MediaCore
internal import Synchronization

/// A rectangle of the upright picture that viewers must not see until its holder removes it.
package struct StandingRegion: Equatable, Sendable {
    package enum Unit: String, CaseIterable, Sendable {
        /// 0 to 1 of the picture's width and height.
        case normalized
        case pixels

        /// The maximum distance of a region from the picture's corner, and its maximum width and height.
        package var limit: Double {
            switch self {
            case .normalized: 8
            case .pixels: 65_536
            }
        }
    }

    package var holder: PrivacyHolder
    package var name: String
    package var edges: RectEdges
    package var unit: Unit

    package init(holder: PrivacyHolder, name: String, edges: RectEdges, unit: Unit) {
        (self.holder, self.name, self.edges, self.unit) = (holder, name, edges, unit)
    }

    /// The maximum width and height, in pixels, of a client's picture.
    package static let largestPicture = 4096.0

    /// Whether its edges are where a command can place them. Edges from other sources may exceed every number of
    /// pixels.
    package var isWithinLimits: Bool {
        [edges.left, edges.top].allSatisfy { abs($0) <= unit.limit }
            && [edges.right, edges.bottom].allSatisfy { abs($0) <= 2 * unit.limit }
    }

    /// Why the region hides nothing in any picture, and what would be right; nil if it can hide something.
    package var whyItHidesNothing: String? {
        guard edges.left < edges.right else { return "width: more than 0; a region of no width hides nothing" }
        guard edges.top < edges.bottom else { return "height: more than 0; a region of no height hides nothing" }
        let size = unit == .normalized ? 1 : Self.largestPicture
        guard edges.right > 0, edges.bottom > 0, edges.left < size, edges.top < size else {
            return switch unit {
            case .normalized:
                "the region lies outside of the picture, which reaches from 0 to 1; for pixels write unit: pixels"
            case .pixels:
                "the region lies outside of every picture: one has from 1 to \(Int(size)) pixels across and down"
            }
        }
        return nil
    }

    /// The edges in pixels of an upright picture of this size.
    func pixels(width: Double, height: Double) -> RectEdges {
        guard unit == .normalized else { return edges }
        return RectEdges(
            left: edges.left * width, top: edges.top * height, right: edges.right * width,
            bottom: edges.bottom * height)
    }
}

/// The regions that apps keep hidden until they or an operator remove them. The regions of a process that dies stay.
///
/// Any thread.
package final class StandingRegions: Sendable {
    package static let capacity = SecureRegions.capacityPerSource
    /// The maximum for one user's apps and for all apps, so that others find room.
    package static let (userCapacity, appCapacity) = (32, 48)

    package enum Change: Equatable, Sendable { case added, changed, none, full }

    private let regions: Monitor<[StandingRegion]>
    private let number = Atomic<UInt32>(0)
    private let isOff: Atomic<Bool>

    /// - Parameters:
    ///   - isOn: whether the regions are hidden.
    ///   - all: the regions at the start.
    package init(isOn: Bool = true, _ all: [StandingRegion] = []) {
        var room: [StandingRegion] = []
        room.reserveCapacity(Self.capacity)
        room += all
        regions = Monitor(room)
        isOff = Atomic(!isOn)
    }

    /// Turns hiding on or off. The regions are kept either way.
    package func turn(on isOn: Bool) {
        isOff.store(!isOn, ordering: .releasing)
        number.add(1, ordering: .acquiringAndReleasing)
    }

    /// Changes with every change of the regions. Read it before using them, so that a concurrent change is noticed.
    package var version: RegionsVersion { RegionsVersion(changes: number.load(ordering: .acquiring)) }

    package var all: [StandingRegion] { regions.withLock { $0 } }

    /// Adds a region, or replaces the holder's region of the same name.
    package func set(_ region: StandingRegion) -> Change {
        regions.withLock { regions in
            let change: Change
            if let index = regions.firstIndex(where: { $0.holder == region.holder && $0.name == region.name }) {
                guard regions[index] != region else { return .none }
                regions[index] = region
                change = .changed
            } else {
                guard regions.count < Self.capacity else { return .full }
                guard Self.hasRoom(for: region.holder, among: regions) else { return .full }
                regions.append(region)
                change = .added
            }
            number.add(1, ordering: .acquiringAndReleasing)
            return change
        }
    }

    private static func hasRoom(for holder: PrivacyHolder, among regions: [StandingRegion]) -> Bool {
        guard holder.kind == .app else { return true }
        return regions.count { $0.holder.kind == .app } < appCapacity
            && regions.count { $0.holder.isApp(of: holder.user) } < userCapacity
    }

    /// Removes the region with this name or, if `name` is nil, all regions of the holders for which `isMeant` is true.
    /// Returns their number.
    package func remove(_ name: String?, of isMeant: (PrivacyHolder) -> Bool) -> Int {
        regions.withLock { regions in
            let before = regions.count
            regions.removeAll { isMeant($0.holder) && (name == nil || $0.name == name) }
            if regions.count < before { number.add(1, ordering: .acquiringAndReleasing) }
            return before - regions.count
        }
    }

    /// Hides the regions in a stored picture, which `transform` turns upright. Allocates nothing.
    package func hide(in secure: inout SecureRegions, width: Int, height: Int, transform: UprightTransform) {
        regions.withLock { regions in
            guard !regions.isEmpty, !isOff.load(ordering: .acquiring) else { return }
            let upright = transform.swapsAxes ? (height, width) : (width, height)
            for region in regions {
                let edges = transform.stored(
                    region.pixels(width: Double(upright.0), height: Double(upright.1)), width: Double(width),
                    height: Double(height))
                let (left, top) = (Int(edges.left.rounded(.down)), Int(edges.top.rounded(.down)))
                secure.hide(
                    x: left, y: top, width: Int(edges.right.rounded(.up)) - left,
                    height: Int(edges.bottom.rounded(.up)) - top, pictureWidth: width, pictureHeight: height)
            }
        }
    }
}

/// The number of changes of the standing regions. A picture that hides an earlier version hides too little or too much.
package struct RegionsVersion: Comparable, Hashable, Sendable {
    var changes: UInt32

    /// Before any change.
    package static let first = RegionsVersion(changes: 0)

    package static func < (left: Self, right: Self) -> Bool { left.changes < right.changes }
}
