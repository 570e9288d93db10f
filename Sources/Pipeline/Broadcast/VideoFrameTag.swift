internal import FrameGeometry
internal import MediaCore
internal import Privacy

/// The data that accompanies a picture from ingest to the video thread.
struct VideoFrameTag: Sendable {
    /// On the broadcast's timeline.
    let time: MediaTime
    /// When its last byte had been read, on the monotonic clock.
    let arrival: MediaTime
    /// The curtain's stamp when the frame began to arrive.
    let stamp: Curtain.Stamp
    /// How the picture was placed on the canvas, and which version of the standing regions it hides.
    let plan: GeometryPlan
    let regions: RegionsVersion
}
