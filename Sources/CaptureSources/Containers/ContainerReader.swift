internal import MediaCore

/// The header of a frame in a container; its payload is next in the input.
struct ContainerFrame: Equatable, Sendable {
    /// The index in `streams`.
    let stream: Int
    /// As the container has it: from zero on, or with ffmpeg's `-copyts` as a time since 1970.
    let time: MediaTime
    /// The bytes of the payload.
    let byteCount: Int
}

/// Reads a container with the frames of several streams, in their order. One thread.
///
/// Every size is checked before memory is allocated for it.
protocol ContainerReader: AnyObject {
    associatedtype Stream: ContainerStream
    var streams: [Stream] { get }
    /// Reads up to the payload of the next frame, and skips what is left of the last one. Returns nil at the end.
    func next() throws(InputError) -> ContainerFrame?
    /// Reads from the payload. Returns the number of bytes, less than the size of the buffer at the end of the payload
    /// or of the input.
    func read(into target: UnsafeMutableRawBufferPointer) throws(InputError) -> Int
    /// Whether the input has ended before the end that its headers name.
    var isCutShort: Bool { get }
    /// Returns to the first frame; false for a pipe.
    func rewind() throws(InputError) -> Bool
}

/// What is read of a stream's header.
enum ContainerStreamKind: Equatable, Sendable {
    case video(width: Int, height: Int)
    case audio(sampleRate: Int, channels: Int)
    /// Subtitles and data, which are not sent.
    case other
}

extension MediaTime {
    /// From 9 years before zero to 2106, if zero is 1970. Differences of differences of two such times fit into 64
    /// bits.
    private static let ofContainers: Range<Int128> = -(1 << 58)..<(1 << 62) - (1 << 58)

    /// The time of a frame; nil if it is out of range.
    init?(ofContainer nanoseconds: Int128) {
        guard Self.ofContainers.contains(nanoseconds) else { return nil }
        self.init(nanoseconds: Int64(nanoseconds))
    }
}
