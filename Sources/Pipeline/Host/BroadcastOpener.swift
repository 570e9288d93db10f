internal import Configuration
internal import ControlProtocol
internal import IngestProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Privacy

/// Creates broadcasts from the configuration, the client's introduction and the daemon's long-lived parts. Ingest
/// thread only.
struct BroadcastOpener: Sendable {
    let destinations: DestinationRoster
    let privacy: PrivacyDesk
    let watch: BroadcastWatch
    let clock: any TimeSource
    let logger: Logger
    let freeze: TestFreeze?

    /// Allocates the broadcast's memory and starts its threads. Logs each feature that the broadcast has to do
    /// without.
    ///
    /// - Throws: a sentence for the client, which has already been logged.
    func open(_ message: StartedMessage) throws(ProtocolError) -> Broadcast {
        let configuration = destinations.beginOpening()
        let broadcast: Broadcast
        do {
            broadcast = try Broadcast(
                message, configuration: configuration, environment: destinations.environment,
                worked: destinations.worked, clock: clock, curtain: privacy.curtain,
                standing: privacy.regions, protections: privacy.protections,
                release: { [weak privacy] time in
                    privacy?.lower(reason: "a picture came that may be shown", opening: time) { $0.awaitsAPicture }
                },
                refuse: { [weak privacy] in privacy?.raiseByItself(.badRegions, reason: $0) }, freeze: freeze,
                onEvent: { [weak watch] in watch?.destinationChanged($0, $1) },
                onBitrate: { [logger] in $0.log(to: logger, configured: configuration.video.bitrate) },
                onEffort: { [logger] in $0.log(to: logger) },
                onFailure: { [weak watch] in watch?.fail($0) })
        } catch {
            logger.tell(.broadcastNotStarted(why: error.sentence))
            throw ProtocolError(.broadcastFailed, fatal: true, "the broadcast cannot start: \(error.sentence)")
        }
        if let price = configuration.memoryPlan(broadcast.savings.fit).price {
            logger.tell(.noRoomForSubpixelMotion(why: "what moves \(price)"))
        }
        if let problem = broadcast.curtainProblem {
            logger.tell(.noPictureForTheCurtain(why: "\(problem)"))
        }
        return broadcast
    }
}
