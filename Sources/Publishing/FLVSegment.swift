internal import Buffering
internal import FLV
internal import LinuxSystem
internal import MediaCore

/// One FLV file: header, metadata and sequence headers, then packets from time zero on, at last duration and size.
///
/// Whatever happens, it ends with its last whole tag.
final class FLVSegment {
    let file: OutputFile
    /// Bytes in whole tags.
    private(set) var byteCount = 0
    /// Presentation time of the first packet, which is the file's time zero; nil until it comes.
    private(set) var start: MediaTime?
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let control: PublishControl
    private var framing: FLVFraming
    private var lastTimestamp: UInt32 = 0

    /// A tag header, and FLV's bytes before an access unit.
    static let headroom = FLVFile.tagHeaderBytes + FLVFraming.headroom
    /// The size of the tag, behind its body.
    static let tailroom = 4
    /// A pipe whose reader takes nothing for as long has failed.
    static let writeTimeout = MediaTime.seconds(5)
    private static let metadataBodyOffset = FLVFile.header.count + FLVFile.tagHeaderBytes

    /// Writes all that comes before packets; a file that cannot take even that is removed.
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
            // Or a full disk would fill up with the names of empty files, one an attempt.
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

    /// Fills in duration and size where the file can be gone back in; a pipe is just closed.
    func complete() throws(PublishError) {
        guard file.isSeekable else { return }
        let duration = Double(lastTimestamp) / 1000 + format.video.frameRate.frameDuration.secondsAsDouble
        try file.overwrite(duration, at: Self.metadataBodyOffset + StreamMetadata.durationOffset)
        try file.overwrite(Double(byteCount), at: Self.metadataBodyOffset + StreamMetadata.fileSizeOffset)
    }
}
