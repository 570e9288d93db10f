import Foundation
import SeededRandom
import TestSupport
import Testing

@testable import Encoding

/// Pictures from files: what is in them is shown, and what is wrong with them is said; nothing crashes.
@Suite(.enabled(if: isFFmpegInstalled)) struct StillPictureTests {
    private typealias Color = (red: UInt8, green: UInt8, blue: UInt8)

    /// A file of 48x32 that ffmpeg makes: three bars, red, grey and blue; with an alpha channel the grey is half
    /// transparent.
    private static func file(_ pixels: String, _ codec: String, _ options: [String] = []) throws -> [UInt8] {
        let folder = try TemporaryDirectory("still")
        let name = codec == "png" ? "a.png" : "a.jpg"
        let bars = "color=0xff0000:s=16x32,format=rgba[a];color=0x808080:s=16x32,format=rgba,"
            + "colorchannelmixer=aa=0.5[b];color=0x0000ff:s=16x32,format=rgba[c];[a][b][c]hstack=3,format=\(pixels)"
        try ChildProcess.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-y", "-filter_complex", bars, "-frames:v", "1", "-c:v", codec] + options
                + [folder.file(name)])
        return try folder.bytes(of: name)
    }

    private static func pixel(_ picture: StillPicture, _ column: Int, _ row: Int, over color: Color) -> [Int] {
        var bgra = [UInt8](repeating: 7, count: 4 * picture.width)
        bgra.withUnsafeMutableBufferPointer { picture.readRow(row, over: color, into: $0.baseAddress!) }
        return [Int(bgra[4 * column + 2]), Int(bgra[4 * column + 1]), Int(bgra[4 * column])]
    }

    @Test(arguments: [
        ("rgb24", "png"), ("rgba", "png"), ("rgb48be", "png"), ("rgba64be", "png"), ("pal8", "png"),
        ("yuvj420p", "mjpeg"), ("yuvj422p", "mjpeg"), ("yuvj444p", "mjpeg"),
    ]) func colours(pixels: String, codec: String) throws {
        let picture = try StillPicture(file: Self.file(pixels, codec))
        #expect((picture.width, picture.height) == (48, 32))
        let below: Color = (0, 255, 0)
        let hasAlpha = ["rgba", "rgba64be", "pal8"].contains(pixels)
        for (column, color) in [(8, [255, 0, 0]), (24, hasAlpha ? [64, 192, 64] : [128, 128, 128]), (40, [0, 0, 255])] {
            for row in [2, 29] {
                let found = Self.pixel(picture, column, row, over: below)
                // A palette of ffmpeg's making has few colours and alpha that is all or nothing.
                if pixels == "pal8", column == 24 { continue }
                #expect(zip(found, color).allSatisfy { abs($0 - $1) < 9 }, "\(pixels) \(column): \(found)")
            }
        }
    }

    @Test(arguments: [
        ("gray", "png", 0), ("gray16be", "png", 0), ("ya8", "png", 1), ("ya16be", "png", 1), ("monob", "png", 0),
        ("gray", "mjpeg", 0),
    ]) func greys(pixels: String, codec: String, alpha: Int) throws {
        let picture = try StillPicture(file: Self.file(pixels, codec, codec == "mjpeg" ? ["-strict", "-1"] : []))
        let found = Self.pixel(picture, 24, 16, over: (0, 255, 0))
        if alpha == 1 {
            #expect(zip(found, [64, 192, 64]).allSatisfy { abs($0 - $1) < 9 }, "\(found)")
        } else {
            #expect(found[0] == found[1] && found[1] == found[2])
            #expect(pixels == "monob" || abs(found[0] - 128) < 9, "\(found)")
        }
    }

    private static func what(_ file: [UInt8]) -> String {
        do throws(StillPictureError) {
            _ = try StillPicture(file: file)
            return "no error"
        } catch { return error.what }
    }

    private static func png(width: Int, height: Int, depth: UInt8 = 8, color: UInt8 = 6) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + word(13) + Array("IHDR".utf8) + word(width)
            + word(height) + [depth, color, 0, 0, 0] + word(0) + word(0) + Array("IEND".utf8) + word(0)
    }

    private static func jpeg(width: Int, height: Int, marker: UInt8 = 0xC2) -> [UInt8] {
        [
            0xFF, 0xD8, 0xFF, marker, 0, 17, 8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8),
            UInt8(width & 255), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xFF, 0xDA, 0, 2, 0xFF, 0xD9,
        ]
    }

    /// What a file says of itself is not believed: nothing of that size is ever asked for.
    @Test func sizesAreChecked() throws {
        #expect(Self.what([]) == "is neither a PNG nor a JPEG file")
        #expect(Self.what(Array("GIF89a".utf8)) == "is neither a PNG nor a JPEG file")
        #expect(Self.what(Self.png(width: 65_535, height: 65_535)) == "is 65535x65535 pixels")
        #expect(Self.what(Self.png(width: 15, height: 16)) == "is 15x16 pixels")
        #expect(Self.what(Self.png(width: 1 << 31, height: 1)) == "is 2147483648x1 pixels")
        #expect(Self.what(Self.png(width: 4096, height: 4096)).contains("64 MiB to decode"))
        #expect(Self.what(Self.png(width: 1920, height: 1080, depth: 16)).contains("cut off"))
        #expect(Self.what(Self.png(width: 2560, height: 1440, depth: 16)).contains("29 MiB to decode"))
        #expect(Self.what(Self.png(width: 64, height: 64, depth: 3)).contains("broken"))
        #expect(Self.what(Self.jpeg(width: 1920, height: 1080)).contains("18 MiB to decode"))
        #expect(Self.what(Self.jpeg(width: 640, height: 480)).contains("cut off"))
        #expect(Self.what(Self.jpeg(width: 640, height: 480, marker: 0xC9)) == "is a JPEG file of a rare kind")
        #expect(Self.what([UInt8](repeating: 0, count: StillPicture.maxFileBytes + 1)).hasPrefix("has 4194305 bytes"))
    }

    /// A second picture in the file, larger than the first, which says how large it is.
    @Test func oneSizeOnly() throws {
        let file = try Self.file("yuvj420p", "mjpeg")
        #expect(Self.what(file.dropLast(2) + Self.jpeg(width: 4000, height: 4000).dropFirst(2)).contains("broken"))
        // Texts may be packed, and unpack to anything: no decoder sees them.
        let text: [UInt8] = [0, 0, 0, 4] + Array("zTXtabcd".utf8) + [0, 0, 0, 0]
        let png = try Self.file("rgb24", "png")
        let reduced = try StillPictureFile(png.prefix(33) + text + png.dropFirst(33))
        #expect(!String(decoding: reduced.bytes, as: UTF8.self).contains("zTXt"))
        #expect(try StillPicture(file: reduced.bytes).width == 48)
    }

    @Test(arguments: [("rgba", "png"), ("pal8", "png"), ("yuvj420p", "mjpeg"), ("yuvj444p", "mjpeg")])
    func cutOffFiles(pixels: String, codec: String) throws {
        let file = try Self.file(pixels, codec)
        for count in stride(from: 0, to: file.count - 1, by: 7) {
            #expect(throws: StillPictureError.self, "\(count)") {
                _ = try StillPicture(file: Array(file.prefix(count)))
            }
        }
    }

    /// CRC-32 of each chunk, as far as the file goes.
    private static func repairChecksums(_ file: inout [UInt8]) {
        var next = 8
        while next + 12 <= file.count {
            let length = file[next..<next + 4].reduce(0) { $0 << 8 | Int($1) }
            guard next + 12 + length <= file.count else { return }
            var sum: UInt32 = .max
            for byte in file[next + 4..<next + 8 + length] {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            for (index, shift) in [24, 16, 8, 0].enumerated() {
                file[next + 8 + length + index] = UInt8(truncatingIfNeeded: ~sum >> UInt32(shift))
            }
            next += 12 + length
        }
    }

    /// Bytes that lie: an error or a picture within its bounds, and never a crash.
    @Test(arguments: [
        ("rgba", "png"), ("pal8", "png"), ("gray16be", "png"), ("yuvj420p", "mjpeg"), ("yuvj444p", "mjpeg"),
    ]) func brokenFiles(pixels: String, codec: String) throws {
        LibAVLog.install { _, _ in }
        let file = try Self.file(pixels, codec)
        var random = SplitMix64(seed: 20_260)
        var decoded = 0
        for _ in 0..<1500 {
            var broken = file
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Headers more often than samples.
                let end = Bool.random(using: &random) ? min(700, broken.count) : broken.count
                let index = Int.random(in: 0..<end, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: broken[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: broken[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)!
                case 2: broken.remove(at: index)
                default: broken.insert(.random(in: 0...255, using: &random), at: index)
                }
            }
            // Most would go no further than to their checksums.
            if codec == "png", Bool.random(using: &random) { Self.repairChecksums(&broken) }
            guard let picture = try? StillPicture(file: broken) else { continue }
            decoded += 1
            #expect(StillPicture.sides.contains(picture.width) && StillPicture.sides.contains(picture.height))
            for row in 0..<picture.height { _ = Self.pixel(picture, 0, row, over: (0, 0, 0)) }
        }
        print("\(decoded) of 1500 were pictures all the same")
    }
}
