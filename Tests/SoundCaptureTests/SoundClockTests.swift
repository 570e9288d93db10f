import MediaCore
import SoundCapture
import Testing

/// Promise: samples get the time at which they are heard, in spite of answers that are wrong now and then.
@Suite struct SoundClockTests {
    private static let bytesPerSecond = 192_000

    /// What a server says at a time of a stream that began at `origin`, with an error.
    ///
    /// - Parameters:
    ///   - waiting: the bytes that were not read, of which `arrived` have left the server.
    ///   - held: what the server holds back of what was recorded; nil if it does not say.
    private static func reading(
        _ at: MediaTime, origin: MediaTime, error: MediaTime = .zero, waiting: Int64 = 0, arrived: Int64 = 0,
        held: MediaTime? = nil
    ) -> SoundClock.Reading {
        let (capture, play) = (MediaTime.milliseconds(7), MediaTime.milliseconds(30))
        // The byte that is recorded now is heard `play` later; what was written is older by `capture` and `held`.
        let age = capture + (held ?? .zero)
        let written = (at - origin + play - age).nanoseconds * Int64(bytesPerSecond) / 1_000_000_000
        let queue = MediaTime(nanoseconds: (waiting - arrived) * 1_000_000_000 / Int64(bytesPerSecond))
        return SoundClock.Reading(
            at: at + error, written: written, read: written - waiting, arrived: arrived, captureDelay: capture,
            leftDelay: held == nil ? .zero : age + queue, playDelay: play, position: written - waiting)
    }

    private static func settled(origin: MediaTime) -> SoundClock {
        var clock = SoundClock(bytesPerSecond: bytesPerSecond)
        for step in 1...9 { clock.note(reading(origin + .milliseconds(Int64(step) * 20), origin: origin)) }
        return clock
    }

    private static func time(_ clock: inout SoundClock, at position: Int64) throws -> MediaTime {
        let time = clock.time(at: position)
        return try #require(time)
    }

    @Test func withoutEnoughReadingsThereIsNoTime() {
        var clock = SoundClock(bytesPerSecond: Self.bytesPerSecond)
        for step in 1..<SoundClock.neededReadings {
            clock.note(Self.reading(.milliseconds(Int64(step) * 20), origin: .zero))
            let time = clock.time(at: 0)
            #expect(time == nil)
        }
        clock.note(Self.reading(.milliseconds(200), origin: .zero))
        #expect(clock.isSettled)
    }

    @Test(arguments: [Int64(0), 192_000, 19_200_000]) func aByteIsHeardWhenTheReadingsSay(position: Int64) throws {
        var clock = Self.settled(origin: .seconds(5))
        let time = try Self.time(&clock, at: position)
        let right = MediaTime.seconds(5) + .milliseconds(position / 192)
        #expect((time - right).magnitude < .microseconds(20), "\(time) is not \(right)")
    }

    /// A wrong answer out of nine changes nothing.
    @Test func oneWrongAnswerIsIgnored() throws {
        var clock = Self.settled(origin: .zero)
        let before = try Self.time(&clock, at: 0)
        clock.note(Self.reading(.seconds(1), origin: .zero, error: .milliseconds(700)))
        let after = try Self.time(&clock, at: 0)
        #expect((after - before).magnitude < .microseconds(50))
    }

    /// Bug: a server that hands over a piece each 21 ms, as PipeWire does, does not say how long ago. Sound was late by
    /// 10 ms on average.
    @Test(arguments: [(Int64(17), Int64(5), Int64(9)), (18, 5, 9), (250, 9, 4)])
    func soundThatComesInPieces(asking: Int64, count: Int64, error: Int64) throws {
        var clock = SoundClock(bytesPerSecond: Self.bytesPerSecond, comesInPieces: true)
        let piece = Int64(21_333_333)
        for step in 1...count {
            let at = MediaTime.milliseconds(step * asking)
            clock.note(Self.reading(at, origin: .zero, error: MediaTime(nanoseconds: at.nanoseconds % piece)))
        }
        let time = try Self.time(&clock, at: 0)
        #expect(time.magnitude < .milliseconds(error), "\(time)")
    }

    /// Bug: numbers that no server should send ended the program.
    @Test func numbersThatCannotBeAreIgnored() throws {
        var clock = Self.settled(origin: .zero)
        let before = try Self.time(&clock, at: 0)
        for (written, read) in [(Int64.max, Int64(-2)), (.min, 1), (1 << 60, 0), (0, 1 << 60)] {
            for step in 1...9 {
                var reading = Self.reading(.seconds(Int64(step)), origin: .zero)
                (reading.written, reading.read) = (written, read)
                clock.note(reading)
            }
        }
        let after = try Self.time(&clock, at: 0)
        #expect(after == before)
    }

    /// What this process has not read yet is older, and does not count as drift.
    @Test func bytesThatWaitDoNotMatter() throws {
        var clock = Self.settled(origin: .zero)
        for step in 50..<60 {
            clock.note(Self.reading(.milliseconds(Int64(step) * 20), origin: .zero, waiting: 38_400))
        }
        let time = try Self.time(&clock, at: 0)
        #expect(time.magnitude < .microseconds(50))
    }

    /// Bug: PulseAudio holds back a part of what a sink's monitor has recorded, another one after each change of the
    /// programs that play. Sound was late by this part.
    @Test(arguments: [Int64(0), 7680, 38_400]) func whatTheServerHoldsBackDoesNotMatter(arrived: Int64) throws {
        var clock = Self.settled(origin: .zero)
        for step in 50..<60 {
            let (at, held) = (MediaTime.milliseconds(Int64(step) * 20), MediaTime.milliseconds(Int64(step) - 20))
            clock.note(Self.reading(at, origin: .zero, waiting: 38_400, arrived: arrived, held: held))
        }
        let time = try Self.time(&clock, at: 0)
        #expect(time.magnitude < .microseconds(50))
    }

    /// A sound card that is 10 ms ahead after a while: times follow by a millisecond a block.
    @Test func driftIsFollowedSlowly() throws {
        var clock = Self.settled(origin: .zero)
        var last = try Self.time(&clock, at: 0)
        for step in 50..<60 { clock.note(Self.reading(.milliseconds(Int64(step) * 20), origin: .milliseconds(10))) }
        for _ in 0..<10 {
            let time = try Self.time(&clock, at: 0)
            #expect(time - last <= SoundClock.slew)
            last = time
        }
        #expect((last - .milliseconds(10)).magnitude < .microseconds(50))
    }

    /// A stream that stood still for a second without saying so: once all answers agree, times step.
    @Test func aStepIsTakenWhenAllAgree() throws {
        var clock = Self.settled(origin: .zero)
        _ = clock.time(at: 0)
        for step in 50..<58 { clock.note(Self.reading(.milliseconds(Int64(step) * 20), origin: .seconds(1))) }
        let time = try Self.time(&clock, at: 0)
        #expect(time < .milliseconds(5))
        clock.note(Self.reading(.seconds(2), origin: .seconds(1)))
        let late = try Self.time(&clock, at: 0)
        #expect((late - .seconds(1)).magnitude < .microseconds(50))
    }

    @Test func afterARestartOldAnswersDoNotCount() {
        var clock = Self.settled(origin: .zero)
        clock.restart()
        let time = clock.time(at: 0)
        #expect(!clock.isSettled && time == nil)
    }

    /// A program that stood still may have lost samples: the places of those that follow say other times.
    @Test func aProgramThatStoodStill() throws {
        var clock = Self.settled(origin: .zero)
        for second in 0...Int64(3) { clock.look(at: .seconds(second)) }
        #expect(clock.isSettled)
        clock.look(at: .milliseconds(4600))
        #expect(!clock.isSettled)
        let origin = MediaTime.milliseconds(900)
        for step in 0..<Int64(5) { clock.note(Self.reading(.milliseconds(4600 + step * 20), origin: origin)) }
        let time = try Self.time(&clock, at: 0)
        #expect((time - origin).magnitude < .microseconds(20))
    }
}
