import CPipeWire
import MediaCore
import PortalCapture
import Testing

/// Promise: a buffer that PipeWire has lost is noticed with the next one, and a whole stream is not taken for losses.
@Suite struct BufferOrderTests {
    private func order(_ buffers: [UInt]) -> upcast_pipewire_order {
        var order = upcast_pipewire_order()
        for buffer in buffers { unsafe upcast_pipewire_order_add(&order, buffer) }
        return order
    }

    /// Takes buffers, and returns which of them came too early.
    private func early(
        _ order: inout upcast_pipewire_order, _ buffers: [UInt], sequences: [UInt64]? = nil
    ) -> [Bool] {
        buffers.enumerated().map { index, buffer in
            unsafe upcast_pipewire_order_take(&order, buffer, sequences?[index] ?? 0)
        }
    }

    @Test func nothingIsLost() {
        var order = order([10, 20, 30])
        #expect(early(&order, [10, 20, 30, 10, 20, 30, 10]) == [Bool](repeating: false, count: 7))
    }

    @Test func oneIsLost() {
        var order = order([10, 20, 30, 40])
        #expect(early(&order, [10, 30, 40, 10, 20]) == [false, true, false, false, false])
    }

    @Test func manyAreLost() {
        var order = order([10, 20, 30, 40])
        #expect(early(&order, [40, 10, 20, 10, 20]) == [true, false, false, true, false])
        #expect(early(&order, [30, 40, 10, 20]) == [false, false, false, false])
    }

    /// A sender that passes one over, because it is in hand here, keeps the new order.
    @Test func anotherOrder() {
        var order = order([10, 20, 30])
        #expect(early(&order, [10, 20, 30, 20]) == [false, false, false, true])
        #expect(early(&order, [30, 10, 20, 30]) == [false, false, false, false])
    }

    /// A sender that counts can fill its buffers in any order.
    @Test func numbers() {
        var order = order([10, 20, 30])
        #expect(early(&order, [20, 10, 20], sequences: [7, 8, 9]) == [true, false, false])
        #expect(early(&order, [30, 10, 20], sequences: [11, 12, 14]) == [true, false, true])
    }

    @Test func buffersThatComeAndGo() {
        var order = order([10, 20, 30])
        unsafe upcast_pipewire_order_remove(&order, 20)
        #expect(early(&order, [10, 30, 10]) == [false, false, false])
        unsafe upcast_pipewire_order_remove(&order, 99)
        // One that nobody has announced says nothing.
        #expect(early(&order, [99, 30]) == [false, false])
        for buffer in 100..<200 as Range<UInt> { unsafe upcast_pipewire_order_add(&order, buffer) }
        #expect(order.count == UInt32(UPCAST_PIPEWIRE_BUFFERS))
        #expect(early(&order, [10, 30, 100, 102]) == [false, false, false, true])
    }
}

/// Promise: a picture that was lost is asked for once, not at once, and not too often.
@Suite struct LostPictureTests {
    private func at(_ milliseconds: Int64) -> MediaTime { .milliseconds(milliseconds) }

    /// One whose sender streams from `start` on and has sent its first picture.
    private func streaming(since start: Int64 = 0) -> LostPicture {
        var lost = LostPicture()
        lost.note(isStreaming: true, starts: 1, at: at(start))
        lost.notePicture()
        return lost
    }

    @Test func oneThatIsLost() {
        var lost = streaming()
        #expect(lost.due == nil)
        lost.noteLoss(at: at(5000))
        #expect(lost.due == at(5200))
        // More losses do not put it off.
        lost.noteLoss(at: at(5100))
        #expect(lost.due == at(5200))
        lost.noteAsked(at: at(5210))
        #expect(lost.due == nil)
    }

    @Test func oneThatComes() {
        var lost = streaming()
        lost.noteLoss(at: at(5000))
        lost.notePicture()
        #expect(lost.due == nil)
    }

    @Test func theRate() {
        var lost = streaming()
        lost.noteLoss(at: at(5000))
        lost.noteAsked(at: at(5200))
        lost.noteLoss(at: at(5300))
        #expect(lost.due == at(6200))
        lost.noteAsked(at: at(6200))
        lost.noteLoss(at: at(9000))
        #expect(lost.due == at(9200))
    }

    /// The first picture of a stream, without which viewers see nothing.
    @Test func theFirst() {
        var lost = LostPicture()
        lost.note(isStreaming: true, starts: 1, at: at(5000))
        #expect(lost.due == at(6000))
        lost.notePicture()
        #expect(lost.due == nil)
        lost.noteAsked(at: at(9000))
        #expect(lost.due == nil)
    }

    /// Questions for losses meanwhile do not put off the one for the first picture, but a new start does.
    @Test func lossesBeforeTheFirst() {
        var lost = LostPicture()
        lost.note(isStreaming: true, starts: 1, at: at(5000))
        lost.noteLoss(at: at(5100))
        #expect(lost.due == at(5300))
        lost.noteAsked(at: at(5300))
        #expect(lost.due == at(6000))
        // The sender starts again because of the question.
        lost.note(isStreaming: false, starts: 1, at: at(5305))
        #expect(lost.due == nil)
        lost.note(isStreaming: true, starts: 2, at: at(5310))
        #expect(lost.due == at(6310))
    }

    @Test func aFirstThatDoesNotCome() {
        var lost = LostPicture()
        lost.note(isStreaming: true, starts: 1, at: at(5000))
        var waits: [Int64] = []
        for _ in 0..<8 {
            guard let due = lost.due else { break }
            lost.noteAsked(at: due)
            waits.append(((lost.due ?? due) - due).nanoseconds / 1_000_000_000)
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60])
        // A loss does not wait for the minute to end.
        lost.noteLoss(at: at(200_000))
        #expect(lost.due == at(200_000) + LostPicture.patience)
    }

    /// A sender that pauses and starts again sends its picture again, which makes up for losses: one that streams on
    /// does not.
    @Test func aPause() {
        var lost = streaming()
        lost.note(isStreaming: true, starts: 1, at: at(3000))
        #expect(lost.due == nil)
        lost.noteLoss(at: at(5000))
        lost.note(isStreaming: false, starts: 1, at: at(5100))
        // Nobody hears a question.
        #expect(lost.due == nil)
        lost.note(isStreaming: true, starts: 2, at: at(9000))
        #expect(lost.due == at(10_000))
    }

    /// A pause that nobody has seen.
    @Test func aShortPause() {
        var lost = streaming()
        lost.noteLoss(at: at(5000))
        lost.note(isStreaming: true, starts: 2, at: at(5100))
        #expect(lost.due == at(6100))
        lost.note(isStreaming: true, starts: 2, at: at(5200))
        #expect(lost.due == at(6100))
    }
}
