internal import Buffering
internal import FLV
internal import LinuxSystem
internal import MediaCore

/// One FLV file: header, metadata and sequence headers, then packets from time zero. `complete` writes duration and
/// size.
///
/// After a failure, the file ends with its last whole tag.
final class FLVSegment {
    let file: OutputFile
    /// Bytes of whole tags, with the file header.
    private(set) var byteCount = 0
    /// Presentation time of the first packet, which becomes time zero; nil before it.
    private(set) var start: MediaTime?
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let control: PublishControl
    private var framing: FLVFraming
    private var lastTimestamp: UInt32 = 0

    /// The tag header, and the FLV header of an access unit.
    static let headroom = FLVFile.tagHeaderBytes + FLVFraming.headroom
    /// The tag size, which follows the body.
    static let tailroom = 4
    /// A pipe whose reader takes nothing for this long has failed.
    static let writeTimeout = MediaTime.seconds(5)
    private static let metadataBodyOffset = FLVFile.header.count + FLVFile.tagHeaderBytes

    /// Writes the tags before the first packet. Removes the file if that fails.
    init(
        _ file: OutputFile, format: BroadcastFormat, clock: any TimeSource, control: PublishControl
    ) throws(PublishError) {
        self.file = file
        self.format = format
        self.clock = clock
        self.control = control
        framing = FLVFraming(format)
        var bytes: [UInt8] = []
        let header = FLVFile.header
        for index in header.indices { bytes.append(header[index]) }
        for tag in FLVFraming.beginning(format, isForServer: false) { Self.append(tag.type, tag.body, to: &bytes) }
        do {
            try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(PublishError) in try unsafe write(buffer) }
        } catch {
            // Otherwise each attempt on a full disk would leave an empty file.
            file.remove()
            throw error
        }
        byteCount = bytes.count
    }

    private static func append(_ type: FLVTagType, _ body: [UInt8], to bytes: inout [UInt8]) {
        let header = FLVFile.tagHeader(type, bodyBytes: body.count, timestamp: 0)
        for index in header.indices { bytes.append(header[index]) }
        bytes += body
        let size = FLVFile.previousTagSize(bodyBytes: body.count)
        for index in size.indices { bytes.append(size[index]) }
    }

    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
        let start = start ?? info.pts
        self.start = start
        let framed = framing.frame(info, from: start, in: &buffer)
        let bodyBytes = buffer.byteCount + framed.headerBytes
        let header = FLVFile.tagHeader(framed.type, bodyBytes: bodyBytes, timestamp: framed.timestamp)
        let size = FLVFile.previousTagSize(bodyBytes: bodyBytes)
        try unsafe buffer.withPayload { payload throws(PublishError) in
            let body = unsafe payload - framed.headerBytes
            for index in header.indices {
                unsafe body.storeBytes(of: header[index], toByteOffset: index - header.count, as: UInt8.self)
            }
            for index in size.indices {
                unsafe body.storeBytes(of: size[index], toByteOffset: bodyBytes + index, as: UInt8.self)
            }
            let tag = unsafe UnsafeRawBufferPointer(
                start: body - header.count, count: header.count + bodyBytes + Self.tailroom)
            do throws(PublishError) { try unsafe write(tag) } catch {
                file.truncate(to: byteCount)
                throw error
            }
        }
        byteCount += header.count + bodyBytes + Self.tailroom
        lastTimestamp = max(lastTimestamp, framed.timestamp &+ UInt32(framed.compositionTime))
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(PublishError) {
        try unsafe file.write(bytes, control: control, until: clock.now() + Self.writeTimeout)
    }

    /// Writes duration and size into the metadata, except in a pipe, which cannot seek.
    func complete() throws(PublishError) {
        guard file.isSeekable else { return }
        let duration = Double(lastTimestamp) / 1000 + format.video.frameRate.frameDuration.secondsAsDouble
        try file.overwrite(duration, at: Self.metadataBodyOffset + StreamMetadata.durationOffset)
        try file.overwrite(Double(byteCount), at: Self.metadataBodyOffset + StreamMetadata.fileSizeOffset)
    }
}
