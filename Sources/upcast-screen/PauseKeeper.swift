import LinuxSystem
import UpcastClient

/// Pauses a broadcast while there is a reason: the daemon raises the curtain, and there is no sound. Any thread.
final class PauseKeeper: Sendable {
    enum Reason: Sendable {
        /// Nobody may see the session.
        case session
        /// The application that has to be in front is not.
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

    /// - Throws: when the daemon cannot be told: it shows nothing any more then.
    func set(_ reason: Reason, _ isOn: Bool) throws(CaptureError) {
        // Under the lock, so that the daemon hears of it in order.
        try reasons.withLock { reasons throws(CaptureError) in
            let wasPaused = !reasons.isEmpty
            if isOn { reasons.insert(reason) } else { reasons.remove(reason) }
            guard reasons.isEmpty == wasPaused else { return }
            sound.send(to: isOn ? nil : connection)
            if isOn { try connection.pause() } else { try connection.resume() }
        }
    }
}
