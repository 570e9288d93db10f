import Buffering
import LinuxSystem
import MediaCore
import Testing

@Suite struct FrameSlotTests {
    @Test func theNewestWinsAndPicturesComeBack() throws {
        let slot = FrameSlot<Int>(pictureCapacity: 4096)
        for value in 0..<10 { slot.offer(try #require(slot.acquire()), value) }
        #expect(slot.superseded == 9)
        guard case .frame(let picture, let tag) = slot.take(until: nil) else {
            Issue.record("no frame")
            return
        }
        #expect(tag == 9)
        // One in the reader's hand: two more can still be acquired, and no fourth exists.
        let second = try #require(slot.acquire())
        let third = try #require(slot.acquire())
        #expect(slot.acquire() == nil)
        [picture, second, third].forEach(slot.recycle)
        #expect(slot.acquire() != nil)
    }

    /// What was handed over last stays as it is until the next is, whatever the video thread does meanwhile.
    @Test func theNewestIsNotFilledAnew() throws {
        let slot = FrameSlot<Int>(pictureCapacity: 4096)
        #expect(slot.newest == nil)
        var held: Picture?
        for round in 0..<30 {
            let filling = try #require(slot.acquire())
            #expect(filling !== slot.newest)
            // The video thread takes now and then, and gives back before or after the next is filled.
            if round % 3 == 0, case .frame(let picture, _) = slot.take(until: .zero) { held = picture }
            if round % 2 == 0, let picture = held {
                slot.recycle(picture)
                held = nil
            }
            if round % 5 == 4 {
                let newest = slot.newest
                slot.recycle(filling)
                #expect(slot.newest === newest)
            } else {
                slot.offer(filling, round)
                #expect(slot.newest === filling)
            }
        }
    }

    @Test func closeDeliversWhatWaits() throws {
        let slot = FrameSlot<Int>(pictureCapacity: 4096)
        slot.offer(try #require(slot.acquire()), 1)
        slot.close()
        guard case .frame = slot.take(until: nil) else {
            Issue.record("the waiting frame was lost")
            return
        }
        guard case .closed = slot.take(until: nil) else {
            Issue.record("not closed")
            return
        }
    }
}
