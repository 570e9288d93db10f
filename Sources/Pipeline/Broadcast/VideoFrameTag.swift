internal import FrameGeometry
internal import MediaCore
internal import Privacy

/// What travels with a picture from ingest to the video thread.
struct VideoFrameTag: Sendable {
    /// On the broadcast's timeline.
    let time: MediaTime
    /// Monotonic clock when its last byte had been read.
    let arrival: MediaTime
    /// The curtain's when the frame began to come.
    let stamp: Curtain.Stamp
    /// How it came onto the canvas, and which standing regions were painted over on the way.
    let plan: GeometryPlan
    let regions: RegionsVersion
}
