internal import Buffering
internal import FLV
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Writes packets to a new FLV file, or to a pipe; the file starts at time zero and ends with its duration filled in.
///
/// An existing file is never overwritten: "show.flv" becomes "show-2.flv". After a failure the file ends with its
/// last whole tag.
final class FLVFileWriter: PublishingSink {
    private let path: String
    private let format: BroadcastFormat
    private let control: PublishControl
    private let clock: any TimeSource
    private var file: OutputFile?
    /// Bytes written in whole tags.
    private var fileBytes = 0
    /// Decode time of the first packet; nil until it comes.
    private var start: MediaTime?
    private var videoTimestamp = FLVTimestamp()
    private var audioTimestamp = FLVTimestamp()
    private var lastTimestamp: UInt32 = 0

    /// A tag header, and FLV's bytes before an access unit.
    let headroom = 11 + 5
    /// The size of the tag, behind its body.
    static let tailroom = 4
    /// A pipe whose reader takes nothing for as long has failed.
    static let writeTimeout = MediaTime.seconds(5)
    private static let metadataBodyOffset = 13 + 11

    init(path: String, format: BroadcastFormat, clock: any TimeSource, control: PublishControl) {
        self.path = path
        self.format = format
        self.clock = clock
        self.control = control
    }

    var progress: SinkProgress { SinkProgress(location: file?.path ?? path, bytesSent: UInt64(fileBytes)) }

    func open() throws(PublishError) {
        let file = try OutputFile(creating: path)
        self.file = file
        var bytes: [UInt8] = []
        let header = FLVFile.header
        for index in header.indices { bytes.append(header[index]) }
        Self.append(.script, StreamMetadata.body(format, encoder: "upcast", setDataFrame: false), to: &bytes)
        Self.append(
            .audio, FLVAudioTag.sequenceHeader(audioSpecificConfig: format.audio.audioSpecificConfig), to: &bytes)
        Self.append(
            .video, FLVVideoTag.sequenceHeader(decoderConfiguration: format.video.decoderConfiguration), to: &bytes)
        let count = bytes.count
        try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(PublishError) in try unsafe write(buffer) }
        fileBytes = count
    }

    private static func append(_ type: FLVTagType, _ body: [UInt8], to bytes: inout [UInt8]) {
        let header = FLVFile.tagHeader(type, bodyBytes: body.count, timestamp: 0)
        for index in header.indices { bytes.append(header[index]) }
        bytes += body
        let size = FLVFile.previousTagSize(bodyBytes: body.count)
        for index in size.indices { bytes.append(size[index]) }
    }

    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
        let start = start ?? info.dts
        self.start = start
        let isVideo = info.track == .video
        let tagHeaderBytes = isVideo ? 5 : 2
        let bodyBytes = buffer.byteCount + tagHeaderBytes
        let timestamp = isVideo ? videoTimestamp.next(info.dts - start) : audioTimestamp.next(info.dts - start)
        let header = FLVFile.tagHeader(isVideo ? .video : .audio, bodyBytes: bodyBytes, timestamp: timestamp)
        let size = FLVFile.previousTagSize(bodyBytes: bodyBytes)
        try unsafe buffer.withPayload { payload throws(PublishError) in
            let body = unsafe payload - tagHeaderBytes
            if isVideo {
                let tag = FLVVideoTag.header(
                    isKeyframe: info.isKeyframe,
                    compositionTimeMilliseconds: FLVTimestamp.compositionTime(pts: info.pts, dts: info.dts))
                for index in tag.indices { unsafe body.storeBytes(of: tag[index], toByteOffset: index, as: UInt8.self) }
            } else {
                let tag = FLVAudioTag.header
                for index in tag.indices { unsafe body.storeBytes(of: tag[index], toByteOffset: index, as: UInt8.self) }
            }
            for index in header.indices {
                unsafe body.storeBytes(of: header[index], toByteOffset: index - 11, as: UInt8.self)
            }
            for index in size.indices {
                unsafe body.storeBytes(of: size[index], toByteOffset: bodyBytes + index, as: UInt8.self)
            }
            try unsafe write(UnsafeRawBufferPointer(start: body - 11, count: 11 + bodyBytes + Self.tailroom))
        }
        fileBytes += 11 + bodyBytes + Self.tailroom
        lastTimestamp = max(lastTimestamp, timestamp)
    }

    func service() throws(PublishError) {}

    /// Fills in duration and size where the file can be gone back in; a pipe is just closed.
    func finish(until deadline: MediaTime) throws(PublishError) -> Bool {
        guard let file, file.isSeekable else { return true }
        let duration = Double(lastTimestamp) / 1000 + format.video.frameRate.frameDuration.secondsAsDouble
        try file.overwrite(duration, at: Self.metadataBodyOffset + StreamMetadata.durationOffset)
        try file.overwrite(Double(fileBytes), at: Self.metadataBodyOffset + StreamMetadata.fileSizeOffset)
        return true
    }

    func abort() { file = nil }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(PublishError) {
        guard let file else { throw PublishError(.system, "there is no file to write to") }
        do {
            try unsafe file.write(bytes, control: control, until: clock.now() + Self.writeTimeout)
        } catch {
            file.truncate(to: fileBytes)
            throw error
        }
    }
}
