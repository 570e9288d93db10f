package import UpcastClient

@testable import ScreenCapture

extension WindowModel {
    /// Each window is of another X client, as in the facts of these tests.
    init(_ rules: WindowRules, bounds: CaptureRectangle, showsScreen: Bool = false, front: WindowRules? = nil) {
        self.init(rules, bounds: bounds, resourceMask: 0, showsScreen: showsScreen, front: front)
    }

    /// One reading.
    ///
    /// - Parameters:
    ///   - manager: nil for the one of the last reading.
    ///   - owner: who an X client is; its process has its number by default. Nil for one that has ended.
    mutating func read(
        _ facts: [UInt32: WindowFacts], manager: WindowManager? = nil, compositor: UInt32? = nil,
        showsDesktop: Bool = false, owner: (UInt32) -> WindowNames.Owner? = { .process($0) }
    ) {
        var reading = WindowReading(
            manager: manager ?? self.manager, compositor: compositor, showsDesktop: showsDesktop, facts: facts)
        for client in unread.clients { reading.clients.updateValue(owner(client), forKey: client) }
        note(reading)
    }

    /// Windows that are there from the start, the lowest one first: they were not read.
    mutating func add(_ windows: UInt32..., at place: CaptureRectangle) {
        add(windows.map { FoundWindow(window: $0, place: place, isViewable: true) })
    }

    /// Windows that are there from the start, read together.
    mutating func addAndRead(_ all: [UInt32: WindowFacts], manager: WindowManager? = nil) {
        add(
            all.sorted { $0.key < $1.key }.map { window, facts in
                FoundWindow(window: window, place: facts.place, isViewable: facts.isViewable)
            })
        read(all, manager: manager)
    }

    func secrets(hidesUnknown: Bool) -> WindowSecrets {
        var secrets = WindowSecrets()
        collect(hidesUnknown: hidesUnknown, into: &secrets)
        return secrets
    }
}

extension WindowRules {
    func match(_ facts: WindowFacts) -> Bool {
        var lookup = Lookup(for: self)
        return match(facts, &lookup)
    }

    func choose(_ facts: WindowFacts) -> Bool {
        var lookup = Lookup(for: self)
        return choose(facts, &lookup)
    }
}

extension WindowSecrets {
    func regions(in area: CaptureRectangle) -> CaptureSecureRegions {
        var regions = CaptureSecureRegions.none
        write(into: &regions, in: area)
        return regions
    }
}

extension WindowModel.Left {
    /// Nil for what is learned of a window.
    var place: CaptureRectangle? {
        switch self {
        case .place(let place, _): place
        case .path(let path): path.place
        case .harmless, .unread: nil
        }
    }
}

/// All that was painted.
extension PaintedAreas: ExpressibleByArrayLiteral {
    package init(arrayLiteral areas: CaptureRectangle...) { self.init(areas) }
}
