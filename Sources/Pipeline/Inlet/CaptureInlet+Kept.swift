internal import Buffering
internal import FrameGeometry
internal import MediaCore
internal import Privacy
internal import Synchronization

/// Keeps the last picture that comes under a curtain without an objection, and shows it when the curtain falls. The
/// client may have no other picture to send, because its screen stands still.
///
/// Ingest thread only. A picture is never kept if it is refused, incomplete, or older than a refusal. It is never shown
/// if another hold with an objection was added after its first byte.
extension CaptureInlet {
    /// A picture that is arriving, or a kept one.
    struct Filling {
        let picture: Picture
        let time: MediaTime
        let arrival: MediaTime
        let stamp: Curtain.Stamp
        let plan: GeometryPlan
        /// The version of the standing regions that are painted over.
        let regions: RegionsVersion
        /// The number of objections when the picture began to arrive.
        let objections: UInt32
        /// The picture came under the curtain. It is kept instead of handed over.
        let isKept: Bool
    }

    /// The verdict for a picture that comes at `now`.
    func verdict(at now: MediaTime) -> PictureGate.Verdict {
        gate.verdict(
            curtain.prospect, isUp: curtain.stamp.isUp, isPaused: isPaused.load(ordering: .relaxed), at: now)
    }

    /// Shows the kept picture if nothing forbids it any more.
    ///
    /// - Returns: the time from which it may be shown, if only time forbids it; else nil.
    func attend(at now: MediaTime) -> MediaTime? {
        guard let kept else { return nil }
        guard curtain.objections == kept.objections else {
            dropKept()
            return nil
        }
        switch verdict(at: now) {
        case .show: break
        case .keep, .hide: return gate.holdEnds(isUp: curtain.stamp.isUp, at: now)
        case .pause: return nil
        }
        // Adds the time for which the picture was kept. Pictures that follow have a later time, except one from before
        // the start.
        let time = kept.time + (now - kept.arrival)
        if curtain.stamp.isUp { privacy.release(time) }
        // In this order: an objection after the stamp was read changes the stamp.
        let stamp = curtain.stamp
        guard curtain.objections == kept.objections else {
            dropKept()
            return nil
        }
        guard !stamp.isUp else { return nil }
        let tag = VideoFrameTag(time: time, arrival: now, stamp: stamp, plan: kept.plan, regions: kept.regions)
        guard slot.offer(kept.picture, tag, if: { curtain.stamp == stamp }) else { return nil }
        self.kept = nil
        last.unchangedSince = time
        return nil
    }

    /// Drops the kept picture. The client has to send a whole picture again.
    func dropKept() {
        guard let picture = takeKept() else { return }
        gate.miss()
        slot.recycle(picture)
    }

    /// Takes the memory of the kept picture for another one.
    func takeKept() -> Picture? {
        guard let picture = kept?.picture else { return nil }
        kept = nil
        counters.framesCurtained.add()
        return picture
    }

    /// Keeps a picture that has arrived in whole under the curtain.
    func keep(_ filling: Filling, at now: MediaTime) {
        if let old = takeKept() { slot.recycle(old) }
        kept = filling
        _ = attend(at: now)
    }
}
