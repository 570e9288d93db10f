/// An I420 picture without padding: the output of decoders, and the form in which references are compared.
package struct I420Image: Equatable, Sendable {
    package let width: Int
    package let height: Int
    package var y: [UInt8]
    package var u: [UInt8]
    package var v: [UInt8]

    package var chromaWidth: Int { (width + 1) / 2 }
    package var chromaHeight: Int { (height + 1) / 2 }

    package init(width: Int, height: Int, y: [UInt8], u: [UInt8], v: [UInt8]) {
        self.width = width
        self.height = height
        self.y = y
        self.u = u
        self.v = v
    }

    /// Takes the three planes, one after the other.
    package init(width: Int, height: Int, bytes: [UInt8]) {
        let luma = width * height
        let chroma = ((width + 1) / 2) * ((height + 1) / 2)
        self.init(
            width: width, height: height, y: Array(bytes[0..<luma]), u: Array(bytes[luma..<luma + chroma]),
            v: Array(bytes[luma + chroma..<luma + 2 * chroma]))
    }

    package static func byteCount(width: Int, height: Int) -> Int {
        width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
    }

    /// Mean luma of a square of `2 * radius + 1` pixels around a point.
    package func meanLuma(x: Int, y row: Int, radius: Int = 2) -> Double {
        var (sum, count) = (0, 0)
        for r in max(0, row - radius)...min(height - 1, row + radius) {
            for c in max(0, x - radius)...min(width - 1, x + radius) {
                sum += Int(y[r * width + c])
                count += 1
            }
        }
        return Double(sum) / Double(count)
    }

    /// The luma of the brightest pixel around a point.
    package func maxLuma(x: Int, y row: Int, radius: Int) -> UInt8 {
        var found: UInt8 = 0
        for r in max(0, row - radius)...min(height - 1, row + radius) {
            for c in max(0, x - radius)...min(width - 1, x + radius) { found = max(found, y[r * width + c]) }
        }
        return found
    }

    /// Mean luma of the whole picture.
    package var meanLuma: Double { Double(y.reduce(0) { $0 + Int($1) }) / Double(y.count) }

    /// How many pixels are brighter than a luma.
    package func brightPixels(above luma: UInt8) -> Int { y.count { $0 > luma } }

    /// How many chroma samples differ from grey by more than an encoder causes for grey beside black. The rest of a
    /// marker differs by far more.
    package var coloredSamples: Int {
        zip(u, v).count { abs(Int($0) - 128) > 12 || abs(Int($1) - 128) > 12 }
    }

    package var isColored: Bool { coloredSamples > 0 }

    /// Whether the picture contains ff00ff, the colour of secret-window.
    package var hasMagenta: Bool { hasMagenta(columns: 0..<width) }

    /// - Parameter columns: the columns to search, in pixels of luma.
    package func hasMagenta(columns: Range<Int>) -> Bool {
        u.indices.contains { u[$0] > 175 && v[$0] > 185 && columns.contains(2 * ($0 % chromaWidth)) }
    }
}
