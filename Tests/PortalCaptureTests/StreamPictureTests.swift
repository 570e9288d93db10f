import Grabbing
import MediaCore
import PortalCapture
import Testing
import UpcastClient

/// Promise: what a sender says of its memory is checked before any of it is read.
@Suite struct StreamPictureTests {
    private func claim(_ change: (inout StreamPicture.Claim) -> Void = { _ in }) -> StreamPicture.Claim {
        var claim = StreamPicture.Claim()
        claim.pixelFormat = .bgra
        (claim.width, claim.height, claim.stride, claim.offset) = (32, 20, 160, 64)
        claim.byteCount = 64 + 160 * 19 + 128
        change(&claim)
        return claim
    }

    @Test func whole() throws {
        let picture = try StreamPicture(claim())
        #expect(picture.offset == 64 && picture.stride == 160 && picture.width == 32 && picture.height == 20)
        #expect(picture.origin == (0, 0) && picture.layout.width == 32)
        // Some senders name no stride.
        #expect(try StreamPicture(claim { ($0.stride, $0.offset) = (0, 0) }).stride == 128)
    }

    @Test func parts() throws {
        let picture = try StreamPicture(claim { $0.crop = CaptureRectangle(x: 8, y: 2, width: 100, height: 16) })
        #expect(picture.offset == 64 + 2 * 160 + 32 && picture.width == 24 && picture.height == 16)
        #expect(picture.origin == (8, 2))
    }

    @Test func memoryThatIsNotThere() {
        let wrong: [(inout StreamPicture.Claim) -> Void] = [
            { $0.byteCount -= 1 }, { $0.stride = 124 }, { $0.stride = -160 }, { $0.offset = 65 },
            { $0.height = 21 }, { $0.pixelFormat = nil }, { $0.offset = Int(UInt32.max) },
            { ($0.width, $0.height, $0.stride) = (Int(UInt32.max), Int(UInt32.max), Int(Int32.max)) },
        ]
        for change in wrong {
            let error = #expect(throws: ScreenError.self) { try StreamPicture(claim(change)) }
            #expect(error?.isTemporary == false)
        }
    }

    /// These pass: windows get other sizes.
    @Test func sizesThatCannotBeSent() {
        for crop in [CaptureRectangle(x: 40, y: 0, width: 5, height: 5), .init(x: 0, y: 0, width: 15, height: 20)] {
            let error = #expect(throws: ScreenError.self) { try StreamPicture(claim { $0.crop = crop }) }
            #expect(error?.isTemporary == true)
        }
        let large = claim { ($0.width, $0.stride, $0.byteCount) = (5120, 20_480, 1 << 24) }
        #expect(throws: ScreenError.self) { try StreamPicture(large) }
    }

    @Test func copies() throws {
        let source = (0..<claim().byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let picture = try StreamPicture(claim { $0.crop = CaptureRectangle(x: 4, y: 1, width: 20, height: 18) })
        func expected(_ row: Int, _ byte: Int) -> UInt8 { source[64 + (row + 1) * 160 + 16 + byte] }
        var target = [UInt8](repeating: 0, count: 20 * 18 * 4)
        func copy(_ part: CaptureRectangle?) {
            source.withUnsafeBytes { from in
                target.withUnsafeMutableBytes { picture.copy(part, from: from, to: $0) }
            }
        }
        copy(CaptureRectangle(x: 3, y: 2, width: 5, height: 4))
        for row in 0..<18 {
            for byte in 0..<80 {
                let isInside = (2..<6).contains(row) && (12..<32).contains(byte)
                #expect(target[row * 80 + byte] == (isInside ? expected(row, byte) : 0))
            }
        }
        copy(CaptureRectangle(x: -5, y: 15, width: 100, height: 100))
        copy(CaptureRectangle(x: 20, y: 0, width: 1, height: 1))
        #expect(target[17 * 80 + 79] == expected(17, 79) && target[14 * 80] == 0)
        copy(nil)
        #expect((0..<18).allSatisfy { row in (0..<80).allSatisfy { target[row * 80 + $0] == expected(row, $0) } })
    }
}

/// Promise: a place for frames gets exactly what has changed since it was filled.
@Suite struct StalePartsTests {
    private let a = StaleParts.Place(memory: 1, offset: 0)
    private let b = StaleParts.Place(memory: 1, offset: 4096)
    private let left = CaptureRectangle(x: 0, y: 0, width: 8, height: 8)
    private let right = CaptureRectangle(x: 8, y: 0, width: 8, height: 8)

    @Test func placesThatTakeTurns() {
        var stale = StaleParts()
        #expect(stale.parts(of: a) == nil)
        stale.filled(a, but: nil)
        #expect(stale.parts(of: a) == [] && stale.parts(of: b) == nil)
        stale.note(left)
        stale.filled(b, but: nil)
        stale.note(right)
        #expect(stale.parts(of: a) == [left, right] && stale.parts(of: b) == [right])
        stale.note(nil)
        #expect(stale.parts(of: a) == nil && stale.parts(of: b) == nil)
    }

    /// What is drawn over the picture is in that place only, and has to go from it.
    @Test func whatIsDrawnOver() {
        var stale = StaleParts()
        stale.filled(a, but: right)
        stale.filled(b, but: nil)
        #expect(stale.parts(of: a) == [right] && stale.parts(of: b) == [])
        stale.filled(a, but: nil)
        #expect(stale.parts(of: a) == [])
    }

    @Test func newMemory() {
        var stale = StaleParts()
        for memory in UInt32(1)...20 { stale.filled(StaleParts.Place(memory: memory, offset: 0), but: nil) }
        #expect(stale.parts(of: StaleParts.Place(memory: 1, offset: 0)) == nil)
        #expect(stale.parts(of: StaleParts.Place(memory: 20, offset: 0)) == [])
    }
}

/// Promise: the pointer is drawn where the stream says.
@Suite struct PointerStateTests {
    @Test func placesAndShapes() throws {
        var claim = StreamPicture.Claim()
        (claim.pixelFormat, claim.width, claim.height, claim.byteCount) = (.rgba, 32, 32, 4096)
        claim.crop = CaptureRectangle(x: 4, y: 2, width: 20, height: 20)
        let picture = try StreamPicture(claim)
        var pointer = PointerState()
        #expect(pointer.area(in: picture) == nil)
        // Red, half transparent, and blue.
        let bytes: [UInt8] = [128, 0, 0, 128, 0, 0, 255, 255]
        let shape = bytes.withUnsafeBytes {
            PointerImage(
                bytes: $0, width: 1, height: 2, stride: 4, hotX: 0, hotY: 1,
                positions: (red: 0, green: 1, blue: 2, opacity: 3))
        }
        #expect(shape.pixels == [0x8080_0000, 0xff00_00ff])
        #expect(pointer.take(shape) && !pointer.take(shape))
        #expect(pointer.area(in: picture) == nil, "nobody knows where it is")
        #expect(pointer.move(to: (5, 4)) && !pointer.move(to: (5, 4)))
        #expect(pointer.area(in: picture) == CaptureRectangle(x: 1, y: 1, width: 1, height: 2))
        var frame = [UInt8](repeating: 100, count: 20 * 20 * 4)
        frame.withUnsafeMutableBytes { pointer.draw(into: $0, picture) }
        #expect(Array(frame[84..<88]) == [178, 50, 50, 100] && Array(frame[164..<168]) == [0, 0, 255, 100])
        #expect(frame.filter { $0 != 100 }.count == 6)
        #expect(pointer.move(to: nil) && pointer.area(in: picture) == nil)
        #expect(pointer.move(to: (0, 0)) && pointer.area(in: picture) == nil, "it is outside of the part")
    }
}
