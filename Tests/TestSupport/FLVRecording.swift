import Foundation

/// An FLV file, parsed by the specification (Adobe, version 10.1, annex E) without any of the product's code.
package struct FLVRecording: Sendable {
    package struct Tag: Sendable {
        /// 8 audio, 9 video, 18 script data.
        package let type: UInt8
        /// Milliseconds.
        package let timestamp: Int
        package let body: ArraySlice<UInt8>

        package var isVideoSequenceHeader: Bool { type == 9 && body.count > 5 && body[body.startIndex + 1] == 0 }
        package var isAudioSequenceHeader: Bool { type == 8 && body.count > 2 && body[body.startIndex + 1] == 0 }
    }

    package let tags: [Tag]

    /// Throws if the file is not complete: if a tag is cut off, or its size is not repeated after it.
    package init(_ path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw TestFailure("cannot read \(path)") }
        try self.init([UInt8](data), of: path)
    }

    /// - Parameter path: the origin of the bytes, for errors.
    package init(_ bytes: [UInt8], of path: String = "the recording") throws {
        func number(_ at: Int, _ count: Int) -> Int { bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) } }
        guard bytes.count >= 13, bytes[0..<4] == [0x46, 0x4c, 0x56, 1] else { throw TestFailure("\(path) is not FLV") }
        var tags: [Tag] = []
        var at = number(5, 4) + 4
        while at < bytes.count {
            guard at + 11 <= bytes.count else { throw TestFailure("\(path): tag header cut off at \(at)") }
            let size = number(at + 1, 3)
            guard at + 11 + size + 4 <= bytes.count else { throw TestFailure("\(path): tag cut off at \(at)") }
            guard number(at + 11 + size, 4) == size + 11 else {
                throw TestFailure("\(path): wrong previous tag size at \(at)")
            }
            tags.append(
                Tag(
                    type: bytes[at], timestamp: number(at + 4, 3) | Int(bytes[at + 7]) << 24,
                    body: bytes[at + 11..<at + 11 + size]))
            at += 11 + size + 4
        }
        self.tags = tags
    }

    /// The distinct AVC and AAC sequence headers; one of each in a broadcast that never restarted.
    package var videoSequenceHeaders: Set<[UInt8]> { Set(tags.filter(\.isVideoSequenceHeader).map { Array($0.body) }) }
    package var audioSequenceHeaders: Set<[UInt8]> { Set(tags.filter(\.isAudioSequenceHeader).map { Array($0.body) }) }
}
