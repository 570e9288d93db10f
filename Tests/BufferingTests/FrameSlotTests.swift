import Buffering
import LinuxSystem
import MediaCore
import Testing

@Suite struct FrameSlotTests {
    private static func slot(others: Int = 2) -> (FrameSlot<Int>, shown: Picture) {
        let shown = Picture(width: 32, height: 32)
        return (FrameSlot(shown: shown, others: others), shown)
    }

    /// The video thread's next picture, in place of the one that it has shown.
    private static func take(_ slot: FrameSlot<Int>, _ shown: inout Picture) -> Int? {
        guard case .frame(let picture, let tag) = slot.take(until: .zero) else { return nil }
        slot.recycle(shown)
        shown = picture
        return tag
    }

    @Test(arguments: [1, 2]) func theNewestWins(others: Int) throws {
        var (slot, shown) = Self.slot(others: others)
        for value in 0..<10 { slot.offer(try #require(slot.acquire()), value) }
        #expect(slot.superseded == 9)
        #expect(Self.take(slot, &shown) == 9)
        #expect(Self.take(slot, &shown) == nil)
    }

    /// With three pictures one goes on waiting while the next is filled; with two it is given up for that.
    @Test(arguments: [1, 2]) func whatWaitsWhileTheNextIsFilled(others: Int) throws {
        var (slot, shown) = Self.slot(others: others)
        slot.offer(try #require(slot.acquire()), 1)
        let filling = try #require(slot.acquire())
        #expect(slot.superseded == (others == 1 ? 1 : 0))
        #expect((slot.newest == nil) == (others == 1))
        #expect(Self.take(slot, &shown) == (others == 1 ? nil : 1))
        slot.offer(filling, 2)
        #expect(Self.take(slot, &shown) == 2)
    }

    /// Bug: a picture that came just after a take-back was compared with itself from then on, and never shown.
    @Test func whatIsNotWantedIsNotHandedOver() throws {
        var (slot, shown) = Self.slot()
        let first = try #require(slot.acquire())
        slot.offer(first, 1)
        let second = try #require(slot.acquire())
        var isOffered = slot.offer(second, 2) { false }
        #expect(!isOffered && slot.newest === first && slot.superseded == 0)
        isOffered = slot.offer(second, 2) { true }
        #expect(isOffered && slot.newest === second && slot.superseded == 1)
        #expect(Self.take(slot, &shown) == 2 && slot.newest === shown)
        slot.recycle(shown)
        #expect(slot.newest == nil, "it is filled again")
    }

    /// One picture fewer as soon as one is free, and one more again; the threads notice nothing.
    @Test func aPictureIsShedAndComesBack() throws {
        var (slot, shown) = Self.slot()
        slot.offer(try #require(slot.acquire()), 1)
        let filling = try #require(slot.acquire())
        slot.shedPicture()
        #expect(slot.pictureCount == 3, "all three are in use")
        #expect(Self.take(slot, &shown) == 1)
        #expect(slot.pictureCount == 2)
        slot.offer(filling, 2)
        let next = try #require(slot.acquire())
        #expect(slot.superseded == 1, "with two, what waits is given up")
        slot.offer(next, 3)
        #expect(Self.take(slot, &shown) == 3)
        slot.shedPicture()
        #expect(slot.pictureCount == 2, "two are the least")

        slot.restorePicture()
        #expect(slot.pictureCount == 3)
        slot.offer(try #require(slot.acquire()), 4)
        let another = try #require(slot.acquire())
        #expect(another !== shown && Self.take(slot, &shown) == 4)
        slot.restorePicture()
        #expect(slot.pictureCount == 3, "three are the most")
    }

    /// Taken back before any was free: as if nothing had been.
    @Test func aPictureThatIsYetToGoStays() throws {
        var (slot, shown) = Self.slot()
        slot.offer(try #require(slot.acquire()), 1)
        let filling = try #require(slot.acquire())
        slot.shedPicture()
        slot.restorePicture()
        #expect(Self.take(slot, &shown) == 1)
        slot.recycle(filling)
        #expect(slot.pictureCount == 3)
    }

    /// What was handed over last stays as it is until the next is, whatever the video thread does meanwhile.
    @Test(arguments: [1, 2]) func theNewestIsNotFilledAnew(others: Int) throws {
        var (slot, shown) = Self.slot(others: others)
        #expect(slot.newest == nil)
        for round in 0..<60 {
            let filling = try #require(slot.acquire())
            #expect(filling !== slot.newest && filling !== shown)
            // The video thread takes now and then, before or after the next is handed over.
            if round % 3 == 0 { _ = Self.take(slot, &shown) }
            if round % 5 == 4 {
                let newest = slot.newest
                slot.recycle(filling)
                #expect(slot.newest === newest)
            } else {
                slot.offer(filling, round)
                #expect(slot.newest === filling)
            }
            if round % 4 == 0 { _ = Self.take(slot, &shown) }
        }
    }

    /// The last picture once more: behind one that waits it is the same, in front of a newer one it is nothing.
    @Test func theLastOnceMore() throws {
        var (slot, shown) = Self.slot()
        func isAgain(_ tag: Int) -> Bool {
            if case .again(tag) = slot.take(until: .zero) { true } else { false }
        }
        slot.offer(try #require(slot.acquire()), 1)
        slot.offerAgain(2)
        #expect(slot.superseded == 1)
        #expect(Self.take(slot, &shown) == 1)
        #expect(Self.take(slot, &shown) == nil)
        slot.offerAgain(3)
        slot.offerAgain(4)
        #expect(slot.superseded == 2)
        #expect(isAgain(4) && !isAgain(4))
        slot.offerAgain(5)
        slot.offer(try #require(slot.acquire()), 6)
        #expect(slot.superseded == 3)
        #expect(Self.take(slot, &shown) == 6)
        #expect(!isAgain(5))
        slot.offerAgain(7)
        slot.close()
        #expect(isAgain(7))
    }

    @Test func closeDeliversWhatWaits() throws {
        let (slot, _) = Self.slot()
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
