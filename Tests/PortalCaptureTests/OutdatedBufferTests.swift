import CPipeWire
import SeededRandom
import Testing

/// Which of the buffers that nobody has taken yet goes back to the sender: one that tells nothing that later ones do
/// not.
@Suite struct OutdatedBufferTests {
    /// `p` a picture, `m` a move of the pointer, `s` a shape of the pointer alone, `b` a picture with a shape.
    private static func outdated(_ kinds: String) -> Int? {
        func bits(_ some: String) -> UInt32 {
            kinds.enumerated().reduce(0) { some.contains($1.element) ? $0 | 1 << UInt32($1.offset) : $0 }
        }
        let found = upcast_pipewire_find_outdated(bits("pb"), bits("sb"), CInt(kinds.count))
        return found < 0 ? nil : Int(found)
    }

    @Test(arguments: [
        ("", nil), ("p", nil), ("m", nil), ("pp", 0), ("mm", 0), ("mp", 0), ("pm", nil), ("pmm", 1), ("ppm", 0),
        ("sp", nil), ("sm", nil), ("bp", nil), ("bpp", 1), ("smp", 1), ("pb", 0), ("psm", nil), ("pss", nil),
    ] as [(String, Int?)])
    func theFirstThatTellsNothing(kinds: String, first: Int?) { #expect(Self.outdated(kinds) == first) }

    /// However many come, in whatever order: the newest picture, all shapes and the newest buffer stay, and nothing
    /// else does that is not needed.
    @Test(arguments: 0..<200 as Range<UInt64>) func whatIsNeededStays(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var kinds = (0..<Int.random(in: 1...32, using: &random)).map { _ in "pmsb".randomElement(using: &random)! }
        let (last, shapes) = (kinds.last, kinds.filter { "sb".contains($0) })
        let hasPicture = kinds.contains { "pb".contains($0) }
        while let index = Self.outdated(String(kinds)) { kinds.remove(at: index) }
        #expect(kinds.last == last && kinds.filter { "sb".contains($0) } == shapes, "seed \(seed)")
        #expect(kinds.contains { "pb".contains($0) } == hasPicture, "seed \(seed)")
        #expect(kinds.filter { $0 == "p" }.count <= 1 && kinds.dropLast().filter { $0 == "m" }.isEmpty, "seed \(seed)")
    }
}
