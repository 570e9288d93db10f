package import MediaCore

/// An event in the daemon that an operator or a program may want to know.
///
/// The log line and the event of `GET /events` are made from it. Programs identify it by `Name` and by the names of its
/// fields, which are stable. Its message is for people and may be reworded. docs/control.md has the table.
///
/// Fields contain no secrets. Texts may come from a client or a server, so they must be escaped where they are shown.
package enum DaemonEvent: Equatable, Sendable {
    // MARK: The daemon
    /// - Parameters:
    ///   - canvas: "1280x720 at 30 frames/s".
    ///   - controlListen: the TCP address of the control server; nil if TCP is off.
    case ready(
        captureSocket: String, controlSocket: String, controlListen: String?, canvas: String, destinations: [String],
        version: String)
    /// - Parameter drain: how long sending the rest may take.
    case stopping(signal: String, drain: MediaTime)
    case stopped(sentAll: Bool, exitStatus: Int)
    case notStoppedInTime
    /// - Parameter isRestarted: whether a watchdog ends the daemon.
    case threadHangs(why: String, isRestarted: Bool)
    case threadRecovered
    case controlNotEncrypted(address: String)
    /// - Parameters:
    ///   - peer: the address of the client, without its port.
    ///   - isWrong: whether the client sent a wrong token; otherwise it sent none.
    case controlTokenRefused(peer: String, path: String, isWrong: Bool)
    case testHookSet(encoderFrames: Int)
    case serviceManagerUnreachable(why: String)
    case logLevelSet(level: String, by: String)
    /// `count` repetitions of one event or log message, for one destination, were left out within that time.
    case repetitionsLeftOut(count: Int, of: String, destination: String?, within: MediaTime, Level)
    case mediaLibraryWarning(from: String, text: String)
    case clientNotAccepted(why: String)

    // MARK: The configuration
    case nothingToReload
    /// - Parameter applied: empty if the file has not changed.
    case configurationReloaded(applied: [String])
    /// - Parameter isLate: whether the reload may still finish, when a disk answers.
    case configurationNotReloaded(why: String, isLate: Bool = false)
    case configurationNotApplied(why: String, now: String? = nil)
    case configurationWaitsForTheNextBroadcast(keys: [String])
    case configurationWaitsForARestart(keys: [String])

    // MARK: Broadcasts
    case broadcastStarted(broadcast: String, client: String, source: SourceKind, process: Int?)
    case broadcastNotStarted(why: String)
    case broadcastEnding(why: String)
    /// - Parameters:
    ///   - framesDropped: frames of the client that were dropped.
    ///   - dropped: encoded packets that viewers of a destination did not get.
    case broadcastEnded(frames: Int, framesDropped: Int, dropped: Int, duration: MediaTime, sentAll: Bool)
    case broadcastFailed(why: String)
    case nothingWasPublished
    /// What viewers get has changed.
    case airStateChanged(state: AirState, previous: AirState, isRecording: Bool)
    case sourceRefused(source: SourceKind, by: [String])
    case noRoomForSubpixelMotion(why: String)
    case noPictureForTheCurtain(why: String)
    case annotated(key: String, value: String)
    case annotationsLeftOut(loggedPerSecond: Int)
    case stoppedByAnOperator
    case pausedByAnOperator
    case resumedByAnOperator

    // MARK: Adapting
    case bitrateCeilingSet(kilobitsPerSecond: Int, by: String)
    /// - Parameter isFull: whether the bit rate is as configured.
    case videoBitrateChanged(kilobitsPerSecond: Int, frameRateDivisor: Int, why: String, isFull: Bool)
    case encoderEffortLowered(effort: VideoEffort, busyPercent: Int, superseded: Int)
    case encoderEffortRaised(effort: VideoEffort, busyPercent: Int, superseded: Int)
    case memoryIsShort(MemoryMove)
    case memoryIsEnoughAgain(MemoryMove)

    // MARK: Destinations
    /// - Parameter isFlapping: whether the destination has repeatedly gone live and been closed.
    case destinationLive(destination: String, isFlapping: Bool = false)
    /// - Parameter now: what the daemon does next; nil for nothing.
    case destinationRetrying(destination: String, attempt: Int, cause: FailureCause, why: String, now: String?)
    case destinationFailed(destination: String, cause: FailureCause, why: String, now: String?)
    case destinationFlapping(destination: String, connections: Int, why: String)
    case destinationNotice(destination: String, what: String)
    case destinationWarning(destination: String, what: String)
    /// - Parameter key: the key that names the file or variable.
    case destinationNotReady(destination: String, key: String, why: String)
    case destinationReady(destination: String)
    case destinationAdded(destination: String)
    case destinationRemoved(destination: String)
    case noDestinationIsLeft

    // MARK: The curtain
    /// - Parameter isRoutine: whether this is the hold with which each broadcast begins.
    case curtainRaised(
        holder: String, why: String, takenBackVideoPackets: Int, takenBackAudioPackets: Int, isRoutine: Bool)
    case curtainHoldAdded(holder: String, why: String, isRoutine: Bool)
    case curtainHoldReleased(holders: [String], why: String, heldBy: [String], isRoutine: Bool)
    case curtainLowered(holders: [String], why: String, isRoutine: Bool)
    case pausedWithoutACurtain(why: String)

    // MARK: Regions and protections
    case regionHidden(holder: String, region: String, why: String)
    case regionMoved(holder: String, region: String, why: String)
    /// - Parameter region: nil for all regions of that holder.
    case regionShownAgain(holder: String, region: String?, why: String)
    case protectionTurnedOn(protection: Protection, forced: Bool)
    case protectionTurnedOff(protection: Protection, forced: Bool)
    case protectionKeptOn(protection: Protection)
    case protectionIsNotAsConfigured(protection: Protection, isOn: Bool)

    // MARK: Consulted apps
    case appIsConsulted(app: String)
    case appIsNoLongerConsulted(app: String, unanswered: Bool)
    case appHasAnswered(app: String, answer: String)
    case appsAreNotWaitedFor(why: String)
    case consultedAppHasNotComeBack(app: String)

    // MARK: The state file and the audit log
    case noStateFile
    case stateFileIsNew(file: String)
    case stateRestored(file: String, holders: [String], regions: Int, consulted: [String])
    /// - Parameter keptAs: where the file was moved to; nil if it could not be moved.
    case stateFileCannotBeRead(file: String, why: String, keptAs: String?)
    case stateFileNotWritten(why: String)
    case stateFileWrittenAgain
    /// - Parameter lost: the number of missing lines if the process ends; nil if it continues.
    case auditLogNotWritten(why: String, lost: Int? = nil)
    /// - Parameter capacity: how many lines may wait.
    case auditLogWaitsForItsDisk(lines: Int, capacity: Int)
    case auditLogWrittenAgain(lost: Int)
    case auditLinesLeftOut(by: String, lines: Int)

    // MARK: Webhooks
    /// The daemon has given up a delivery.
    ///
    /// - Parameter of: the name of the event that was to be delivered.
    case webhookFailed(webhook: String, of: String, attempts: Int, why: String, now: String)

    /// The severity, with the levels of swift-log.
    package enum Level: String, Sendable {
        case debug, info, notice, warning, error, critical
    }

    /// A step of the memory governor.
    package struct MemoryMove: Equatable, Sendable {
        /// The step's name in `memory.given_up` of the status.
        package var step: MemoryStep
        /// What the step means, for people.
        package var now: String
        /// The name of the limit, its size, and the bytes that are left.
        package var limit: String
        package var limitBytes: Int
        package var leftBytes: Int
        /// False if the kernel had no memory to move the packet log to.
        package var isDone: Bool

        package init(step: MemoryStep, now: String, limit: String, limitBytes: Int, leftBytes: Int, isDone: Bool) {
            (self.step, self.now, self.limit) = (step, now, limit)
            (self.limitBytes, self.leftBytes, self.isDone) = (limitBytes, leftBytes, isDone)
        }
    }
}
