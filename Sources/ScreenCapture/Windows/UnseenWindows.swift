/// Programs that may have had a secure window that ended before it was read. Pure.
///
/// Such a window stays unknown, so menus of its process are secret from then on. If nothing is known of its X client,
/// the next reading asks for the process.
struct UnseenWindows: Sendable {
    /// X clients whose process was not asked for yet.
    private var unasked: Set<UInt32> = []
    /// The last answer about each X client. Another X client may have got the number since, so it is asked for again.
    private var answers: [UInt32: WindowNames.Owner] = [:]
    /// An X client with an unknown process counts by its number. A later X client with this number counts, too.
    private var suspects = MenuSuspects()
    /// Windows that are inside others and were not found there yet, and their owners, if known.
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

    /// Whether pictures have to wait for a reading that tells which programs are suspect.
    var isWaiting: Bool {
        !unasked.allSatisfy(isSuspect) || !lost.keys.allSatisfy { maker(of: $0).map(isSuspect) ?? true }
    }
    /// Called for each picture, so it allocates nothing.
    var hasClientsToAsk: Bool { !unasked.isEmpty || lost.values.contains { $0 == nil } }
    /// X clients to ask for, including those of lost windows: the reading may find that a lost window has ended.
    var clientsToAsk: Set<UInt32> {
        unasked.union(lost.lazy.filter { $0.value == nil }.compactMap { maker(of: $0.key) })
    }

    /// Notes that a window that may have been secure has ended. Returns whether its owner has become suspect.
    ///
    /// - Parameter owner: nil if unknown.
    @discardableResult
    mutating func end(_ window: UInt32, owner: WindowNames.Owner?) -> Bool {
        guard let owner else {
            if let maker = maker(of: window) { unasked.insert(maker) }
            return false
        }
        defer { suspects.insert(owner) }
        return !suspects.contains(owner)
    }

    /// Notes that a window that may be secure is inside another one, and was not found there. Returns whether more may
    /// be suspect.
    mutating func lose(_ window: UInt32, owner: WindowNames.Owner?) -> Bool {
        guard maker(of: window) != nil, !lost.keys.contains(window), !(owner.map(suspects.contains) ?? false) else {
            return false
        }
        if lost.count < Self.maxLost { lost.updateValue(owner, forKey: window) } else { end(window, owner: owner) }
        return true
    }

    /// Notes lost windows that were found inside others.
    ///
    /// - Parameter isAll: whether no window is left to be read. Lost windows that were not found have ended then.
    mutating func find(_ found: [UInt32], isAll: Bool) {
        for window in found { lost.removeValue(forKey: window) }
        guard isAll else { return }
        for (window, owner) in lost { end(window, owner: owner) }
        lost.removeAll()
    }

    /// Notes the owners of X clients: nil for one that has ended. Its last answer counts then.
    mutating func note(_ clients: [UInt32: WindowNames.Owner?]) {
        for (client, owner) in clients {
            if unasked.remove(client) != nil, let owner = owner ?? answers[client] { suspects.insert(owner) }
            answers[client] = owner
        }
    }

    /// Whether a window's owner is one of these programs, or may be.
    func isOwner(_ names: WindowNames) -> Bool {
        suspects.contains(names.owner)
            || lost.contains { maker(of: $0.key) == names.maker || $0.value == names.owner }
    }
}
