import FLV

/// A tag of an FLV file: a second implementation, written from the specification, to check the first against.
struct FLVTag: Equatable {
    var type: FLVTagType
    var timestamp: UInt32
    var body: [UInt8]

    /// Every tag of a file; nil where its framing is broken.
    static func all(in file: [UInt8]) -> [FLVTag]? {
        guard file.count >= 13, file.starts(with: Array("FLV".utf8) + [1]) else { return nil }
        var tags: [FLVTag] = []
        var position = 13
        while position < file.count {
            guard position + 15 <= file.count, let type = FLVTagType(rawValue: file[position]) else { return nil }
            func number(_ offset: Int, _ count: Int) -> Int {
                file[(position + offset)..<(position + offset + count)].reduce(0) { $0 << 8 | Int($1) }
            }
            let size = number(1, 3)
            guard position + 15 + size <= file.count, number(8, 3) == 0, number(11 + size, 4) == size + 11 else {
                return nil
            }
            let timestamp = UInt32(number(4, 3)) | UInt32(file[position + 7]) << 24
            tags.append(
                FLVTag(type: type, timestamp: timestamp, body: Array(file[(position + 11)..<(position + 11 + size)])))
            position += 15 + size
        }
        return tags
    }
}
