import FaultProxy
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// One daemon that publishes to one RTMP server, through a network that fails on command where a test wants that.
final class Stage: Sendable {
    let server: NginxRTMP
    let arrivals: ArrivalLog
    let proxy: FaultProxy?
    let daemon: Daemon

    init(
        _ settings: DaemonSettings = DaemonSettings(), in cgroup: MemoryCgroup? = nil, behindProxy: Bool = false
    ) throws {
        let server = try NginxRTMP()
        self.server = server
        arrivals = try ArrivalLog { server.recordings }
        proxy = behindProxy ? try FaultProxy(to: UInt16(server.port)) : nil
        var settings = settings
        settings.publish(to: proxy.map { "rtmp://127.0.0.1:\($0.port)/live" } ?? server.url)
        daemon = try Daemon(settings, in: cgroup)
    }

    /// What the status says of the server's destination.
    func destination(_ name: String = "main") throws -> [String: Any] {
        let all = try daemon.status()["destinations"] as? [[String: Any]]
        guard let main = all?.first(where: { $0["name"] as? String == name }) else {
            throw TestFailure("no destination in the status")
        }
        return main
    }

    /// Its failed attempts and broken connections so far.
    func failures(_ cause: String) throws -> Int {
        (try destination()["failures"] as? [String: Any])?[cause] as? Int ?? 0
    }

    /// A client whose broadcast has reached the server.
    func live(
        _ convention: OrientationConvention = .exif, showing sample: RawSample, orientation: OrientationTag = .up
    ) throws -> Playback {
        let client = try CaptureClient(socket: daemon.ingestSocket)
        try client.start(convention)
        let playback = Playback(client)
        try playback.bringLive(sample, orientation: orientation)
        return playback
    }

    /// Sends a picture and waits until it has been encoded; again, where the daemon took a newer one in its place.
    func show(
        _ sample: RawSample, orientation: OrientationTag, hiding regions: SecureRegions = SecureRegions(),
        in playback: Playback
    ) throws {
        var encoded = try daemon.settledFrames()
        let before = encoded
        while encoded == before {
            try playback.client.send(sample, pts: playback.now, orientation: orientation, hiding: regions)
            let sent = playback.client.samplesSent
            encoded = try daemon.settledFrames(received: sent)
        }
    }

    /// What every broadcast owes: it decodes to the end, its timestamps rise, and it never restarted.
    func checkRecording(_ path: String) throws {
        let errors = try MediaProbe.decodingErrors(path)
        #expect(errors == "")
        let flv = try FLVRecording(path)
        #expect(flv.videoSequenceHeaders.count == 1)
        #expect(flv.audioSequenceHeaders.count == 1)
        for track in ["video", "audio"] {
            let times = try MediaProbe.packets(path).filter { $0.track == track }.map(\.dts)
            #expect(!times.isEmpty, "no \(track)")
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(track) timestamps do not rise")
        }
    }

    /// Ends the daemon as an operator does and checks what it owes at its end.
    func end() throws {
        #expect(try !daemon.statusText().contains(DaemonSettings.streamKey), "the stream key is in the status")
        #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        #expect(!daemon.log.contains(DaemonSettings.streamKey), "the stream key is in the log")
        try server.stop()
    }
}

extension DaemonSettings {
    /// For tests that look at sound but not at how late it may be: a busy machine delays the client by more than the
    /// default forgives.
    static var patient: DaemonSettings {
        var settings = DaemonSettings()
        settings.audio["min_latency_ms"] = "1500"
        settings.audio["max_latency_ms"] = "3000"
        return settings
    }
}

/// Pictures that several tests send.
enum NumberedPictures {
    /// A numbered landscape picture.
    static func landscape(_ number: UInt8, width: Int = 320, height: Int = 180) -> RawSample {
        RawSample(ReferencePicture(width: width, height: height, number: number).image, format: .i420)
    }

    /// The number that a frame of a recording shows.
    static func number(in image: I420Image) -> UInt8? {
        MarkerCells.read(
            image,
            placement: Placement(
                sourceWidth: 320, sourceHeight: 180, canvasWidth: image.width, canvasHeight: image.height, fit: .fit))
    }
}
