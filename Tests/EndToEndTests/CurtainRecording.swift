import TestSupport
import Testing

/// A server's recording of one connection, with the tone that tests of the curtain play.
struct CurtainRecording {
    let path: String
    let audio: DecodedAudio
    private let packets: [MediaProbe.Packet]

    init(_ path: String) throws {
        self.path = path
        packets = try MediaProbe.packets(path)
        audio = try DecodedAudio(path)
    }

    var video: [MediaProbe.Packet] { packets.filter { $0.track == "video" } }

    /// The longest time from one packet of a track to the next.
    func longestGap(_ track: String) -> Double {
        let times = packets.filter { $0.track == track }.map(\.dts)
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 99
    }

    private func level(_ from: Double, _ to: Double) -> Double {
        ToneAnalysis.level(
            of: 440, in: audio.samples(channel: 0, from: from, to: to), sampleRate: audio.sampleRate)
    }

    /// Whether the tone is heard for 150 ms. A client that the machine holds up for longer than the mixer waits is
    /// silence there, not elsewhere.
    func isHeard(from: Double, to: Double) -> Bool {
        stride(from: from, to: to - 0.15, by: 0.05).contains { level($0, $0 + 0.15) > -14 }
    }

    func expectSilence(from: Double, to: Double) {
        for time in stride(from: from, to: to - 0.1, by: 0.1) {
            #expect(level(time, time + 0.1) < -70, "\(time) s of \(path): \(level(time, time + 0.1)) dB")
        }
    }
}

extension DecodedAudio {
    /// When the last sample ends, on the container's timeline.
    var end: Double { start + duration }
}
