import IngestProtocol
import LinuxSystem
package import MediaCore

/// Plays samples to the daemon in real time, as a capture does: each sample is sent at its time.
package final class Playback {
    package typealias Action = (_ client: CaptureClient, _ pts: MediaTime) throws -> Void

    package let client: CaptureClient
    // The origin is not zero, so that nothing depends on where a client's clock begins.
    private let origin = MediaTime.seconds(1_000)
    private let start = MonotonicClock().now()

    package init(_ client: CaptureClient) { self.client = client }

    /// The client's clock.
    package var now: MediaTime { origin + (MonotonicClock().now() - start) }

    /// Repeats `sample` until the daemon reports that packets reach the destination.
    package func bringLive(_ sample: RawSample, orientation: OrientationTag = .up, within seconds: Double = 20) throws {
        let deadline = Patience.deadline(seconds)
        // At least one sample is sent: on a slow machine, the broadcast may be live before the first picture.
        repeat {
            guard MonotonicClock().now() < deadline else {
                throw TestFailure("not live after \(Patience.scaled(seconds)) s; the daemon said \(client.replies)")
            }
            try client.send(sample, pts: now, orientation: orientation)
            pause(until: MonotonicClock().now() + .milliseconds(50))
        } while !client.hasSaid(.live)
    }

    /// The largest delay between the time of an action of the last `play` and its end. A busy machine makes clients
    /// late.
    package private(set) var lateness = MediaTime.zero

    /// Runs the actions at their times, relative to now. Returns the client's time at their zero.
    @discardableResult
    package func play(_ timetable: [(at: MediaTime, action: Action)]) throws -> MediaTime {
        let zero = now
        lateness = .zero
        for entry in timetable.sorted(by: { $0.at < $1.at }) {
            pause(until: start + (zero - origin) + entry.at)
            try entry.action(client, zero + entry.at)
            lateness = max(lateness, now - (zero + entry.at))
        }
        return zero
    }
}

extension [(at: MediaTime, action: Playback.Action)] {
    /// Adds a picture every `interval` from `from` up to `to`.
    package mutating func show(
        _ sample: RawSample, orientation: OrientationTag? = .up, from: MediaTime, to: MediaTime,
        every interval: MediaTime = .milliseconds(100)
    ) {
        var at = from
        while at < to {
            append((at, { client, pts in try client.send(sample, pts: pts, orientation: orientation) }))
            at += interval
        }
    }

    /// Adds a tone in blocks of `block` from `from` up to `to`. Each block is sent when its last sample has been
    /// captured.
    ///
    /// The phase of the tone counts from time zero of the timetable, so that one span continues another.
    package mutating func sound(
        _ source: AudioSource, _ tone: Tone, format: AudioFormat, from: MediaTime, to: MediaTime,
        block: MediaTime = .milliseconds(20)
    ) {
        var at = from
        while at < to {
            let first = at.sampleIndex(rate: format.sampleRate)
            let end = Swift.min(at + block, to)
            let count = Int(end.sampleIndex(rate: format.sampleRate) - first)
            let samples = tone.samples(from: Int(first), count: count, rate: format.sampleRate)
            let (sound, length) = (RawSound(samples, format: format), end - at)
            append((end, { client, pts in try client.send(source, sound, pts: pts - length) }))
            at = end
        }
    }
}
