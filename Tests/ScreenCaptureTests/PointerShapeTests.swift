import Grabbing
import Testing

@testable import ScreenCapture

/// Promise: nothing that belongs to a secret window is in the pointer.
@Suite struct PointerShapeTests {
    private static func image(_ pixel: UInt32) -> PointerImage {
        PointerImage(pixels: [pixel], width: 1, height: 1, hotX: 0, hotY: 0)
    }

    @Test func shapesWithoutAName() {
        var shape = PointerShape()
        #expect(shape.drawn(besideSecrets: true) == .none)
        shape.change(to: Self.image(0xffff_00ff), isNamed: false)
        #expect(shape.drawn(besideSecrets: false) == Self.image(0xffff_00ff))
        #expect(shape.drawn(besideSecrets: true) == .arrow)
        #expect(shape.drawn(besideSecrets: false) == .arrow, "it may outlive the window by a picture")
        shape.change(to: Self.image(0xff00_ff00), isNamed: false)
        #expect(shape.drawn(besideSecrets: false) == Self.image(0xff00_ff00))
    }

    @Test func shapesOfThemes() {
        var shape = PointerShape()
        shape.change(to: Self.image(0xffff_00ff), isNamed: true)
        #expect(shape.drawn(besideSecrets: true) == Self.image(0xffff_00ff))
    }

    /// A program that hides the pointer gives it a shape without a pixel.
    @Test func hiddenPointers() {
        var shape = PointerShape()
        shape.change(to: Self.image(0), isNamed: false)
        #expect(shape.drawn(besideSecrets: true) == Self.image(0) && !shape.isVisible)
    }
}
