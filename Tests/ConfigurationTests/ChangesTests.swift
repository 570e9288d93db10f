import Testing

@testable import Configuration

@Suite struct ChangesTests {
    @Test func keysAndDestinations() throws {
        var old = Configuration()
        for name in ["main", "copy", "backup"] {
            var destination = DestinationConfiguration()
            destination.name = name
            old.destinations.append(destination)
        }
        #expect(old.changes(since: old) == ConfigurationChanges())
        var new = old
        new.video.bitrate += 1000
        new.log.level = .debug
        new.destinations[0].adaptive = false
        new.destinations[2].name = "other"
        let changes = new.changes(since: old)
        #expect(changes.keys == ["video.bitrate_kbps", "log.level"])
        #expect(changes.changed.map(\.name) == ["main"])
        #expect(changes.added.map(\.name) == ["other"])
        #expect(changes.removed == ["backup"])
    }

    /// Their order is no property of theirs.
    @Test func anotherOrder() throws {
        var old = Configuration()
        old.destinations = ["a", "b"].map {
            var destination = DestinationConfiguration()
            destination.name = $0
            return destination
        }
        var new = old
        new.destinations.reverse()
        #expect(new.changes(since: old) == ConfigurationChanges())
    }
}
