/// A PNG or JPEG file whose size was checked before decoding. It contains only the parts that pixels need. Colour
/// profiles, thumbnails and texts are removed, because they may be compressed and grow without limit.
struct StillPictureFile: Sendable {
    enum Kind: Equatable, Sendable { case png, jpeg }

    let kind: Kind
    let width: Int
    let height: Int
    /// The most bytes that the pixels need while they are decoded, computed from the header.
    let decodedBytes: Int
    let bytes: [UInt8]

    init(_ file: consuming [UInt8]) throws(StillPictureError) {
        let parts: (kind: Kind, width: Int, height: Int, bytesOfFour: Int)
        if file.starts(with: Self.pngSignature) {
            parts = try Self.reducePNG(&file)
        } else if file.starts(with: [0xFF, 0xD8, 0xFF]) {
            parts = try Self.reduceJPEG(&file)
        } else {
            throw StillPictureError("is neither a PNG nor a JPEG file", "save the picture as one of the two")
        }
        (kind, width, height) = (parts.kind, parts.width, parts.height)
        let sides = StillPicture.sides
        guard sides.contains(width), sides.contains(height) else {
            throw StillPictureError(
                "is \(width)x\(height) pixels", "make each side \(sides.lowerBound) to \(sides.upperBound)")
        }
        decodedBytes = width * height * parts.bytesOfFour / 4
        guard decodedBytes <= StillPicture.maxDecodedBytes else {
            throw StillPictureError(
                "is \(width)x\(height) pixels, and would take \((decodedBytes + 0xF_FFFF) >> 20) MiB to decode",
                "\(StillPicture.maxDecodedBytes >> 20) MiB is the most: make it as small as the canvas")
        }
        bytes = file
    }

    private typealias Parts = (kind: Kind, width: Int, height: Int, bytesOfFour: Int)

    private static func number(_ file: [UInt8], at index: Int, bytes: Int) throws(StillPictureError) -> Int {
        guard index + bytes <= file.count else { throw .cutOff() }
        return file[index..<index + bytes].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Copies a range to `end`, over the parts that are removed.
    private static func keep(_ range: Range<Int>, of file: inout [UInt8], at end: inout Int) {
        for index in range {
            file[end] = file[index]
            end += 1
        }
    }

    // MARK: PNG

    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func reducePNG(_ file: inout [UInt8]) throws(StillPictureError) -> Parts {
        var (next, end) = (pngSignature.count, pngSignature.count)
        var parts: Parts?
        while true {
            let length = try number(file, at: next, bytes: 4)
            let type = try number(file, at: next + 4, bytes: 4)
            let (chunk, following) = (next + 8, next + 12 + length)
            guard following <= file.count else { throw .cutOff() }
            let name = String(decoding: file[next + 4..<chunk], as: UTF8.self)
            guard parts != nil || name == "IHDR" else { throw .cutOff() }
            switch name {
            case "IHDR":
                guard parts == nil, length == 13 else { throw .cutOff() }
                parts = try pngParts(file, at: chunk)
            case "PLTE", "tRNS", "IDAT", "IEND": break
            default:
                // An upper-case first letter marks a chunk that decoders need.
                guard type >> 29 & 1 == 1 else {
                    throw StillPictureError("has a part \(printableName(name)) that is not known", "save it again")
                }
                next = following
                continue
            }
            keep(next..<following, of: &file, at: &end)
            next = following
            if name == "IEND" { break }
        }
        file.removeLast(file.count - end)
        guard let parts else { throw .cutOff() }
        return parts
    }

    private static func printableName(_ name: String) -> String {
        name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) } ? name : "?"
    }

    private static func pngParts(_ file: [UInt8], at header: Int) throws(StillPictureError) -> Parts {
        let (width, height) = (try number(file, at: header, bytes: 4), try number(file, at: header + 4, bytes: 4))
        let (depth, color) = (Int(file[header + 8]), file[header + 9])
        // Greyscale and RGB may get an alpha channel from tRNS.
        let (depths, channels): ([Int], Int) =
            switch color {
            case 0: ([1, 2, 4, 8, 16], 2)
            case 2: ([8, 16], 4)
            case 3: ([1, 2, 4, 8], 1)
            case 4: ([8, 16], 2)
            case 6: ([8, 16], 4)
            default: ([], 0)
            }
        guard depths.contains(depth), file[header + 10] == 0, file[header + 11] == 0, file[header + 12] <= 1 else {
            throw .cutOff()
        }
        return (.png, width, height, 4 * channels * (depth == 16 ? 2 : 1))
    }

    // MARK: JPEG

    private static func reduceJPEG(_ file: inout [UInt8]) throws(StillPictureError) -> Parts {
        var (next, end) = (2, 2)
        var parts: Parts?
        // Segments up to the first scan.
        while true {
            guard try number(file, at: next, bytes: 1) == 0xFF else { throw .cutOff() }
            let marker = try number(file, at: next + 1, bytes: 1)
            // Fill bytes.
            if marker == 0xFF {
                next += 1
                continue
            }
            let length = try number(file, at: next + 2, bytes: 2)
            let following = next + 2 + length
            guard length >= 2, following <= file.count else { throw .cutOff() }
            switch marker {
            // JFIF, and Adobe's segment about the channels; tables and the scan itself.
            case 0xE0, 0xEE, 0xC4, 0xDB, 0xDD, 0xDA: break
            case 0xE1...0xEF, 0xFE:
                next = following
                continue
            case 0xC0, 0xC1, 0xC2:
                guard parts == nil else { throw .cutOff() }
                parts = try jpegParts(file, at: next + 4, isProgressive: marker == 0xC2)
            default:
                throw StillPictureError("is a JPEG file of a rare kind", "save it as a usual one")
            }
            keep(next..<following, of: &file, at: &end)
            next = following
            if marker == 0xDA { break }
        }
        guard let parts else { throw .cutOff() }
        // Samples and further scans, up to the end of the image.
        var last = next
        while true {
            guard last + 1 < file.count else { throw .cutOff() }
            guard file[last] == 0xFF else {
                last += 1
                continue
            }
            switch file[last + 1] {
            case 0xD9:
                keep(next..<last + 2, of: &file, at: &end)
                file.removeLast(file.count - end)
                return parts
            // Samples and segments of further scans.
            case 0x00, 0xD0...0xD7, 0xFF, 0xC4, 0xDA, 0xDB, 0xDD: last += file[last + 1] == 0xFF ? 1 : 2
            default: throw .cutOff()
            }
        }
    }

    private static func jpegParts(
        _ file: [UInt8], at header: Int, isProgressive: Bool
    ) throws(StillPictureError) -> Parts {
        guard try number(file, at: header, bytes: 1) == 8 else {
            throw StillPictureError("is a JPEG file with more than 8 bits a channel", "save it with 8")
        }
        let height = try number(file, at: header + 1, bytes: 2)
        let width = try number(file, at: header + 3, bytes: 2)
        let count = try number(file, at: header + 5, bytes: 1)
        guard count == 1 || count == 3 else {
            throw StillPictureError("is a JPEG file with \(count) channels", "save it as RGB")
        }
        var samplings: [(horizontal: Int, vertical: Int)] = []
        for channel in 0..<count {
            let sampling = try number(file, at: header + 7 + 3 * channel, bytes: 1)
            guard (1...4).contains(sampling >> 4), (1...4).contains(sampling & 15) else { throw .cutOff() }
            samplings.append((sampling >> 4, sampling & 15))
        }
        let most = samplings.map(\.horizontal).max()! * samplings.map(\.vertical).max()!
        let samples = samplings.reduce(0) { $0 + $1.horizontal * $1.vertical }
        // The decoder also holds a progressive picture as two-byte coefficients.
        let bytes = (4 * samples + most - 1) / most * (isProgressive ? 3 : 1)
        return (.jpeg, width, height, bytes)
    }
}
