import Glibc
import Grabbing
import LinuxSystem
import MediaCore
import Testing

@Suite final class GrabWaitTests {
    private let clock = MonotonicClock()
    private let orders: EventDescriptor

    init() throws { orders = try EventDescriptor() }

    /// What becomes readable ends the wait, wherever it stands; the result is about the orders alone.
    @Test(arguments: 0..<4) func eachDescriptorWakes(which: Int) throws {
        var events = [orders]
        for _ in 0..<3 { events.append(try EventDescriptor()) }
        events[which].signal()
        var wait = GrabWait(orders: events[0].raw, now: clock.now())
        for event in events.dropFirst() { wait.note(event.raw) }
        #expect(wait.wait() == (which == 0))
    }

    /// The signal comes from another thread, while the wait lasts.
    @Test func ordersComeLater() throws {
        let thread = try WorkerThread(name: "orders") { [orders] in orders.signal() }
        var wait = GrabWait(orders: orders.raw, now: clock.now())
        wait.note(-1)
        #expect(wait.wait())
        thread.join()
    }

    @Test func theEarliestMomentCounts() throws {
        let begin = clock.now()
        var wait = GrabWait(orders: orders.raw, now: begin)
        wait.note(begin + .seconds(3600))
        wait.note(atMost: .milliseconds(20))
        wait.note(nil)
        wait.note(atMost: .seconds(3600))
        #expect(!wait.wait())
        let waited = clock.now() - begin
        #expect(waited >= .milliseconds(20) && waited < .seconds(3000))
    }

    @Test func aMomentThatHasPassedDoesNotWait() throws {
        var wait = GrabWait(orders: orders.raw, now: clock.now())
        wait.note(.zero)
        #expect(!wait.wait())
    }

    /// A display that has not taken all that was sent to it: room to write ends the wait as well.
    @Test func roomToWrite() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var wait = GrabWait(orders: orders.raw, now: clock.now())
        wait.note(ends[1], events: Int16(POLLIN | POLLOUT))
        #expect(!wait.wait())
    }
}
