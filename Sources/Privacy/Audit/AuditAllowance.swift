internal import MediaCore

/// How many lines of the audit log each may cause in a second: nobody can fill the disk, and nobody can crowd out what
/// others do. A pure value, so that it is tested without a clock.
struct AuditAllowance {
    /// Who shares an allowance. Regions, which an app may move with every picture, have one of their own.
    struct Account: Hashable, CustomStringConvertible {
        var kind: PrivacyHolder.Kind
        var user: UInt32?
        var isRegion: Bool

        init(_ actor: PrivacyActor, isRegion: Bool = false) {
            (kind, user, self.isRegion) = (actor.kind, actor.user, isRegion)
        }

        /// `app of user 1000`.
        var description: String { user.map { "\(kind.rawValue) of user \($0)" } ?? kind.rawValue }

        /// An operator may empty the table anyway, and must not be kept from being written down.
        var linesPerSecond: Int { kind == .operator ? 1000 : AuditAllowance.linesPerSecond }
    }

    private struct Use {
        var second: MediaTime
        var lines = 0
        /// Since it was last named.
        var leftOut = 0
    }

    /// An app that moves a region with each picture of 60 in a second is within it.
    static let linesPerSecond = 100
    /// Accounts of one moment; users above it share those of their kind.
    private static let capacity = 64

    private var uses: [Account: Use] = [:]

    /// Whether a line more is written; counted where it is not.
    mutating func takes(_ account: Account, at now: MediaTime) -> Bool {
        var account = account
        if uses[account] == nil, uses.count >= Self.capacity { account.user = nil }
        var use = uses[account] ?? Use(second: now)
        if now - use.second >= .seconds(1) { (use.second, use.lines) = (now, 0) }
        use.lines += 1
        let isTaken = use.lines <= account.linesPerSecond
        if !isTaken { use.leftOut += 1 }
        uses[account] = use
        return isTaken
    }

    /// Some time after a second: names those whose lines were left out, and forgets who has asked for nothing since.
    mutating func settle(at now: MediaTime) -> [(account: Account, leftOut: Int)] {
        var all: [(Account, Int)] = []
        for (account, use) in uses {
            uses[account]?.leftOut = 0
            if now - use.second >= .seconds(1) { uses[account] = nil }
            if use.leftOut > 0 { all.append((account, use.leftOut)) }
        }
        return all
    }
}
