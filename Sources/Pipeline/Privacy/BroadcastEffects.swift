internal import Buffering
internal import Ingest
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Privacy
internal import Publishing

/// Carries out the desk's requests on the running broadcast, and logs the desk's facts. Any thread.
final class BroadcastEffects: PrivacyEffects {
    private let current: CurrentBroadcast
    private let phase: BroadcastPhase
    private let server: IngestServer
    private let logger: Logger

    init(_ current: CurrentBroadcast, _ phase: BroadcastPhase, server: IngestServer, logger: Logger) {
        (self.current, self.phase, self.server, self.logger) = (current, phase, server, logger)
    }

    func takeBack(newerThan age: MediaTime?) -> CurtainReceipt? {
        guard let broadcast = current.broadcast else { return nil }
        let (taken, lastPTS) = broadcast.takeBack(newerThan: age)
        return CurtainReceipt(
            videoPackets: taken.videoPackets, audioPackets: taken.audioPackets, lastPTS, kept: taken.lastKeptPTS)
    }

    func whatWentOut() -> CurtainReceipt? {
        guard let broadcast = current.broadcast else { return nil }
        return CurtainReceipt(
            broadcast.destinations.snapshots.map { ($0.name, $0.lastPTS) }, kept: broadcast.lastKeptPTS)
    }

    func curtainChanged() {
        server.curtainChanged()
        phase.note()
    }

    func regionsChanged(to version: RegionsVersion?) {
        guard let broadcast = current.broadcast else { return }
        if let version { broadcast.snapshots.forget(beforeRegions: version) }
        broadcast.slot.wake()
    }

    var clientHidesRegions: Bool { current.broadcast?.inlet.regions.clientHidesSomething ?? false }

    var broadcastNumber: UInt64? { current.number }

    func report(_ fact: PrivacyFact) { fact.log(to: logger) }
}
