package import MediaCore

/// One block of output. Its samples are in the mixer's storage, and valid until the mixer's next call.
@safe package struct MixedBlock /* channel() is marked unsafe by its pointer; the storage outlives the block's use */ {
    /// Broadcast time of the first frame.
    package let time: MediaTime
    package let frames: Int
    package let channels: Int
    /// Whether every sample is zero.
    package let isSilent: Bool
    private let samples: UnsafePointer<Float>
    private let stride: Int

    init(time: MediaTime, frames: Int, channels: Int, isSilent: Bool, samples: UnsafePointer<Float>, stride: Int) {
        self.time = time
        self.frames = frames
        self.channels = channels
        self.isSilent = isSilent
        unsafe self.samples = unsafe samples
        self.stride = stride
    }

    /// `frames` samples of one channel; full scale is 1.
    package func channel(_ index: Int) -> UnsafePointer<Float> {
        precondition(index >= 0 && index < channels)
        return unsafe samples + index * stride
    }
}
