package import MediaCore

/// Which captured apps are consulted before anything of a capture is shown, and which of them have not answered yet.
/// Pure.
///
/// An app is identified by its name and its user. Several connections of one app count as one, and one answer is
/// enough.
package struct Consultation: Sendable {
    /// Which actions of an app count as its answer.
    package enum Answers: String, CaseIterable, Sendable {
        /// Raising the curtain, hiding a region, or releasing.
        case any = "true"
        /// Only releasing, for an app that first does several other things.
        case release
    }

    package enum Answer: String, Sendable {
        case raisedCurtain = "raised the curtain"
        case hidRegion = "hid a region"
        case released = "released"
    }

    /// The maximum number of consulted connections of one user's apps.
    package static let userCapacity = 4
    /// The maximum number of consulted apps, with those that must come back.
    package static let capacity = 16
    /// The maximum number of apps that must come back after a restart. Connections that have asked for room at the same
    /// moment may exceed `capacity`.
    package static let expectedCapacity = 24

    private struct Connection {
        var id: UInt64
        var app: PrivacyHolder
        var answers: Answers
    }

    private var connections: [Connection] = []
    private var count: UInt64 = 0
    /// Apps that the previous daemon consulted and that have not reconnected.
    private var expected: [PrivacyHolder] = []
    /// Nil for no limit.
    private var expectedUntil: MediaTime?
    /// The number of the current capture; nil if there is none.
    private var capture: Int?
    /// The apps that have not answered, in the order in which they came.
    package private(set) var awaited: [PrivacyHolder] = []

    package init() {}

    /// All apps that would be consulted if a capture began now.
    package var apps: [PrivacyHolder] {
        (connections.map(\.app) + expected).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    package func hasRoom(for app: PrivacyHolder) -> Bool {
        let apps = apps
        return connections.count(where: { $0.app.user == app.user }) < Self.userCapacity
            && (apps.contains(app) || apps.count < Self.capacity)
    }

    // MARK: Apps come and go

    /// Adds a connection whose app is consulted from now on. If the current capture still waits for other apps, or for
    /// this app since before a restart, it waits for this app, too. Returns the connection's number.
    package mutating func connect(_ app: PrivacyHolder, _ answers: Answers) -> UInt64 {
        count += 1
        connections.append(Connection(id: count, app: app, answers: answers))
        expected.removeAll { $0 == app }
        if capture != nil, !awaited.isEmpty, !awaited.contains(app) { awaited.append(app) }
        return count
    }

    /// Removes a connection. Its app is not awaited any more, unless it has another connection. Returns the app.
    package mutating func disconnect(_ id: UInt64) -> PrivacyHolder? {
        guard let index = connections.firstIndex(where: { $0.id == id }) else { return nil }
        let app = connections.remove(at: index).app
        if !connections.contains(where: { $0.app == app }) { awaited.removeAll { $0 == app } }
        return app
    }

    /// Sets the apps that the previous daemon consulted, and the time until which they may come back; nil for no limit.
    package mutating func expect(_ apps: [PrivacyHolder], until deadline: MediaTime?) {
        expected = Array(apps.prefix(Self.expectedCapacity))
        expectedUntil = deadline
    }

    /// Returns the apps that have not come back in time. They are not awaited any more.
    package mutating func giveUp(at now: MediaTime) -> [PrivacyHolder] {
        guard !expected.isEmpty, let expectedUntil, now >= expectedUntil else { return [] }
        let late = expected
        expected = []
        awaited.removeAll { late.contains($0) }
        return late
    }

    // MARK: Captures

    /// Begins a capture, about which all apps are consulted.
    package mutating func begin(_ capture: Int) {
        self.capture = capture
        awaited = apps
    }

    /// Ends the capture.
    package mutating func end() { (capture, awaited) = (nil, []) }

    /// Stops waiting for answers in this capture.
    package mutating func overrule() { awaited = [] }

    /// Takes an action of an app, as far as it counts as an answer. Returns the apps that have answered by it. An app
    /// that is released and has not come back since a restart is not expected any more.
    ///
    /// - Parameters:
    ///   - capture: the number of the capture; nil for the current one. An answer to another capture does not count.
    ///   - isMeant: selects the answering app.
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
