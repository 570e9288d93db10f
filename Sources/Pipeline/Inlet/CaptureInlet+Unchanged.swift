internal import Buffering
internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Painting
internal import Privacy
internal import Synchronization
internal import Timeline

/// Pictures that look like the client's last one, in whole or in part. The known part is not converted again.
///
/// Ingest thread only.
extension CaptureInlet {
    /// Takes a message without a picture: the client's picture has not changed. Nothing is converted. After a while
    /// nothing is encoded either.
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) {
        counters.framesReceived.add()
        try checkRegions(of: message, arrival: arrival)
        _ = attend(at: arrival)
        let stamp = curtain.stamp
        let plan = planOfLast(message)
        guard !stamp.isUp else {
            // The unchanged picture may be the kept one.
            guard kept == nil || plan == nil else { return counters.framesCurtained.add() }
            gate.miss()
            // If a whole picture could be kept or shown, asks the client for one. Otherwise it gets a state message
            // later.
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

    /// The plan of the client's last picture if this one looks the same; else nil.
    private func planOfLast(_ message: VideoMessage) -> GeometryPlan? {
        guard !gate.hasMissedPicture, let plan = planner.latest(for: message),
            last.regions == regions.all(of: message, transform: plan.transform)
        else { return nil }
        return plan
    }

    /// Copies the client's last picture, as it is on the canvas, into the picture that is to be filled.
    ///
    /// - Returns: the damage to convert; nil for all of the sample, if the client sends no damage, the scaler makes
    ///   whole pictures only, or anything else has drawn on the canvas since.
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
        // A painter announces itself before it paints, so nothing was painted during the copy.
        guard isShown() else { return nil }
        counters.framesPartial.add()
        return damage
    }

    /// The picture that was handed over last if this one looks the same; else nil.
    func pictureLikeIt(_ picture: Picture) -> Picture? {
        guard skipsUnchanged, let newest = slot.newest, picture.hasSameSamples(as: newest) else { return nil }
        return newest
    }
}
