/// Bytes in order out of an input: looked ahead at, by the line, or many at once into a caller's array.
package final class InputReader {
    private let input: any ByteInput
    /// Bytes that were read ahead and not yet taken.
    private var ahead: [UInt8] = []
    private var taken = 0

    package init(_ input: any ByteInput) { self.input = input }

    /// The next bytes without taking them; fewer than `count` at the end of the input.
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

    /// Fills `bytes` from `offset` on; returns how many of `count` bytes there were before the input's end.
    package func fill(_ bytes: inout [UInt8], from offset: Int = 0, count: Int) throws(InputError) -> Int {
        try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(InputError) in
            let part = unsafe UnsafeMutableRawBufferPointer(buffer)[offset..<(offset + count)]
            return try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: part))
        }
    }

    /// Fills all of `target`; returns how many bytes there were before the input's end.
    package func fill(_ target: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        var done = min(target.count, ahead.count - taken)
        for index in 0..<done { unsafe target[index] = ahead[taken + index] }
        taken += done
        while done < target.count {
            let got = try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: target[done...]))
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Reads past `count` bytes; false where the input ends before.
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

    /// A line without its end, or nil at the end of the input.
    ///
    /// - Parameter limit: more bytes than this without a line's end are an error.
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

    /// Begins again at the first byte; false for a pipe.
    package func rewind() -> Bool {
        guard input.rewind() else { return false }
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
