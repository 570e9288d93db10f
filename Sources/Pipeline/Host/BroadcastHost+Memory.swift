internal import Configuration
internal import ControlProtocol
internal import Encoding
internal import LinuxSystem
internal import Logging

/// The whole process under its cap: what the broadcast gives up when memory runs short.
extension BroadcastHost {
    /// Some times a second, by the main thread: looks at what is left, and has the broadcast give something up before
    /// the kernel takes everything, or take it back.
    package func watchMemory() {
        guard let broadcast = current, let room = memoryRoom() else { return }
        let move = state.withLock { state -> MemoryGovernor.Move? in
            guard state.broadcast === broadcast, state.closer == nil else { return nil }
            return state.governor.look(room, at: clock.now())
        }
        guard let move else { return }
        let isDone = broadcast.giveUp(state.withLock { $0.governor.current.map(\.step) })
        log(move, room, isDone: isDone)
    }

    private func log(_ move: MemoryGovernor.Move, _ room: MemoryRoom, isDone: Bool) {
        var metadata: Logger.Metadata = [
            "left_bytes": "\(room.left)", "limit_bytes": "\(room.limit)", "limit": "\(room.bound)",
        ]
        if !isDone { metadata["failed"] = "the kernel gave no room to move the packet log to" }
        switch move {
        case .giveUp(let step):
            metadata["now"] = "\(step.whatIsGivenUp)"
            logger.warning("memory is short", metadata: metadata)
        case .takeBack(let step):
            metadata["now"] = "\(step.whatIsTakenBack)"
            logger.notice("memory is enough again", metadata: metadata)
        }
    }

    var memoryStatus: MemoryStatus {
        var status = MemoryStatus()
        if let memory = ProcessMemory.current() {
            status.residentBytes = memory.resident
            status.peakResidentBytes = memory.peakResident
            status.anonymousBytes = memory.anonymous
        }
        if let room = memoryRoom() {
            status.limit = room.bound
            status.limitBytes = room.limit
            status.neededBytes = room.needed
        }
        let plan = currentConfiguration.memoryPlan(current?.savings.fit)
        status.planBytes = plan.totalBytes
        status.capBytes = plan.capBytes
        status.plan = plan.lines.map { Counter($0.purpose.rawValue, $0.bytes) }
        let governor = state.withLock { $0.governor }
        status.givenUp = governor.current.map { Counter($0.step.rawValue, $0.savedBytes) }
        status.bitrateLossPercent = governor.current.reduce(0) { $0 + $1.step.bitratePercent }
        if current?.savings.fit.subpixelMotion == false {
            status.bitrateLossPercent = VideoEncoder.subpixelMotionPercent
        }
        status.stepsDown = governor.givenUp
        status.stepsUp = governor.takenBack
        return status
    }
}

extension MemoryStep {
    fileprivate var whatIsGivenUp: String {
        switch self {
        case .halfLog: "the packet log holds half, and a delay no more than that"
        case .leastLog: "the packet log holds no more than a late destination needs, and no delay"
        case .twoPictures: "there are two pictures instead of three"
        case .oneThread: "the encoder is opened again with one thread"
        case .noSubpixelMotion:
            "the encoder is opened again without subpixel motion: the same picture needs \(bitratePercent) % more "
                + "bitrate"
        }
    }

    fileprivate var whatIsTakenBack: String {
        switch self {
        case .halfLog: "the packet log is as large as configured"
        case .leastLog: "the packet log holds half"
        case .twoPictures: "there are three pictures"
        case .oneThread: "the encoder is opened again with all its threads"
        case .noSubpixelMotion: "the encoder is opened again with subpixel motion"
        }
    }
}
