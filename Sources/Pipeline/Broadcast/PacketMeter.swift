internal import MediaCore

/// Counts the encoders' packets on their way into the packet log. The video and the audio thread write through it.
final class PacketMeter: PacketSink {
    private let sink: any PacketSink
    let videoBytes = AtomicCount()
    let audioBytes = AtomicCount()
    let audioPackets = AtomicCount()
    let keyframes = AtomicCount()

    init(into sink: any PacketSink) { self.sink = sink }

    func write(_ info: PacketInfo, payload: RawSpan) {
        switch info.track {
        case .video:
            videoBytes.add(UInt64(payload.byteCount))
            if info.isKeyframe { keyframes.add() }
        case .audio:
            audioBytes.add(UInt64(payload.byteCount))
            audioPackets.add()
        }
        sink.write(info, payload: payload)
    }
}
