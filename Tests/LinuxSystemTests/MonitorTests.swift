import LinuxSystem
import MediaCore
import TestSupport
import Testing

@Suite struct MonitorTests {
    @Test func handsValuesBetweenThreads() throws {
        let monitor = Monitor<[Int]>([])
        let thread = try WorkerThread(name: "test-producer") {
            for value in 0..<1000 { monitor.signal { $0.append(value) } }
        }
        let seen = monitor.wait { $0.count == 1000 ? $0 : nil }
        thread.join()
        #expect(seen == Array(0..<1000))
    }

    @Test func deadlinePasses() {
        let monitor = Monitor(0)
        let result: Int? = monitor.wait(until: MonotonicClock().now() + .milliseconds(5)) { _ in nil }
        #expect(result == nil)
    }

    /// A thread waits by the clock that it was given: it goes on when this one is turned, and not before.
    @Test func deadlinePassesByTheGivenClock() throws {
        let (monitor, clock, result) = (Monitor(0), ManualClock(.seconds(5)), Monitor<[MediaTime]>([]))
        let thread = try WorkerThread(name: "test-waiter") {
            for second in [MediaTime.seconds(6), .seconds(7)] {
                let value: Int? = monitor.wait(until: second, by: clock) { looks in
                    looks += 1
                    return nil
                }
                if value == nil { result.signal { $0.append(clock.now()) } }
            }
        }
        clock.advance(by: .milliseconds(999))
        let looks = monitor.withLock { $0 }
        try waitFor("the thread to look again") {
            monitor.signal { _ in }
            return monitor.withLock { $0 } > looks + 1
        }
        #expect(result.withLock { $0.isEmpty })
        clock.advance(by: .milliseconds(1))
        #expect(result.wait { $0.first } == .seconds(6))
        clock.set(.seconds(8))
        thread.join()
        #expect(result.withLock { $0 } == [.seconds(6), .seconds(8)])
    }

    /// What the kernel waits for lasts as long as the given clock has left.
    @Test func deadlinesOfTheKernel() {
        let (clock, now) = (ManualClock(.seconds(5)), MonotonicClock().now())
        #expect(clock.kernelDeadline(.seconds(15)) >= now + .seconds(10))
        #expect(clock.kernelDeadline(.seconds(5)) <= MonotonicClock().now())
        #expect(MonotonicClock().kernelDeadline(.seconds(5)) == .seconds(5))
    }
}
