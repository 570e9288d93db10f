internal import MediaCore

/// An input that cannot be read, or has another format than configured; one sentence for people.
package struct InputError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the description names the file or pipe.
    package let namesInput: Bool

    package init(_ description: String, namesInput: Bool = false) {
        (self.description, self.namesInput) = (description, namesInput)
    }
}

extension InputError {
    /// How a film becomes a stream that can be sent.
    static let filmCommand =
        "ffmpeg -i FILE -c:v rawvideo -pix_fmt yuv420p -enc_time_base:v 1:1000 -c:a pcm_s16le -f nut - | upcast-send -"

    /// ffmpeg's filter from HDR to the colours of HD.
    package static let hdrFilter =
        "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=mobius,zscale=t=bt709:m=bt709:r=tv,"
        + "format=yuv420p"

    /// - Parameter difference: the difference between the bursts of a live pipe.
    static func unsteady(_ name: String, _ difference: MediaTime) -> InputError {
        InputError(
            "the times of \(name) are not known: its pipe delivers in bursts that differ by \(difference.milliseconds) "
                + "ms, and sound and video would differ as much; send both as one NUT stream, which has times: "
                + "ffmpeg ... -f nut - | upcast-send - (see --help)")
    }
}
