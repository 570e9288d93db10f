internal import ArgumentParser
// Both modules have libavutil's types; to the compiler they are the first one's.
internal import CLibAV
internal import CLibSWResample

/// libswresample from interleaved samples in the machine's byte order to planar float, at the same rate.
@safe final class LibSWConverter /* the context is private and freed once */ {
    private var context: OpaquePointer?

    /// - Parameter format: libav's name of the samples: s16, s32 or flt.
    init(_ format: String, channels: Int) throws {
        var layout = unsafe AVChannelLayout()
        unsafe av_channel_layout_default(&layout, Int32(channels))
        var sameLayout = unsafe layout
        guard unsafe swr_alloc_set_opts2(
            &context, &layout, AV_SAMPLE_FMT_FLTP, 48_000, &sameLayout, av_get_sample_fmt(format), 48_000, 0, nil) == 0,
            unsafe swr_init(context) == 0
        else { throw ValidationError("libswresample does not convert \(format)") }
    }

    deinit { unsafe swr_free(&context) }

    /// Converts stereo.
    func convert(
        _ source: UnsafePointer<UInt8>, frames: Int, left: UnsafeMutablePointer<Float>,
        right: UnsafeMutablePointer<Float>
    ) throws {
        var input: UnsafePointer<UInt8>? = unsafe source
        var outputs = unsafe (
            UnsafeMutableRawPointer(left).assumingMemoryBound(to: UInt8.self) as UnsafeMutablePointer<UInt8>?,
            UnsafeMutableRawPointer(right).assumingMemoryBound(to: UInt8.self) as UnsafeMutablePointer<UInt8>?)
        let converted = unsafe withUnsafeMutablePointer(to: &outputs) { planes in
            unsafe planes.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 2) { planes in
                unsafe swr_convert(context, planes, Int32(frames), &input, Int32(frames))
            }
        }
        guard converted == frames else { throw ValidationError("libswresample gave \(converted) frames of \(frames)") }
    }
}
