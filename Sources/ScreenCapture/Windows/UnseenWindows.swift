/// X clients that may have had a secure window which ended before it was read. Pure.
///
/// Nobody knows what it was, so menus of its X client are secret from then on. Another X client that gets its number
/// later is taken for it.
struct UnseenWindows: Sendable {
    /// An X server has at most 2048 clients.
    private var makers: Set<UInt32> = []
    /// Windows that went into others, and were not found there yet.
    private(set) var moved: Set<UInt32> = []
    private let resourceMask: UInt32
    private static let maxMoved = 4096

    /// - Parameter resourceMask: the bits of a window's number that its X client chooses.
    init(resourceMask: UInt32) { self.resourceMask = resourceMask }

    /// The X client that made a window.
    func maker(of window: UInt32) -> UInt32 { window & ~resourceMask }

    /// A window that may have been on the screen has ended.
    mutating func ended(_ window: UInt32) { makers.insert(maker(of: window)) }

    /// A window went into another one, or is somewhere and has changed.
    mutating func wentInside(_ window: UInt32) {
        if moved.count < Self.maxMoved { moved.insert(window) } else { ended(window) }
    }

    /// Windows were read.
    ///
    /// - Parameters:
    ///   - all: whether no window is left to be read.
    ///   - found: those of `moved` that are children of the root window, or were seen inside one.
    mutating func noteReading(all: Bool, found: Set<UInt32>) {
        moved.subtract(found)
        guard all else { return }
        for window in moved { ended(window) }
        moved.removeAll()
    }

    /// Whether one of these X clients has made a window.
    func isMaker(_ client: UInt32) -> Bool {
        makers.contains(client) || moved.contains { maker(of: $0) == client }
    }
}
