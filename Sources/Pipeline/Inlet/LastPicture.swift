internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Privacy

/// The properties of the client's last picture, to find out whether the next one looks the same.
struct LastPicture {
    /// The time for which a picture is encoded again after a change. The rate control refines it from frame to frame,
    /// and is done by then.
    static let refinement = MediaTime.milliseconds(500)

    /// The hidden regions, including standing regions, and the version of these.
    var regions = SecureRegions()
    var version: RegionsVersion = .first
    /// The canvas picture that looks like it, and the curtain's stamp when that was handed over; nil if there is none.
    var shown: (picture: Picture, stamp: Curtain.Stamp)?
    /// The time of the last change.
    var unchangedSince: MediaTime?

    /// Whether the picture has been encoded for long enough.
    func isRefined(at time: MediaTime) -> Bool {
        guard let unchangedSince else { return false }
        return time - unchangedSince > Self.refinement
    }
}
