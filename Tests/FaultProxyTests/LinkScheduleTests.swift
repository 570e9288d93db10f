@testable import FaultProxy
import MediaCore
import Testing

@Suite struct LinkScheduleTests {
    @Test func readsMomentsAndCommands() throws {
        let schedule = try LinkSchedule("rate 8M; 10s rate 300k ;1500ms delay 300ms\n4MB reset; 2.5kB corrupt up 20B;")
        #expect(
            schedule
                == LinkSchedule([
                    (.time(.zero), .rate(8_000_000)), (.time(.seconds(10)), .rate(300_000)),
                    (.time(.milliseconds(1500)), .delay(.milliseconds(300))), (.bytesUp(4_000_000), .reset),
                    (.bytesUp(2_500), .corrupt(.up, bytes: 20)),
                ]))
        #expect(try LinkSchedule("").steps.isEmpty)
    }

    @Test func writesWhatItReads() throws {
        let commands: [LinkCommand] = [
            .rate(300_000), .rate(nil), .delay(.milliseconds(20)), .stall, .blackhole, .resume, .reset, .close,
            .corrupt(.down, bytes: 3), .refuse, .unreachable, .listen, .clear,
        ]
        for command in commands { #expect(try LinkCommand(command.description) == command) }
    }

    @Test(arguments: [
        "rate", "rate fast", "rate 7", "rate -5M", "rate 1e99M", "delay 300", "delay 61s", "corrupt 20B",
        "corrupt sideways 20B", "reset now", "10s", "10 reset", "explode",
    ])
    func refuses(_ text: String) {
        #expect(throws: LinkCommandError.self) { try LinkSchedule(text) }
    }
}

@Suite struct TokenBucketTests {
    @Test(arguments: [100_000, 300_000, 8_000_000, 100_000_000]) func keepsTheRate(bits: Int) {
        var bucket = TokenBucket()
        var now = MediaTime.seconds(5)
        bucket.setRate(bits, at: now)
        let end = now + .seconds(10)
        var total = 0
        while now < end {
            let allowed = bucket.available(at: now)
            bucket.take(allowed, isAll: false, at: now)
            total += allowed
            // Looked at when there will be something, or a little later.
            now = max(bucket.nextAvailable(after: now), now + .milliseconds(1))
        }
        #expect(abs(total * 8 - bits * 10) <= bits / 10, "\(total * 8 / 10) bits a second")
    }

    @Test func doesNotSave() {
        var bucket = TokenBucket()
        bucket.setRate(8_000_000, at: .zero)
        #expect(bucket.available(at: .seconds(60)) == 20_000)
        bucket.take(10_000, isAll: true, at: .seconds(60))
        #expect(bucket.available(at: .seconds(61)) == 20_000)
    }

    @Test func makesUpForALateProxy() {
        var bucket = TokenBucket()
        bucket.setRate(8_000_000, at: .zero)
        #expect(bucket.available(at: .milliseconds(10)) == 10_000)
        bucket.take(10_000, isAll: false, at: .milliseconds(10))
        // Bytes have waited for 500 ms. The socket holds a part of them, and the sender refills it at once.
        #expect(bucket.available(at: .milliseconds(510)) == 500_000)
        bucket.take(50_000, isAll: true, at: .milliseconds(510))
        #expect(bucket.available(at: .milliseconds(511)) == 451_000)
        bucket.take(40_000, isAll: true, at: .milliseconds(511))
        // The sender has nothing more.
        #expect(bucket.available(at: .milliseconds(531)) == 20_000)
    }

    @Test func makesUpForABoundedDelay() {
        var bucket = TokenBucket()
        bucket.setRate(8_000_000, at: .zero)
        bucket.take(bucket.available(at: .milliseconds(10)), isAll: false, at: .milliseconds(10))
        #expect(bucket.available(at: .seconds(60)) == 2_000_000)
    }
}
