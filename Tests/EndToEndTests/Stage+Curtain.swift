import TestSupport
import Testing

extension Stage {
    /// `PublishError.cutByCurtain`: what the daemon says of a connection that it broke because of the curtain. Its
    /// cause alone, `connection_lost`, is also that of a server or a network that breaks one.
    private static let curtainBreak =
        "the curtain was raised while packets from before were on their way; they were dropped with the connection"

    /// Waits until the daemon has read as many pictures: those that it reads after a curtain has fallen are shown.
    func waitUntilRead(pictures count: Int) throws {
        try waitFor("\(count) pictures to be read", evidence: { (try? self.daemon.statusText()) ?? "" }) {
            try daemon.receivedPictures() == count
        }
    }

    /// Ends the daemon and the server, after broadcasts in which the curtain was raised `curtains` times while packets
    /// flowed. Returns the recordings of all of their connections, oldest first.
    ///
    /// The daemon breaks a connection where the server has not acknowledged all bytes from before the curtain in time,
    /// as on a busy machine, and goes on with another one (docs/privacy.md). Only that makes another recording: the
    /// daemon must name the curtain as the reason for each of them, and have no other failure to report.
    func end(afterCurtains curtains: Int, broadcasts: Int = 1) throws -> [String] {
        try server.waitForClosed(server.recordings)
        try end()
        // The daemon has ended: its log is whole.
        let failures = daemon.log.split(separator: "\n").filter {
            $0.contains("destination retrying") || $0.contains("destination failed")
        }
        let breaks = failures.filter { $0.contains("cause=connection_lost") && $0.contains(Self.curtainBreak) }
        #expect(breaks == failures, "a connection that no curtain broke")
        let recordings = server.recordings
        #expect(recordings.count == breaks.count + broadcasts, "\(breaks)")
        #expect(breaks.count <= curtains, "\(breaks)")
        return recordings
    }
}
