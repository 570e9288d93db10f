/// Programs that may have had a secure window which ended before it was read. Pure.
///
/// Nobody knows what it was, so menus of its process are secret from then on. The next reading finds the process of an
/// X client of which nothing is known.
struct UnseenWindows: Sendable {
    /// X clients whose process was not asked yet.
    private var unasked: Set<UInt32> = []
    /// Who X clients were when they were asked last. Another one may have the number since, so they are asked again.
    private var answers: [UInt32: WindowNames.Owner] = [:]
    /// An X client whose process nobody knows counts by its number: another one that gets it later is taken for it.
    private var suspects = MenuSuspects()
    /// Windows that are in others, and were not found there yet; and who owns them, if that is known.
    private(set) var lost: [UInt32: WindowNames.Owner?] = [:]
    private let resourceMask: UInt32
    static let maxLost = 4096

    /// - Parameter resourceMask: the bits of a window's number that its X client chooses.
    init(resourceMask: UInt32) { self.resourceMask = resourceMask }

    /// The X client that made a window; nil for the server itself, which has no secrets.
    func maker(of window: UInt32) -> UInt32? {
        let maker = window & ~resourceMask
        return maker == 0 ? nil : maker
    }

    private func isSuspect(_ client: UInt32) -> Bool { answers[client].map(suspects.contains) ?? false }

    /// Whether pictures have to wait for a reading that tells who is suspect.
    var isWaiting: Bool {
        !unasked.allSatisfy(isSuspect) || !lost.keys.allSatisfy { maker(of: $0).map(isSuspect) ?? true }
    }
    /// Asked for each picture: it allocates nothing.
    var hasClientsToAsk: Bool { !unasked.isEmpty || lost.values.contains { $0 == nil } }
    /// X clients to ask for: also those of lost windows, which the reading may find to have ended.
    var clientsToAsk: Set<UInt32> {
        unasked.union(lost.lazy.filter { $0.value == nil }.compactMap { maker(of: $0.key) })
    }

    /// A window that may have been secure has ended. Returns whether its owner is suspect from now on.
    ///
    /// - Parameter owner: nil if it is not known.
    @discardableResult
    mutating func end(_ window: UInt32, owner: WindowNames.Owner?) -> Bool {
        guard let owner else {
            if let maker = maker(of: window) { unasked.insert(maker) }
            return false
        }
        defer { suspects.insert(owner) }
        return !suspects.contains(owner)
    }

    /// A window that may be secure is in another one, and was not seen there. Returns whether more may be suspect.
    mutating func lose(_ window: UInt32, owner: WindowNames.Owner?) -> Bool {
        guard maker(of: window) != nil, !lost.keys.contains(window), !(owner.map(suspects.contains) ?? false) else {
            return false
        }
        if lost.count < Self.maxLost { lost.updateValue(owner, forKey: window) } else { end(window, owner: owner) }
        return true
    }

    /// Lost windows were found in others.
    ///
    /// - Parameter isAll: no window is left to be read. Those that were not found have ended.
    mutating func find(_ found: [UInt32], isAll: Bool) {
        for window in found { lost.removeValue(forKey: window) }
        guard isAll else { return }
        for (window, owner) in lost { end(window, owner: owner) }
        lost.removeAll()
    }

    /// Notes who the X clients are: nil for one that has ended. Its last answer counts then.
    mutating func note(_ clients: [UInt32: WindowNames.Owner?]) {
        for (client, owner) in clients {
            if unasked.remove(client) != nil, let owner = owner ?? answers[client] { suspects.insert(owner) }
            answers[client] = owner
        }
    }

    /// Whether it is of one of these programs, or may be.
    func isOwner(_ names: WindowNames) -> Bool {
        suspects.contains(names.owner)
            || lost.contains { maker(of: $0.key) == names.maker || $0.value == names.owner }
    }
}
