package import MediaCore

/// Which captured apps are asked before anything of a capture is shown, and who of them has not answered yet. Pure.
///
/// An app is known by its name and its user: two connections of one app are asked as one, and one answer is enough.
package struct Consultation: Sendable {
    /// What counts as an app's answer.
    package enum Answers: String, CaseIterable, Sendable {
        /// That it raises the curtain, hides a region, or lets go.
        case any = "true"
        /// That it lets go: for an app that does several things first.
        case release
    }

    package enum Answer: String, Sendable {
        case raisedCurtain = "raised the curtain"
        case hidRegion = "hid a region"
        case released = "released"
    }

    /// Of one user's apps: connections that are asked.
    package static let userCapacity = 4
    /// Apps of before a restart that have to come back.
    package static let expectedCapacity = 16

    private struct Connection {
        var id: UInt64
        var app: PrivacyHolder
        var answers: Answers
    }

    private var connections: [Connection] = []
    private var count: UInt64 = 0
    /// They were asked by the daemon before this one, and have not connected again.
    private var expected: [PrivacyHolder] = []
    /// Nil for without end.
    private var expectedUntil: MediaTime?
    /// The capture that is, if any.
    private var capture: Int?
    /// Who has not answered, in the order in which they came.
    package private(set) var awaited: [PrivacyHolder] = []

    package init() {}

    /// Whoever would be asked if a capture began now.
    package var apps: [PrivacyHolder] {
        (connections.map(\.app) + expected).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    package func hasRoom(for app: PrivacyHolder) -> Bool {
        connections.count(where: { $0.app.user == app.user }) < Self.userCapacity
    }

    // MARK: Apps come and go

    /// From now on the app is asked: also of a capture that waits for others at this moment, or for itself as it was
    /// before a restart. Returns the connection's number.
    package mutating func connect(_ app: PrivacyHolder, _ answers: Answers) -> UInt64 {
        count += 1
        connections.append(Connection(id: count, app: app, answers: answers))
        expected.removeAll { $0 == app }
        if capture != nil, !awaited.isEmpty, !awaited.contains(app) { awaited.append(app) }
        return count
    }

    /// The connection has ended: its app is not waited for any more, unless it has another. Returns whose it was.
    package mutating func disconnect(_ id: UInt64) -> PrivacyHolder? {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return nil }
        let app = connections.remove(at: index).app
        if !connections.contains(where: { $0.app == app }) { awaited.removeAll { $0 == app } }
        return app
    }

    /// These were asked when the daemon before this one ended, and are given until then to come back; nil for without
    /// end.
    package mutating func expect(_ apps: [PrivacyHolder], until deadline: MediaTime?) {
        expected = Array(apps.prefix(Self.expectedCapacity))
        expectedUntil = deadline
    }

    /// Those who have not come back in time, and are not waited for any more.
    package mutating func giveUp(at now: MediaTime) -> [PrivacyHolder] {
        guard !expected.isEmpty, let expectedUntil, now >= expectedUntil else { return [] }
        let late = expected
        expected = []
        awaited.removeAll { late.contains($0) }
        return late
    }

    // MARK: Captures

    /// A capture begins: all are asked.
    package mutating func begin(_ capture: Int) {
        self.capture = capture
        awaited = apps
    }

    /// It is over.
    package mutating func end() { (capture, awaited) = (nil, []) }

    /// Nobody is waited for any more in this capture.
    package mutating func overrule() { awaited = [] }

    /// What an app does, as far as that is an answer. Returns those who have thereby answered. One that has not come
    /// back since a restart and is released is not expected any more.
    ///
    /// - Parameters:
    ///   - capture: which one is meant; nil for the one that is. An answer to another is none.
    ///   - isMeant: whose answer it is.
    package mutating func take(
        _ answer: Answer, of capture: Int?, from isMeant: (PrivacyHolder) -> Bool
    ) -> [PrivacyHolder] {
        guard self.capture != nil, capture == nil || capture == self.capture else { return [] }
        let answered = awaited.filter { app in
            guard isMeant(app) else { return false }
            return answer == .released || !connections.contains { $0.app == app && $0.answers == .release }
        }
        awaited.removeAll { answered.contains($0) }
        if answer == .released { expected.removeAll { answered.contains($0) } }
        return answered
    }
}
