import LinuxSystem
import MediaCore
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
}
