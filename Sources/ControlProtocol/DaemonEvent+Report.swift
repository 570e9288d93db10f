internal import MediaCore

extension DaemonEvent {
    /// An event as the log and `GET /events` show it.
    package struct Report: Equatable, Sendable {
        /// For programs.
        package var name: Name
        package var level: Level
        /// For people: the same for all events with that name. Details are in the fields.
        package var message: String
        /// Numbers and booleans keep their types. The name of a number ends in its unit.
        package var fields: [JSONValue.Member]

        fileprivate init(_ name: Name, _ level: Level, _ message: String, _ fields: JSONValue.Member?...) {
            (self.name, self.level, self.message) = (name, level, message)
            self.fields = fields.compactMap { $0 }
        }
    }

    package var name: Name { report.name }

    package var report: Report {
        switch self {
        // MARK: The daemon
        case .ready(let capture, let control, let listen, let canvas, let destinations, let version):
            Report(
                .ready, .notice, "ready", text("version", version), text("canvas", canvas),
                text("capture_socket", capture), text("control_socket", control),
                text("control_listen", listen ?? "off"), list("destinations", destinations))
        case .stopping(let signal, let drain):
            Report(.stopping, .notice, "stopping", text("signal", signal), milliseconds("drain_ms", drain))
        case .stopped(let sentAll, let status):
            Report(.stopped, .notice, "stopped", flag("sent_all", sentAll), number("exit_status", status))
        case .notStoppedInTime:
            Report(
                .notStoppedInTime, .critical, "not stopped in time", text("why", "a thread hangs"),
                text("now", "the process ends at once"))
        case .threadHangs(let why, let isRestarted):
            Report(
                .threadHangs, .critical, "a thread hangs", text("why", why),
                text(
                    "now",
                    isRestarted
                        ? "the daemon no longer feeds the watchdog, which restarts it"
                        : "no watchdog restarts the daemon"))
        case .threadRecovered: Report(.threadRecovered, .warning, "the hanging thread runs again")
        case .controlNotEncrypted(let address):
            Report(
                .controlNotEncrypted, .warning, "control server can be reached from other machines, unencrypted",
                text("address", address),
                text(
                    "now",
                    "anybody on the network path can read the token; listen on 127.0.0.1 behind a TLS proxy instead"))
        case .controlTokenRefused(let peer, let path, let isWrong):
            Report(
                .controlTokenRefused, isWrong ? .warning : .info, "control token refused", text("peer", peer),
                text("path", path), text("why", isWrong ? "the token is wrong" : "there is no token"))
        case .testHookSet(let frames):
            Report(
                .testHookSet, .critical, "a test hook is set", number("encoder_frames", frames),
                text("now", "the encoder hangs after that many frames"))
        case .serviceManagerUnreachable(let why):
            Report(
                .serviceManagerUnreachable, .warning, "service manager unreachable", text("why", why),
                text("now", "the broadcast goes on; the next state change tries again"))
        case .logLevelSet(let level, let who):
            Report(.logLevelSet, .notice, "log level set", text("new_level", level), text("by", who))
        case .repetitionsLeftOut(let count, let repeated, let destination, let time, let level):
            Report(
                .repetitionsLeftOut, level, "repeated log lines left out", number("count", count),
                text("of", repeated), destination.map { text("destination", $0) },
                milliseconds("within_ms", time))
        case .mediaLibraryWarning(let library, let words):
            Report(
                .mediaLibraryWarning, .warning, "media library warning", text("from", library), text("text", words))
        case .clientNotAccepted(let why):
            Report(.clientNotAccepted, .warning, "capture client not accepted", text("why", why))

        // MARK: The configuration
        case .nothingToReload:
            Report(
                .nothingToReload, .notice, "nothing to reload",
                text("why", "the daemon was started without a configuration file"))
        case .configurationReloaded(let applied):
            Report(
                .configurationReloaded, .notice, "configuration reloaded", list("applied", applied),
                applied.isEmpty ? text("why", "the configuration is the same") : nil)
        case .configurationNotReloaded(let why, let isLate):
            Report(
                .configurationNotReloaded, .error, "configuration not reloaded", text("why", why),
                text(
                    "now",
                    isLate
                        ? "the daemon keeps its configuration, and reloads when the disk answers"
                        : "the daemon keeps its configuration"))
        case .configurationNotApplied(let why, let now):
            Report(
                .configurationNotApplied, .error, "part of the configuration was not applied", text("why", why),
                now.map { text("now", $0) })
        case .configurationWaitsForTheNextBroadcast(let keys):
            Report(
                .configurationWaitsForTheNextBroadcast, .notice, "configuration waits for the next broadcast",
                list("keys", keys))
        case .configurationWaitsForARestart(let keys):
            Report(
                .configurationWaitsForARestart, .warning, "configuration waits for a restart", list("keys", keys),
                text("now", "the daemon keeps the values of its start"))

        // MARK: Broadcasts
        case .broadcastStarted(let broadcast, let client, let source, let process):
            Report(
                .broadcastStarted, .info, "broadcast started", text("broadcast", broadcast), text("client", client),
                text("source", source.description), process.map { number("pid", $0) })
        case .broadcastNotStarted(let why):
            Report(.broadcastNotStarted, .error, "broadcast not started", text("why", why))
        case .broadcastEnding(let why):
            Report(
                .broadcastEnding, .info, "broadcast ending", text("why", why),
                text("now", "the daemon sends what is encoded, then closes the broadcast"))
        case .broadcastEnded(let frames, let framesDropped, let dropped, let duration, let sentAll):
            Report(
                .broadcastEnded, .info, "broadcast ended", number("frames", frames),
                number("frames_dropped", framesDropped), number("dropped", dropped),
                milliseconds("duration_ms", duration), flag("sent_all", sentAll))
        case .broadcastFailed(let why):
            Report(.broadcastFailed, .error, "broadcast failed", text("why", why), text("now", "it is ended"))
        case .nothingWasPublished:
            Report(
                .nothingWasPublished, .error, "nothing was published",
                text("why", "no destination ever took a packet"))
        case .airStateChanged(let state, let previous, let isRecording):
            Report(
                .airStateChanged, .notice, "air state changed", text("state", state),
                text("previous", previous), flag("recording", isRecording))
        case .sourceRefused(let source, let names):
            Report(.sourceRefused, .notice, "source refused", text("source", source.description), list("by", names))
        case .noRoomForSubpixelMotion(let why):
            Report(.noRoomForSubpixelMotion, .warning, "no room for subpixel motion", text("why", why))
        case .noPictureForTheCurtain(let why):
            Report(
                .noPictureForTheCurtain, .warning, "no picture for the curtain", text("why", why),
                text("now", "it is solid"))
        case .annotated(let key, let value):
            Report(.annotated, .info, "annotated", text("key", key), text("value", value))
        case .annotationsLeftOut(let count):
            Report(
                .annotationsLeftOut, .warning, "more annotations than are logged", number("logged_per_second", count))
        case .stoppedByAnOperator:
            Report(
                .stoppedByAnOperator, .notice, "stopped by an operator",
                text("now", "the broadcast is ended, the daemon goes on"))
        case .pausedByAnOperator:
            Report(
                .pausedByAnOperator, .notice, "paused by an operator",
                text("now", "the last picture is repeated, with silence"))
        case .resumedByAnOperator: Report(.resumedByAnOperator, .notice, "resumed by an operator")

        // MARK: Adapting
        case .bitrateCeilingSet(let bitrate, let who):
            Report(.bitrateCeilingSet, .notice, "bitrate ceiling set", number("kbps", bitrate), text("by", who))
        case .videoBitrateChanged(let bitrate, let divisor, let why, let isFull):
            Report(
                .videoBitrateChanged, isFull ? .info : .notice, "video bitrate changed", number("kbps", bitrate),
                number("frame_rate_divisor", divisor), text("why", why))
        case .encoderEffortLowered(let effort, let busy, let superseded):
            Report(
                .encoderEffortLowered, .warning, "encoder effort lowered", text("effort", effort),
                number("busy_percent", busy), number("superseded", superseded), text("why", "the processor is short"))
        case .encoderEffortRaised(let effort, let busy, let superseded):
            Report(
                .encoderEffortRaised, .notice, "encoder effort raised", text("effort", effort),
                number("busy_percent", busy), number("superseded", superseded),
                text("why", "the processor has room again"))
        case .memoryIsShort(let move): move.report(.memoryIsShort, .warning, "memory is short")
        case .memoryIsEnoughAgain(let move): move.report(.memoryIsEnoughAgain, .notice, "memory is sufficient again")

        // MARK: Destinations
        case .destinationLive(let name, let isFlapping):
            Report(.destinationLive, isFlapping ? .debug : .notice, "destination live", text("destination", name))
        case .destinationRetrying(let name, let attempt, let cause, let why, let now):
            Report(
                .destinationRetrying, .warning, "destination retrying", text("destination", name),
                number("attempt", attempt), text("cause", cause), text("why", why), now.map { text("now", $0) })
        case .destinationFailed(let name, let cause, let why, let now):
            Report(
                .destinationFailed, .error, "destination failed", text("destination", name), text("cause", cause),
                text("why", why), now.map { text("now", $0) })
        case .destinationFlapping(let name, let connections, let why):
            Report(
                .destinationFlapping, .warning, "destination flapping", text("destination", name),
                number("connections", connections), text("why", why),
                text("now", "trying again, with longer pauses"))
        case .destinationNotice(let name, let what):
            Report(
                .destinationNotice, .notice, "destination notice", text("destination", name), text("what", what))
        case .destinationWarning(let name, let what):
            Report(
                .destinationWarning, .warning, "destination warning", text("destination", name), text("what", what))
        case .destinationNotReady(let name, let key, let why):
            Report(
                .destinationNotReady, .warning, "destination not ready", text("destination", name), text("key", key),
                text("why", why),
                text("now", "a broadcast cannot be published there; the daemon checks again each second"))
        case .destinationReady(let name):
            Report(.destinationReady, .notice, "destination ready", text("destination", name))
        case .destinationAdded(let destination):
            Report(.destinationAdded, .notice, "destination added", text("destination", destination))
        case .destinationRemoved(let name):
            Report(.destinationRemoved, .notice, "destination removed", text("destination", name))
        case .noDestinationIsLeft:
            Report(
                .noDestinationIsLeft, .warning, "no destination is left",
                text("now", "the broadcast reaches nobody until a destination is added (upcastctl destination add)"))

        // MARK: The curtain
        case .curtainRaised(let holder, let why, let video, let audio, let isRoutine):
            Report(
                .curtainRaised, isRoutine ? .info : .notice, "curtain raised", text("holder", holder),
                text("why", why), number("taken_back_video_packets", video),
                number("taken_back_audio_packets", audio))
        case .curtainHoldAdded(let holder, let why, let isRoutine):
            Report(
                .curtainHoldAdded, isRoutine ? .info : .notice, "curtain hold added", text("holder", holder),
                text("why", why))
        case .curtainHoldReleased(let holders, let why, let others, let isRoutine):
            Report(
                .curtainHoldReleased, isRoutine ? .info : .notice, "curtain hold released", list("holders", holders),
                text("why", why), list("held_by", others))
        case .curtainLowered(let holders, let why, let isRoutine):
            Report(
                .curtainLowered, isRoutine ? .info : .notice, "curtain lowered", list("holders", holders),
                text("why", why))
        case .pausedWithoutACurtain(let why):
            Report(.pausedWithoutACurtain, .warning, "paused without a curtain", text("why", why))

        // MARK: Regions and protections
        case .regionHidden(let holder, let region, let why):
            Report(
                .regionHidden, .notice, "region hidden", text("holder", holder), text("region", region),
                text("why", why))
        case .regionMoved(let holder, let region, let why):
            Report(
                .regionMoved, .notice, "region moved", text("holder", holder), text("region", region),
                text("why", why))
        case .regionShownAgain(let holder, let region, let why):
            Report(
                .regionShownAgain, .notice, "region shown again", text("holder", holder),
                text("region", region ?? "all"), text("why", why))
        case .protectionTurnedOn(let protection, let isForced):
            Report(
                .protectionTurnedOn, .notice, "protection turned on", text("protection", protection),
                flag("forced", isForced))
        case .protectionTurnedOff(let protection, let isForced):
            Report(
                .protectionTurnedOff, .warning, "protection turned off", text("protection", protection),
                flag("forced", isForced))
        case .protectionKeptOn(let protection):
            Report(
                .protectionKeptOn, .warning, "protection kept on", text("protection", protection),
                text("why", "the configuration turns it off, but something relied on it before the restart"))
        case .protectionIsNotAsConfigured(let protection, let isOn):
            Report(
                .protectionIsNotAsConfigured, .warning, "protection is not as configured",
                text("protection", protection), flag("on", isOn),
                text("why", "a command changed it before the restart; a reload applies the file"))

        // MARK: Consulted apps
        case .appIsConsulted(let app):
            Report(
                .appIsConsulted, .notice, "app is consulted", text("app", app),
                text("now", "each capture waits for its answer"))
        case .appIsNoLongerConsulted(let app, let isUnanswered):
            Report(
                .appIsNoLongerConsulted, .notice, "app is no longer consulted", text("app", app),
                text("why", "its connection ended"), flag("unanswered", isUnanswered))
        case .appHasAnswered(let app, let answer):
            Report(.appHasAnswered, .info, "app has answered", text("app", app), text("answer", answer))
        case .appsAreNotWaitedFor(let why):
            Report(.appsAreNotWaitedFor, .warning, "not waiting for apps", text("why", why))
        case .consultedAppHasNotComeBack(let app):
            Report(
                .consultedAppHasNotComeBack, .warning, "consulted app has not come back", text("app", app),
                text("now", "captures do not wait for its answer until it connects again"))

        // MARK: The state file and the audit log
        case .noStateFile:
            Report(
                .noStateFile, .notice, "no state file",
                text(
                    "now",
                    "holds of the curtain, standing regions and switches end with this daemon; "
                        + "privacy.state_file keeps them"))
        case .stateFileIsNew(let file): Report(.stateFileIsNew, .notice, "state file is new", text("file", file))
        case .stateRestored(let file, let holders, let regions, let apps):
            Report(
                .stateRestored, .notice, "state restored", text("file", file), list("holders", holders),
                number("regions", regions), list("consulted", apps))
        case .stateFileCannotBeRead(let file, let why, let keptAs):
            Report(
                .stateFileCannotBeRead, .critical, "state file cannot be read", text("file", file), text("why", why),
                text(
                    "now",
                    "the daemon cannot know what was hidden: the curtain stays up until an operator lowers it "
                        + "(upcastctl curtain down --force)"
                        + (keptAs == nil
                            ? "; nothing is written until the file is removed and the daemon restarted" : "")),
                keptAs.map { text("kept_as", $0) })
        case .stateFileNotWritten(let why):
            Report(
                .stateFileNotWritten, .error, "state file not written", text("why", why),
                text(
                    "now",
                    "hidden content stays hidden, but a restart forgets the changes, and answers say so "
                        + "(persisted: false); the daemon tries again each second"))
        case .stateFileWrittenAgain: Report(.stateFileWrittenAgain, .notice, "state file written again")
        case .auditLogNotWritten(let why, let lost):
            Report(
                .auditLogNotWritten, .error, "audit log not written", text("why", why),
                lost.map { number("lost", $0) },
                text(
                    "now",
                    lost == nil
                        ? "the daemon drops lines and counts them (privacy.audit_lost in the status)"
                        : "the process ends without these lines"))
        case .auditLogWaitsForItsDisk(let lines, let capacity):
            Report(
                .auditLogWaitsForItsDisk, .error, "audit log waits for its disk", number("lines", lines),
                number("capacity", capacity),
                text("now", "the daemon drops further lines and counts them (privacy.audit_lost in the status)"))
        case .auditLogWrittenAgain(let lost):
            Report(.auditLogWrittenAgain, .notice, "audit log written again", number("lost", lost))
        case .auditLinesLeftOut(let who, let lines):
            Report(.auditLinesLeftOut, .warning, "audit lines left out", text("by", who), number("lines", lines))

        // MARK: Webhooks
        case .webhookFailed(let webhook, let name, let attempts, let why, let now):
            Report(
                .webhookFailed, .warning, "webhook delivery failed", text("webhook", webhook), text("of", name),
                number("attempts", attempts), text("why", why), text("now", now))
        }
    }
}

extension DaemonEvent.MemoryMove {
    fileprivate func report(
        _ name: DaemonEvent.Name, _ level: DaemonEvent.Level, _ message: String
    ) -> DaemonEvent.Report {
        DaemonEvent.Report(
            name, level, message, text("step", step), text("now", now), text("limit", limit),
            number("limit_bytes", limitBytes), number("left_bytes", leftBytes),
            isDone ? nil : text("failed", "the kernel gave no room to move the packet log to"))
    }
}

private func text(_ name: String, _ value: String) -> JSONValue.Member { .init(name, .string(value)) }
private func text(_ name: String, _ value: some RawRepresentable<String>) -> JSONValue.Member {
    text(name, value.rawValue)
}
private func number(_ name: String, _ value: Int) -> JSONValue.Member { .init(name, .integer(value)) }
private func flag(_ name: String, _ value: Bool) -> JSONValue.Member { .init(name, .bool(value)) }
private func list(_ name: String, _ value: [String]) -> JSONValue.Member {
    .init(name, .array(value.map { .string($0) }))
}
private func milliseconds(_ name: String, _ value: MediaTime) -> JSONValue.Member {
    number(name, Int(value.milliseconds))
}
