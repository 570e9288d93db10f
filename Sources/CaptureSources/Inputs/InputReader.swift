/// Reads an input in order: with lookahead, by lines, or in bulk into a caller's array.
package final class InputReader {
    private let input: any ByteInput
    /// Bytes that were read ahead; the first `taken` of them are consumed.
    private var ahead: [UInt8] = []
    private var taken = 0
    private static let aheadBytes = 4096
    /// How many bytes `byte`, `fill` and `skip` have consumed.
    package private(set) var position = 0

    package init(_ input: any ByteInput) { self.input = input }

    /// Returns the next bytes without consuming them; fewer than `count` at the end of the input.
    package func peek(_ count: Int) throws(InputError) -> ArraySlice<UInt8> {
        if taken > 0 {
            ahead.removeFirst(taken)
            taken = 0
        }
        while ahead.count < count {
            let old = ahead.count
            ahead.append(contentsOf: repeatElement(0, count: count - old))
            let got = try read(into: &ahead, at: old, count: count - old)
            ahead.removeLast(count - old - got)
            if got == 0 { break }
        }
        return ahead.prefix(count)
    }

    /// Returns the next byte; nil at the end of the input. Reads ahead up to 4 KiB, as far as they are available.
    package func byte() throws(InputError) -> UInt8? {
        if taken == ahead.count {
            taken = 0
            ahead.removeAll(keepingCapacity: true)
            ahead.append(contentsOf: repeatElement(0, count: Self.aheadBytes))
            let got = try read(into: &ahead, at: 0, count: Self.aheadBytes)
            ahead.removeLast(Self.aheadBytes - got)
            if got == 0 { return nil }
        }
        defer {
            taken += 1
            position += 1
        }
        return ahead[taken]
    }

    /// Fills `bytes` from `offset` on. Returns the number of bytes, less than `count` at the end of the input.
    package func fill(_ bytes: inout [UInt8], from offset: Int = 0, count: Int) throws(InputError) -> Int {
        try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(InputError) in
            let part = unsafe UnsafeMutableRawBufferPointer(buffer)[offset..<(offset + count)]
            return try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: part))
        }
    }

    /// Fills `target`. Returns the number of bytes, less than its size at the end of the input.
    package func fill(_ target: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        var done = min(target.count, ahead.count - taken)
        for index in 0..<done { unsafe target[index] = ahead[taken + index] }
        taken += done
        while done < target.count {
            let got = try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: target[done...]))
            if got == 0 { break }
            done += got
        }
        position += done
        return done
    }

    /// Skips `count` bytes; false if the input ends before.
    package func skip(_ count: Int) throws(InputError) -> Bool {
        var scratch = [UInt8](repeating: 0, count: min(count, 65_536))
        var left = count
        while left > 0 {
            let step = min(left, scratch.count)
            guard try fill(&scratch, count: step) == step else { return false }
            left -= step
        }
        return true
    }

    /// Returns a line without its end; nil at the end of the input.
    ///
    /// - Parameter limit: the maximum length of a line in bytes; a longer one is an error.
    package func line(limit: Int) throws(InputError) -> String? {
        var window = 64
        while true {
            let bytes = try peek(min(window, limit))
            if let end = bytes.firstIndex(of: 0x0a) {
                taken = end - bytes.startIndex + 1
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if bytes.isEmpty { return nil }
            guard bytes.count == window, window < limit else {
                throw InputError(
                    bytes.count >= limit
                        ? "a line of more than \(limit) bytes where a header was expected"
                        : "the input ends inside a header line")
            }
            window = min(2 * window, limit)
        }
    }

    /// Returns to the first byte; false for a pipe.
    package func rewind() -> Bool {
        guard input.rewind() else { return false }
        position = 0
        ahead.removeAll(keepingCapacity: true)
        taken = 0
        return true
    }

    private func read(into bytes: inout [UInt8], at offset: Int, count: Int) throws(InputError) -> Int {
        try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(InputError) in
            let part = unsafe UnsafeMutableRawBufferPointer(buffer)[offset..<(offset + count)]
            return try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: part))
        }
    }
}
