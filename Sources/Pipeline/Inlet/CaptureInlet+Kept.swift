internal import Buffering
internal import FrameGeometry
internal import MediaCore
internal import Privacy
internal import Synchronization

/// A picture that comes while the curtain is up, and nobody holds it up to hide what comes meanwhile, is kept: the last
/// of them is shown when the curtain falls. The client may have no other to send, because its screen stands still.
///
/// Ingest thread only. A picture from before a refusal is never kept, nor one that is refused itself or has not come
/// whole, and none is shown where somebody has raised the curtain, or held it up as well, since it began to come.
extension CaptureInlet {
    /// A picture that is coming, or has come and is kept.
    struct Filling {
        let picture: Picture
        let time: MediaTime
        let arrival: MediaTime
        let stamp: Curtain.Stamp
        let plan: GeometryPlan
        /// The standing regions' version that it hides.
        let regions: RegionsVersion
        /// How often somebody had objected to pictures when it began to come.
        let objections: UInt32
        /// It came under the curtain: it is kept, and not handed over.
        let isKept: Bool
    }

    /// What would become of a picture that comes now.
    func verdict(at now: MediaTime) -> PictureGate.Verdict {
        gate.verdict(
            curtain.prospect, isUp: curtain.stamp.isUp, isPaused: isPaused.load(ordering: .relaxed), at: now)
    }

    /// Shows it as soon as nothing stands against it any more: the client may have no other to send.
    ///
    /// - Returns: when it may be, where that comes by time alone; nil where nothing is kept, or others have to let go.
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
        // As late as it was when it came: pictures that follow have a later time.
        let time = kept.time + (now - kept.arrival)
        if curtain.stamp.isUp { privacy.release(time) }
        // In this order: who objects after the stamp was taken makes it another one.
        let stamp = curtain.stamp
        guard curtain.objections == kept.objections else {
            dropKept()
            return nil
        }
        guard !stamp.isUp else { return nil }
        self.kept = nil
        last.unchangedSince = time
        slot.offer(
            kept.picture,
            VideoFrameTag(time: time, arrival: now, stamp: stamp, plan: kept.plan, regions: kept.regions))
        return nil
    }

    /// Throws it away. The client has to send a whole picture again.
    func dropKept() {
        guard let picture = takeKept() else { return }
        gate.miss()
        slot.recycle(picture)
    }

    /// Takes its memory for another.
    func takeKept() -> Picture? {
        guard let picture = kept?.picture else { return nil }
        kept = nil
        counters.framesCurtained.add()
        return picture
    }

    /// It has come whole, under the curtain.
    func keep(_ filling: Filling, at now: MediaTime) {
        if let old = takeKept() { slot.recycle(old) }
        kept = filling
        _ = attend(at: now)
    }
}
