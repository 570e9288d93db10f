package import MediaCore

/// Pictures one after the other; used by one thread.
package protocol VideoSource: AnyObject {
    /// Describes `pixels`; may change from one frame to the next.
    var format: VideoSampleFormat { get }
    /// The frame that `advance` made; its storage is used again for the next one.
    var pixels: [UInt8] { get }
    var rate: FrameRate { get }
    /// True for what ends by itself.
    var isFinite: Bool { get }
    /// Makes the next frame; false when there is none.
    ///
    /// - Parameters:
    ///   - time: since the source's first frame.
    ///   - orientation: how this frame is tagged; a source that draws its frames draws them accordingly.
    func advance(frame: Int64, time: MediaTime, orientation: OrientationTag?) throws(InputError) -> Bool
}
