package import Grabbing

/// The wishes that a portal is asked to meet. Pure.
package struct PortalWish: Equatable, Sendable {
    package let sources: PortalFacts.Sources
    /// Nil if the portal offers no choice.
    package let pointer: PortalFacts.PointerModes?
    /// Whether the permission is to last until it is withdrawn.
    package let isPersistent: Bool
    /// A wish of the user that the portal cannot meet.
    package let lack: String?

    /// - Throws: if the portal has nothing to capture, or cannot leave the pointer out.
    package init(_ facts: PortalFacts, showsPointer: Bool) throws(ScreenError) {
        sources = facts.sources.intersection([.monitor, .window])
        guard !sources.isEmpty else {
            throw ScreenError(
                "xdg-desktop-portal offers neither monitors nor windows: the part for this desktop is missing. "
                    + "On Debian: apt install xdg-desktop-portal-gnome, -kde or -wlr", isTemporary: true)
        }
        isPersistent = facts.version >= 4
        let order: [PortalFacts.PointerModes] = showsPointer ? [.metadata, .embedded] : [.hidden, .metadata]
        // Before version 2, pictures never contain the pointer.
        let pointer = facts.version >= 2 ? order.first { facts.pointers.contains($0) } : nil
        if pointer == nil, !showsPointer, facts.version >= 2 {
            throw ScreenError(
                "the ScreenCast portal of this desktop draws the pointer into all pictures; leave out --no-pointer")
        }
        self.pointer = pointer
        lack = pointer == nil && showsPointer ? "the ScreenCast portal gives pictures without the pointer" : nil
    }
}
