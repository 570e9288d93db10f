import LinuxSystem
import UpcastClient

/// Pauses a broadcast while there is a reason: the daemon raises the curtain, and no sound is sent. Any thread.
final class PauseKeeper: Sendable {
    enum Reason: Sendable {
        /// Viewers must not see the session.
        case session
        /// The required application is not in front.
        case notInFront
        /// The user does not share the screen any more.
        case notShared
    }

    private let connection: CaptureConnection
    private let sound: SoundThread
    private let reasons = Monitor<Set<Reason>>([])

    init(_ connection: CaptureConnection, _ sound: SoundThread) {
        (self.connection, self.sound) = (connection, sound)
        sound.send(to: connection)
    }

    /// - Throws: if the daemon cannot be told; it then shows nothing any more.
    func set(_ reason: Reason, _ isOn: Bool) throws(CaptureError) {
        // Told under the lock, so that the daemon hears of changes in order.
        try reasons.withLock { reasons throws(CaptureError) in
            let wasPaused = !reasons.isEmpty
            if isOn { reasons.insert(reason) } else { reasons.remove(reason) }
            guard reasons.isEmpty == wasPaused else { return }
            sound.send(to: isOn ? nil : connection)
            if isOn { try connection.pause() } else { try connection.resume() }
        }
    }
}
