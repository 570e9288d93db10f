internal import Buffering
internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Painting
internal import Privacy
internal import Synchronization
internal import Timeline

/// Pictures that look as the client's last one does, all of them or in part: what is known already is not made again.
///
/// Ingest thread only.
extension CaptureInlet {
    /// The client says that its picture is the last one: it is neither converted nor, once it has been for a while,
    /// encoded.
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        counters.framesReceived.add()
        try checkRegions(of: message, arrival: arrival)
        _ = attend(at: arrival)
        let stamp = curtain.stamp
        let plan = planOfLast(message)
        guard !stamp.isUp else {
            // It may be the one that is kept.
            guard kept == nil || plan == nil else { return counters.framesCurtained.add() }
            gate.miss()
            // Where a whole picture would be kept or shown, the curtain waits for one; else the client is told later.
            switch verdict(at: arrival) {
            case .hide, .pause: return counters.framesCurtained.add()
            case .show, .keep: throw unknownPicture()
            }
        }
        guard slot.newest != nil, let plan else { throw unknownPicture() }
        let placement = times.place(.video, pts: message.pts, duration: .zero, arrival: arrival)
        guard placement.isAccepted else { return counters.framesOutOfOrder.add() }
        guard !isPaused.load(ordering: .relaxed) else { return counters.framesPaused.add() }
        guard !skipsUnchanged || !last.isRefined(at: placement.time) else { return counters.framesUnchanged.add() }
        slot.offerAgain(
            VideoFrameTag(
                time: placement.time, arrival: arrival, stamp: stamp, plan: plan, regions: last.version))
    }

    private func unknownPicture() -> ProtocolError {
        counters.framesAbandoned.add()
        return ProtocolError(
            .unknownPicture, fatal: false,
            "video: the picture that is said to be unchanged is not the last one that was taken; it has to be sent")
    }

    /// The plan of the client's last picture, where this one looks the same.
    private func planOfLast(_ message: VideoMessage) -> GeometryPlan? {
        guard !gate.hasMissedPicture, let plan = planner.latest(for: message),
            last.regions == regions.all(of: message, transform: plan.transform)
        else { return nil }
        return plan
    }

    /// Puts what the canvas shows of the client's last picture onto the one that is to be filled.
    ///
    /// Nil, so that all of the sample is converted, where the client does not say what has changed since, where the
    /// scaler makes whole pictures only, or where anybody else has drawn on the canvas, or may have: then it does not
    /// look as that picture does.
    func takeOver(
        _ earlier: (picture: Picture, stamp: Curtain.Stamp)?, onto picture: Picture, regions version: RegionsVersion,
        _ message: VideoMessage
    ) -> PictureDamage? {
        guard let damage = message.damage?.damage, intake.makesParts, let earlier, earlier.picture !== picture else {
            return nil
        }
        func isShown() -> Bool {
            slot.newest === earlier.picture && curtain.stamp == earlier.stamp && regions.version == version
        }
        guard isShown() else { return nil }
        picture.copySamples(of: earlier.picture)
        // Whoever paints on what is shown says so before: nobody did while it was copied.
        guard isShown() else { return nil }
        counters.framesPartial.add()
        return damage
    }

    /// The picture that was handed over last, where this one looks the same.
    func pictureLikeIt(_ picture: Picture) -> Picture? {
        guard skipsUnchanged, let newest = slot.newest, picture.hasSameSamples(as: newest) else { return nil }
        return newest
    }
}
