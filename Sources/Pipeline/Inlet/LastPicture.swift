internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Privacy

/// What is known of the client's last picture: what the next one may look like.
struct LastPicture {
    /// A picture that has just changed is encoded again for as long: an encoder with a bitrate to keep makes it better
    /// from frame to frame, and has got there by then.
    static let refinement = MediaTime.milliseconds(500)

    /// What it hides, the standing regions among it, and their version then.
    var regions = SecureRegions()
    var version: RegionsVersion = .first
    /// The picture on the canvas that looks as it does, and the curtain when that was handed over. Nil where nobody
    /// knows of one.
    var shown: (picture: Picture, stamp: Curtain.Stamp)?
    /// Since when it has looked as it does.
    var unchangedSince: MediaTime?

    /// It has been shown for long enough: there is nothing left to encode.
    func isRefined(at time: MediaTime) -> Bool {
        guard let unchangedSince else { return false }
        return time - unchangedSince > Self.refinement
    }
}
