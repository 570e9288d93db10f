internal import Buffering
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
package import Privacy

/// Rectangles of the picture that apps and operators keep hidden. Any thread.
extension BroadcastHost {
    /// Keeps a rectangle of the upright picture hidden, in this broadcast and those that follow, until it is removed.
    /// When it returns, no further picture shows it, but for the one that is being encoded at that moment.
    package func hideRegion(
        _ region: StandingRegion, reason: String = "", by actor: PrivacyActor = .daemon
    ) throws(CommandRefusal) {
        guard protections.isOn(.standingRegions) else {
            throw CommandRefusal(
                code: .turnedOff,
                sentence: "standing regions are turned off (privacy.standing_regions): this one is not hidden; raise "
                    + "the curtain")
        }
        let change = standing.set(region)
        guard change != .full else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "there are \(StandingRegions.capacity) regions already, or of apps "
                    + "\(StandingRegions.appCapacity), or of one user's apps \(StandingRegions.userCapacity); this "
                    + "one is not hidden: join some, or raise the curtain")
        }
        // It is hidden from here on.
        defer { if region.holder.kind == .app { answerConsultation(.hidRegion, by: actor) { $0 == region.holder } } }
        guard change != .none else { return }
        coverCurrent()
        logger.notice(
            change == .added ? "region hidden" : "region moved",
            metadata: ["holder": "\(region.holder)", "region": "\(region.name)", "why": "\(reason)"])
        note(
            change == .added ? "region_hidden" : "region_moved", region.holder, actor,
            isRegion: true,
            [
                .init("reason", .string(reason)), .init("region", .string(region.name)),
                .init("unit", .string(region.unit.rawValue)),
                .init("x", .number(region.edges.left)), .init("y", .number(region.edges.top)),
                .init("width", .number(region.edges.right - region.edges.left)),
                .init("height", .number(region.edges.bottom - region.edges.top)),
            ])
        audit.flush()
    }

    /// In the running broadcast: what is on its way, and what a snapshot would show.
    private func coverCurrent() {
        guard let broadcast = current else { return }
        broadcast.snapshots.forget(beforeRegions: standing.version)
        broadcast.slot.wake()
    }

    /// Hides all of them, or none; they are kept either way.
    func turnRegions(on isOn: Bool) {
        standing.turn(on: isOn)
        coverCurrent()
    }

    /// No longer hides the one of that name, or where `name` is nil all, of whoever `isMeant` is true of.
    ///
    /// - Parameter whose: for people.
    package func showRegions(
        _ name: String?, of whose: String, reason: String = "", by actor: PrivacyActor = .daemon,
        where isMeant: (PrivacyHolder) -> Bool
    ) throws(CommandRefusal) {
        let before = standing.all.filter { isMeant($0.holder) && (name == nil || $0.name == name) }
        guard standing.remove(name, of: isMeant) > 0 else {
            throw CommandRefusal(
                code: .notFound, sentence: "\(whose) has no region" + (name.map { " called \"\($0)\"" } ?? ""))
        }
        current?.slot.wake()
        logger.notice(
            "region shown again",
            metadata: ["holder": "\(whose)", "region": "\(name ?? "all")", "why": "\(reason)"])
        for region in before {
            note(
                "region_shown", region.holder, actor, isRegion: true,
                [.init("reason", .string(reason)), .init("region", .string(region.name))])
        }
        audit.flush()
    }
}
