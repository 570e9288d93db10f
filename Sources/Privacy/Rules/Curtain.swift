internal import LinuxSystem
package import MediaCore
internal import Synchronization

/// Whether viewers see the curtain in place of the picture, and who holds it up: it falls when the last lets go.
///
/// Any thread. Whoever takes a sample notes the stamp before it and compares afterwards: where the two are not equal,
/// or the stamp says that it is up, the sample must not be shown. A stamp never comes again.
package final class Curtain: Sendable {
    /// How often it has been raised, and whether it is up.
    package struct Stamp: Equatable, Sendable {
        fileprivate var number: UInt32

        /// Raising makes it odd, lowering even.
        package var isUp: Bool { number % 2 == 1 }
        /// Times that it has been raised.
        package var epoch: CurtainEpoch { CurtainEpoch(raises: (number + 1) / 2) }
        package static let down = Stamp(number: 0)
    }

    package struct Hold: Equatable, Sendable {
        package var holder: PrivacyHolder
        package var reason: String
        /// Monotonic clock.
        package var since: MediaTime

        package init(holder: PrivacyHolder, reason: String, since: MediaTime) {
            (self.holder, self.reason, self.since) = (holder, reason, since)
        }
    }

    package enum Change: Equatable, Sendable {
        /// It was down and is up now, or the other way round.
        case raised, lowered
        /// One more, or one less, of several that hold it.
        case held, released
        /// Nothing has changed.
        case none
    }

    /// What a picture that begins to come now may count on.
    package enum Prospect: Equatable, Sendable {
        /// The curtain is down, or falls for it.
        case shown
        /// Those who hold it up have nothing against the picture, but do not let go yet.
        case kept
        /// Somebody holds it up to hide what comes meanwhile.
        case hidden
    }

    private static let capacity = 64
    /// Of the apps of one user: others must find room.
    static let appCapacity = 16
    /// Stands for all apps that did not find room, and lets go only when an operator lets go for everybody.
    package static let tooMany = PrivacyHolder(.daemon, "too_many_holders")
    private let holds: Monitor<[Hold]>
    private let number: Atomic<UInt32>
    private let objectionCount = Atomic<UInt32>(0)
    /// Where sound begins again after the last lowering, in nanoseconds of the broadcast; below zero: where it stands.
    private let opening = Atomic<Int64>(-1)

    /// - Parameter holds: who holds it up from the start.
    package init(heldBy holds: [Hold] = []) {
        self.holds = Monitor(holds)
        number = Atomic(holds.isEmpty ? 0 : 1)
    }

    package var stamp: Stamp { Stamp(number: number.load(ordering: .acquiring)) }

    /// Who holds it up, in the order in which they came.
    package var all: [Hold] { holds.withLock { $0 } }

    /// Whether that one holds it up itself, and did find room.
    package func isHeld(by holder: PrivacyHolder) -> Bool { holds.withLock { $0.contains { $0.holder == holder } } }

    /// Raises it, or holds it up as well: `tooMany` does for apps that do not find room.
    package func raise(_ holder: PrivacyHolder, reason: String, at now: MediaTime) -> Change {
        holds.withLock { holds in
            func isThere(_ holder: PrivacyHolder) -> Bool { holds.contains { $0.holder == holder } }
            guard !isThere(holder) else { return .none }
            var hold = Hold(holder: holder, reason: reason, since: now)
            if let reason = Self.lackOfRoom(for: holder, among: holds) {
                guard !isThere(Self.tooMany) else { return .held }
                (hold.holder, hold.reason) = (Self.tooMany, reason)
            }
            holds.append(hold)
            if !hold.holder.keepsPictures { objectionCount.add(1, ordering: .acquiringAndReleasing) }
            guard holds.count == 1 else { return .held }
            number.add(1, ordering: .acquiringAndReleasing)
            return .raised
        }
    }

    /// Only apps are many.
    private static func lackOfRoom(for holder: PrivacyHolder, among holds: [Hold]) -> String? {
        guard holder.kind == .app else { return nil }
        guard holds.count < capacity else { return "more than \(capacity) hold it up" }
        guard holds.count(where: { $0.holder.isApp(of: holder.user) }) >= appCapacity else {
            return nil
        }
        return "more than \(appCapacity) apps" + (holder.user.map { " of user \($0)" } ?? "")
            + " hold it up"
    }

    /// Broadcast time from which on sound is heard again, where the one who let go last knew it. Look at it after the
    /// stamp that says that the curtain is down.
    package var openingTime: MediaTime? {
        let nanoseconds = opening.load(ordering: .acquiring)
        return nanoseconds < 0 ? nil : MediaTime(nanoseconds: nanoseconds)
    }

    package var prospect: Prospect {
        guard stamp.isUp else { return .shown }
        return holds.withLock { holds in
            if holds.allSatisfy(\.holder.awaitsAPicture) { return .shown }
            return holds.allSatisfy(\.holder.keepsPictures) ? .kept : .hidden
        }
    }

    /// How often somebody has raised it, or held it up as well, to hide what comes meanwhile. A picture that is kept is
    /// not shown where that has happened since it began to come.
    package var objections: UInt32 { objectionCount.load(ordering: .acquiring) }

    /// Lets go for one holder.
    package func lower(_ holder: PrivacyHolder) -> Change { release { $0 == holder } }

    /// Lets go for all that `isMeant` is true of.
    ///
    /// - Parameter openingTime: the broadcast time from which on sound may be heard; nil for when that is noticed.
    package func release(opening openingTime: MediaTime? = nil, where isMeant: (PrivacyHolder) -> Bool) -> Change {
        holds.withLock { holds in
            let before = holds.count
            holds.removeAll { isMeant($0.holder) }
            guard holds.count < before else { return .none }
            guard holds.isEmpty else { return .released }
            opening.store(openingTime.map { max(0, $0.nanoseconds) } ?? -1, ordering: .releasing)
            number.add(1, ordering: .acquiringAndReleasing)
            return .lowered
        }
    }
}
