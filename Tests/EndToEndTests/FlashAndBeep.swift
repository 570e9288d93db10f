import Foundation
import TestSupport
import Testing

/// When a viewer of a recording sees the picture become bright and hears the sound begin.
struct FlashAndBeep {
    /// Every picture is encoded, so that a flash is known to 40 ms; and where a busy machine sends the first bright one
    /// late, no repeat of the dark one takes its place.
    static var settings: DaemonSettings {
        var settings = DaemonSettings.patient
        settings.video["skip_unchanged"] = "false"
        settings.video["idle_repeat_ms"] = "5000"
        return settings
    }

    /// On a busy machine frames are superseded, the first bright one too: a flash happened after the last dark frame
    /// and not after the first bright one.
    private(set) var flashes: [ClosedRange<Double>] = []
    private(set) var beeps: [Double] = []

    /// - Parameters:
    ///   - recording: of dark or bright pictures of 320x180 and a beep of less than 0.6 s with each flash.
    init(_ recording: String) throws {
        var seen: [ClosedRange<Double>] = []
        var last: (pts: Double, isBright: Bool) = (0, false)
        try DecodedVideo.forEachFrame(of: recording) { frame in
            let isBright = frame.image.meanLuma(x: 320, y: 180) > 125
            if isBright && !last.isBright { seen.append(last.pts...frame.pts) }
            last = (frame.pts, isBright)
        }
        flashes = seen
        let audio = try DecodedAudio(recording)
        var at = audio.start
        while let onset = ToneAnalysis.onset(
            in: audio.samples(channel: 0, from: at, to: audio.start + audio.duration), above: 0.2)
        {
            beeps.append(audio.start + Double(onset) / Double(audio.sampleRate))
            at = beeps.last! + 0.6
        }
    }

    /// Each flash and its beep are within 40 ms of each other, or what else is promised, in seconds.
    ///
    /// - Parameter offset: by how much the sound is meant to be later.
    func expectTogether(_ count: Int, within bound: Double = 0.040, offset: Double = 0) {
        #expect(flashes.count == count)
        #expect(beeps.count == count)
        for (flash, later) in zip(flashes, beeps) {
            let beep = later - offset
            print("flash at \(flash.lowerBound) to \(flash.upperBound) s, beep at \(beep) s")
            #expect(beep > flash.lowerBound - bound && beep < flash.upperBound + bound, "\(flash), \(beep)")
        }
    }

    /// As `expectTogether`, for what a real player shows: on a busy machine it is late with some of the flashes, and it
    /// plays sound up to two of its pictures away from them. The median counts.
    func expectTogether(onTheWhole bound: Double) {
        var distances: [Double] = []
        for beep in beeps {
            let nearest = flashes.map { flash in
                max(flash.lowerBound - beep, beep - flash.upperBound, 0)
            }.min()
            if let nearest { distances.append(nearest) }
        }
        print("beeps are \(distances) s from the interval in which their flash was")
        #expect(beeps.count > 3 && flashes.count > 3, "\(flashes), \(beeps)")
        #expect(distances.sorted().dropFirst((distances.count - 1) / 2).first ?? 1 < bound, "\(flashes), \(beeps)")
    }
}
