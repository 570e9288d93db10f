internal import LinuxSystem
package import MediaCore
internal import Synchronization

/// Whether viewers see the curtain instead of the picture, and who holds it up. It falls when the last hold is
/// released.
///
/// Any thread. A thread that takes a sample reads the stamp before that, and compares it afterwards. If the stamps
/// differ, or if the stamp says that the curtain is up, the sample must not be shown. A stamp never repeats.
package final class Curtain: Sendable {
    /// The number of raises, and whether the curtain is up.
    package struct Stamp: Equatable, Sendable {
        fileprivate var number: UInt32

        /// Raising makes the number odd, lowering makes it even.
        package var isUp: Bool { number % 2 == 1 }
        /// The number of raises.
        package var epoch: CurtainEpoch { CurtainEpoch(raises: (number + 1) / 2) }
        package static let down = Stamp(number: 0)
    }

    package struct Hold: Equatable, Sendable {
        package var holder: PrivacyHolder
        package var reason: String
        /// On the monotonic clock.
        package var since: MediaTime

        package init(holder: PrivacyHolder, reason: String, since: MediaTime) {
            (self.holder, self.reason, self.since) = (holder, reason, since)
        }
    }

    package enum Change: Equatable, Sendable {
        /// The curtain was down and is up now, or the other way round.
        case raised, lowered
        /// One of several holds was added or released.
        case held, released
        case none
    }

    /// What happens to a picture that begins to arrive now.
    package enum Prospect: Equatable, Sendable {
        /// The curtain is down, or falls for this picture.
        case shown
        /// No holder objects to the picture, but not all of them release the curtain yet.
        case kept
        /// A holder objects to pictures that arrive while the curtain is up.
        case hidden
    }

    private static let capacity = 64
    /// The maximum number of holds of one user's apps, so that other users find room.
    static let appCapacity = 16
    /// Represents all apps without room. It is released only when an operator releases all holds by force.
    package static let tooMany = PrivacyHolder(.daemon, "too_many_holders")
    private let holds: Monitor<[Hold]>
    private let number: Atomic<UInt32>
    private let objectionCount = Atomic<UInt32>(0)
    /// The broadcast time in nanoseconds at which sound resumes after the last lowering; negative if it is not known.
    private let opening = Atomic<Int64>(-1)

    /// - Parameter holds: the holds at the start.
    package init(heldBy holds: [Hold] = []) {
        self.holds = Monitor(holds)
        number = Atomic(holds.isEmpty ? 0 : 1)
    }

    package var stamp: Stamp { Stamp(number: number.load(ordering: .acquiring)) }

    /// All holds, oldest first.
    package var all: [Hold] { holds.withLock { $0 } }

    /// Whether this holder has its own hold, so that there was room for it.
    package func isHeld(by holder: PrivacyHolder) -> Bool { holds.withLock { $0.contains { $0.holder == holder } } }

    /// Raises the curtain or adds a hold. `tooMany` represents apps without room.
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

    /// Only the number of apps is limited.
    private static func lackOfRoom(for holder: PrivacyHolder, among holds: [Hold]) -> String? {
        guard holder.kind == .app else { return nil }
        guard holds.count < capacity else { return "more than \(capacity) hold it up" }
        guard holds.count(where: { $0.holder.isApp(of: holder.user) }) >= appCapacity else {
            return nil
        }
        return "more than \(appCapacity) apps" + (holder.user.map { " of user \($0)" } ?? "")
            + " hold it up"
    }

    /// The broadcast time from which on sound is heard again; nil if the last release did not know it. Read it after
    /// the stamp that says that the curtain is down.
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

    /// The number of raises and holds whose holders object to pictures. A kept picture is not shown if this number has
    /// changed since the picture began to arrive.
    package var objections: UInt32 { objectionCount.load(ordering: .acquiring) }

    /// Releases the hold of one holder.
    package func lower(_ holder: PrivacyHolder) -> Change { release { $0 == holder } }

    /// Releases the holds of all holders for which `isMeant` is true.
    ///
    /// - Parameter openingTime: the broadcast time from which on sound may be heard; nil for the time at which the
    ///   change is noticed.
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
