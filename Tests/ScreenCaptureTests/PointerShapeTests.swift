import Grabbing
import Testing

@testable import ScreenCapture

/// Promise: nothing that belongs to a secret window is in the pointer.
@Suite struct PointerShapeTests {
    private static func image(_ pixel: UInt32) -> PointerImage {
        PointerImage(pixels: [pixel], width: 1, height: 1, hotX: 0, hotY: 0)
    }
    private static let (dragged, other, hidden) = (image(0xffff_00ff), image(0xff00_ff00), image(0))

    @Test func shapesWithoutAName() {
        var shape = PointerShape()
        #expect(shape.drawn == .none)
        shape.change(to: Self.dragged, isNamed: false)
        #expect(shape.drawn == Self.dragged)
        shape.noteSecrets()
        #expect(shape.drawn == .arrow)
        shape.noteChange()
        shape.change(to: Self.other, isNamed: false)
        #expect(shape.drawn == .arrow, "the same program may give it another one when its window has gone")
    }

    /// As those of themes; and programs that hide the pointer give it a shape without a pixel.
    @Test(arguments: [(other, true), (hidden, false)]) func harmlessShapes(image: PointerImage, isNamed: Bool) {
        var shape = PointerShape()
        shape.change(to: Self.dragged, isNamed: false)
        shape.noteSecrets()
        shape.change(to: image, isNamed: isNamed)
        shape.noteSecrets()
        #expect(shape.drawn == image)
        shape.change(to: Self.dragged, isNamed: false)
        #expect(shape.drawn == Self.dragged, "nothing was secret since")
    }

    /// A server with SECURITY keeps the shapes of programs that have ended: the last one that was told stays.
    @Test(arguments: [false, true]) func shapesThatAreNotTold(besideSecrets: Bool) {
        var shape = PointerShape()
        shape.change(to: Self.dragged, isNamed: false)
        shape.noteChange()
        if besideSecrets { shape.noteSecrets() }
        shape.keep()
        #expect(!shape.isStale && shape.drawn == (besideSecrets ? .arrow : Self.dragged))
    }

    /// The shape may be read when the secret window has gone, or after the picture that it is drawn into.
    @Test func shapesThatAreNotRead() {
        var shape = PointerShape()
        shape.change(to: Self.other, isNamed: true)
        shape.noteChange()
        #expect(shape.drawn == Self.other, "the last one is harmless")
        shape.noteSecrets()
        shape.change(to: Self.dragged, isNamed: false)
        #expect(shape.drawn == .arrow)
        shape.change(to: Self.hidden, isNamed: false)
        shape.change(to: Self.other, isNamed: false)
        shape.noteChange()
        #expect(shape.drawn == .arrow && shape.isStale, "the next one may be of a window that came after the picture")
    }
}
