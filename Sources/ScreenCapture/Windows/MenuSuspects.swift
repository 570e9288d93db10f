/// Programs whose menus, or windows without a class, are secret. Pure.
///
/// The set is bounded. When it is full, all programs count as suspects.
struct MenuSuspects: Sendable {
    private var owners: Set<WindowNames.Owner> = []
    static let limit = 4096

    mutating func insert(_ owner: WindowNames.Owner) { if owners.count < Self.limit { owners.insert(owner) } }

    func contains(_ owner: WindowNames.Owner) -> Bool { owners.contains(owner) || owners.count == Self.limit }
}
