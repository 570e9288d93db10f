extension PointerImage {
    /// Drawn in place of a shape that is unknown, or that must not be shown: black with a white outline, as large as an
    /// arrow of the usual themes at their usual size of 24.
    package static let arrow: PointerImage = {
        let rows: [StaticString] = [
            "o           ",
            "oo          ",
            "o#o         ",
            "o##o        ",
            "o###o       ",
            "o####o      ",
            "o#####o     ",
            "o######o    ",
            "o#######o   ",
            "o########o  ",
            "o#########o ",
            "o######ooooo",
            "o###o##o    ",
            "o##oo##o    ",
            "o#o  o##o   ",
            "oo   o##o   ",
            "o     o##o  ",
            "      o##o  ",
            "       oo   ",
        ]
        let pixels = rows.flatMap { row in
            "\(row)".map { (mark: Character) -> UInt32 in
                switch mark {
                case "o": 0xffff_ffff
                case "#": 0xff00_0000
                default: 0
                }
            }
        }
        return PointerImage(pixels: pixels, width: pixels.count / rows.count, height: rows.count, hotX: 0, hotY: 0)
    }()
}
