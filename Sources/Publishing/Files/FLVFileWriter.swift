internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// Records packets into a sequence of FLV files, or into a pipe.
///
/// Each file begins with a keyframe at time zero, plays by itself, and gets its duration at the end. Existing files are
/// never overwritten: "show.flv" becomes "show-2.flv".
final class FLVFileWriter: PublishingSink {
    private let settings: FLVFileSettings
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let control: PublishControl
    private let sync: (OutputFile) throws(PublishError) -> Void
    private var current: FLVSegment?
    /// The previous file, until audio has reached the current one: audio leaves its encoder later than video.
    private var previous: FLVSegment?
    private var fileNumber = 0
    /// Whether the last file is complete.
    private var isFinished = false
    /// Bytes of completed files.
    private var completedBytes = 0
    private var nextSync = MediaTime.zero

    static let headroom = FLVSegment.headroom
    static let tailroom = FLVSegment.tailroom

    /// - Parameter sync: forces a file to the disk.
    init(
        settings: FLVFileSettings, format: BroadcastFormat, clock: any TimeSource, control: PublishControl,
        sync: @escaping (OutputFile) throws(PublishError) -> Void = { file throws(PublishError) in try file.sync() }
    ) {
        self.sync = sync
        self.settings = settings
        self.format = format
        self.clock = clock
        self.control = control
    }

    var progress: SinkProgress {
        SinkProgress(
            location: current?.file.path ?? settings.path,
            bytesSent: UInt64(completedBytes + (previous?.byteCount ?? 0) + (current?.byteCount ?? 0)))
    }

    /// Written data is in the file or the pipe, and cannot be taken back.
    var unsent: any UnsentMedia { NothingUnsent() }

    func open() throws(PublishError) { try begin() }

    /// Creates the file with the next free number.
    private func begin() throws(PublishError) {
        let file = try OutputFile(creating: settings.path, from: fileNumber + 1)
        fileNumber = file.number
        current = try FLVSegment(file, format: format, clock: clock, control: control)
        if settings.sync != .never { file.syncFolder() }
        if case .every(let period) = settings.sync { nextSync = clock.now() + period }
    }

    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
        guard let segment = current else { throw PublishError(.system, "there is no file to write to") }
        if let previous, info.track == .audio, let start = segment.start {
            guard info.dts >= start else { return try previous.write(info, &buffer) }
            try completePrevious()
        }
        guard info.isKeyframe, isFull(segment, at: info.dts) else { return try segment.write(info, &buffer) }
        try completePrevious()
        try begin()
        previous = segment
        try current?.write(info, &buffer)
    }

    private func isFull(_ segment: FLVSegment, at time: MediaTime) -> Bool {
        guard segment.file.isRegular, let start = segment.start else { return false }
        return segment.byteCount >= settings.rotateBytes ?? .max
            || settings.rotateAfter.map { time - start >= $0 } ?? false
    }

    func service() throws(PublishError) {
        guard case .every(let period) = settings.sync, clock.now() >= nextSync else { return }
        if let file = current?.file { try sync(file) }
        nextSync = clock.now() + period
    }

    func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? {
        try completePrevious()
        if let current { try complete(current) }
        isFinished = true
        return nil
    }

    private func completePrevious() throws(PublishError) {
        guard let segment = previous else { return }
        previous = nil
        completedBytes += segment.byteCount
        try complete(segment)
    }

    private func complete(_ segment: FLVSegment) throws(PublishError) {
        try segment.complete()
        if settings.sync != .never { try sync(segment.file) }
    }

    /// Completes files after a failure as well. Further errors are not reported.
    func close() {
        try? completePrevious()
        if !isFinished, let current { try? complete(current) }
        current = nil
    }
}
