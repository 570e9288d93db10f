import Glibc
import Ingest
import IngestProtocol
import LinuxSystem
import MediaCore

/// Stands in for the pipeline: takes everything, asks for video in bands of a given size, and remembers what came.
final class RecordingConsumer: IngestHost, SampleSink, @unchecked Sendable {
    enum Event: Equatable {
        case started(String)
        case video(MediaTime, [UInt8])
        case videoCancelled
        case videoAgain(MediaTime)
        case audio(AudioSource, MediaTime, [UInt8])
        case audioCancelled
        case paused, resumed, refusedRegions
        case annotated(String)
        case ended(BroadcastEnd)
    }

    private let events = Monitor<[Event]>([])
    /// What the pictures that were begun say has changed.
    let damages = Monitor<[DamageField?]>([])
    private let bandBytes: Int
    /// Bytes at the start of every payload that are not asked for.
    private let gap: Int
    private let storage: UnsafeMutableRawBufferPointer
    private let audioStorage = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    private var picture: [UInt8] = []
    private var total = 0
    private var position = 0
    private var band: IngestBand?
    private var videoTime = MediaTime.zero
    private var audio: (AudioSource, MediaTime, Int)?
    let discardsVideo: Bool
    /// Called after each band that is read where it lies.
    var whileReading: () -> Void = {}
    /// Called after each band that was received.
    var whileReceiving: () -> Void = {}
    weak var server: IngestServer?

    init(bandBytes: Int = 100, gap: Int = 0, discardsVideo: Bool = false) {
        self.bandBytes = bandBytes
        self.gap = gap
        self.discardsVideo = discardsVideo
        storage = .allocate(byteCount: bandBytes, alignment: 16)
    }

    deinit {
        storage.deallocate()
        audioStorage.deallocate()
    }

    var all: [Event] { events.withLock { $0 } }

    func wait(for match: @escaping (Event) -> Bool) -> Bool {
        events.wait(until: MonotonicClock().now() + .seconds(10)) { $0.contains(where: match) ? true : nil } ?? false
    }

    private func note(_ event: Event) { events.signal { $0.append(event) } }

    func begin(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError)
        -> (welcome: WelcomeMessage, sink: any SampleSink)
    {
        note(.started(message.clientName))
        let welcome = WelcomeMessage(
            limits: .default, canvasWidth: 1280, canvasHeight: 720, frameRate: FrameRate(30), audioRate: 48_000,
            broadcastID: "test-1")
        return (welcome, self)
    }

    func beginVideo(_ message: VideoMessage, arrival: MediaTime) throws(ProtocolError) -> Bool {
        guard !discardsVideo else { return false }
        picture = []
        total = message.format.minimumPayloadBytes
        position = gap
        videoTime = message.pts
        damages.withLock { $0.append(message.damage) }
        return true
    }

    func nextBand() -> IngestBand? {
        guard position < total else { return nil }
        let count = min(bandBytes, total - position)
        band = IngestBand(payloadOffset: position, byteCount: count)
        position += count
        return band
    }

    var bandBuffer: UnsafeMutableRawBufferPointer { storage }
    func bandArrived() throws(ProtocolError) {
        picture += storage.prefix(band!.byteCount)
        whileReceiving()
    }
    func bandArrived(at bytes: UnsafeRawPointer) throws(ProtocolError) {
        picture += UnsafeRawBufferPointer(start: bytes, count: band!.byteCount)
        whileReading()
    }
    func endVideo(arrival: MediaTime) { note(.video(videoTime, picture)) }
    func cancelVideo() { note(.videoCancelled) }
    func repeatVideo(_ message: VideoMessage, arrival: MediaTime) { note(.videoAgain(message.pts)) }

    func beginAudio(_ source: AudioSource, _ message: AudioMessage, payloadBytes: Int, arrival: MediaTime)
        throws(ProtocolError) -> UnsafeMutableRawBufferPointer?
    {
        audio = (source, message.pts, payloadBytes)
        return UnsafeMutableRawBufferPointer(rebasing: audioStorage[0..<payloadBytes])
    }

    func endAudio(arrival: MediaTime) {
        let (source, pts, count) = audio!
        note(.audio(source, pts, Array(audioStorage.prefix(count))))
    }

    func cancelAudio() { note(.audioCancelled) }
    func refusedRegions(_ sentence: String, arrival: MediaTime) { note(.refusedRegions) }

    func paused() { note(.paused) }
    func resumed() { note(.resumed) }
    func annotated(_ message: AnnotatedMessage) { note(.annotated(message.key)) }

    /// What the client is to be told of the curtain.
    let curtain = Monitor(StateMessage(.curtainDown, text: ""))
    func attend(at now: MediaTime) -> MediaTime? { nil }
    let objections = Monitor(UInt32(0))
    var curtainObjections: UInt32 { objections.withLock { $0 } }
    func curtainState() -> StateMessage { curtain.withLock { $0 } }

    func ended(_ reason: BroadcastEnd) {
        note(.ended(reason))
        server?.broadcastClosed(
            GoodbyeMessage(.finished, text: "done", framesTaken: 1, framesDropped: 2, audioSamples: 3))
    }
}
