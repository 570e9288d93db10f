package import ControlProtocol
internal import MediaCore

/// Rectangles of the picture that apps and operators keep hidden.
extension PrivacyDesk {
    /// Keeps a rectangle of the upright picture hidden, in this and later broadcasts, until it is removed. Once it
    /// returns, no further picture shows it, except the one that is being encoded at that moment.
    package func hide(
        _ region: StandingRegion, reason: String = "", by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) {
        guard protections.isOn(.standingRegions) else {
            throw CommandRefusal(
                code: .turnedOff,
                sentence: "standing regions are turned off (privacy.standing_regions): this one is not hidden; raise "
                    + "the curtain")
        }
        let change = regions.set(region)
        guard change != .full else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "there are \(StandingRegions.capacity) regions already, or of apps "
                    + "\(StandingRegions.appCapacity), or of one user's apps \(StandingRegions.userCapacity); this "
                    + "one is not hidden: join some, or raise the curtain")
        }
        // The region is hidden from here on.
        defer { if region.holder.kind == .app { answer(.hidRegion, by: actor) { $0 == region.holder } } }
        guard change != .none else { return }
        effects.regionsChanged(to: regions.version)
        report(.regionHidden(region, isNew: change == .added, reason: reason), by: actor)
        audit.flush()
    }

    /// Removes the region with this name or, if `name` is nil, all regions of the holders for which `isMeant` is true.
    ///
    /// - Parameter whose: the holder's name, for people.
    package func show(
        _ name: String?, of whose: String, reason: String = "", by actor: PrivacyActor = .daemon,
        where isMeant: (PrivacyHolder) -> Bool
    ) throws(CommandRefusal) {
        let before = regions.all.filter { isMeant($0.holder) && (name == nil || $0.name == name) }
        guard regions.remove(name, of: isMeant) > 0 else {
            throw CommandRefusal(
                code: .notFound, sentence: "\(whose) has no region" + (name.map { " called \"\($0)\"" } ?? ""))
        }
        effects.regionsChanged(to: nil)
        report(.regionsShown(before, of: whose, name: name, reason: reason), by: actor)
        audit.flush()
    }
}
