internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// Records packets into FLV files, one after the other, or into a pipe.
///
/// Each file begins with a keyframe at time zero, plays by itself, and ends with its duration filled in. An existing
/// file is never overwritten: "show.flv" becomes "show-2.flv".
final class FLVFileWriter: PublishingSink {
    private let settings: FLVFileSettings
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let control: PublishControl
    private let sync: (OutputFile) throws(PublishError) -> Void
    private var current: FLVSegment?
    /// The file before, until audio has reached the present one: audio leaves its encoder later than video does.
    private var previous: FLVSegment?
    private var fileNumber = 0
    /// The last file is complete.
    private var isFinished = false
    /// Bytes of files that are complete.
    private var completedBytes = 0
    private var nextSync = MediaTime.zero

    static let headroom = FLVSegment.headroom
    static let tailroom = FLVSegment.tailroom

    /// - Parameter sync: brings a file to the disk.
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

    /// What was written is in the file, or in the pipe: it has gone out.
    var unsent: any UnsentMedia { NothingUnsent() }

    func open() throws(PublishError) { try begin() }

    /// Begins a file, with the next free number.
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

    @discardableResult
    func finish(until deadline: MediaTime) throws(PublishError) -> Bool {
        try completePrevious()
        if let current { try complete(current) }
        isFinished = true
        return true
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

    /// What has been written is worth as much as after an end in order; there is nobody to tell of another failure.
    func close() {
        try? completePrevious()
        if !isFinished, let current { try? complete(current) }
        current = nil
    }
}
