internal import MediaCore

/// Limits the audit log lines that each account may cause per second, so that nobody can fill the disk or displace the
/// lines of others. A pure value, so tests need no clock.
struct AuditAllowance {
    /// The users of one allowance. Regions have their own one, because an app may move them with every picture.
    struct Account: Hashable, CustomStringConvertible {
        var kind: PrivacyHolder.Kind
        var user: UInt32?
        var isRegion: Bool

        init(_ actor: PrivacyActor, isRegion: Bool = false) {
            (kind, user, self.isRegion) = (actor.kind, actor.user, isRegion)
        }

        /// `app of user 1000`.
        var description: String { user.map { "\(kind.rawValue) of user \($0)" } ?? kind.rawValue }

        /// An operator can remove all holds anyway, so the limit must not keep an operator's actions out of the log.
        var linesPerSecond: Int { kind == .operator ? 1000 : AuditAllowance.linesPerSecond }
    }

    private struct Use {
        var second: MediaTime
        var lines = 0
        /// Lines left out since the last report.
        var leftOut = 0
    }

    /// Enough for an app that moves a region with each picture, at 60 per second.
    static let linesPerSecond = 100
    /// The maximum number of accounts at a time. Further users share the account of their kind.
    private static let capacity = 64

    private var uses: [Account: Use] = [:]

    /// Whether one more line is written. If not, the line is counted.
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

    /// Called at least a second apart: returns the accounts whose lines were left out, and forgets accounts without
    /// recent lines.
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
