/// Reads AMF0 values from untrusted bytes, with limits on bytes, values and depth. Never traps.
///
/// For inbound RTMP commands. Allocates its results, within the limits. After an error the reader must not be used any
/// more.
package struct AMF0Reader: ~Escapable {
    /// The limits of a reader. The defaults fit all commands of servers to publishers.
    package struct Limits: Equatable, Sendable {
        /// The size of the input, in bytes.
        package var bytes: Int
        /// The number of values, including those in objects and arrays.
        package var values: Int
        /// The nesting of objects and arrays.
        package var depth: Int

        package init(bytes: Int = 16_384, values: Int = 256, depth: Int = 8) {
            self.bytes = bytes
            self.values = values
            self.depth = depth
        }
    }

    private let bytes: RawSpan
    private let limits: Limits
    private var position = 0
    private var valuesRead = 0

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan, limits: Limits = Limits()) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Reads all values in `bytes`.
    package static func values(in bytes: RawSpan, limits: Limits = Limits()) throws(AMF0Error) -> [AMF0Value] {
        var reader = AMF0Reader(bytes, limits: limits)
        var values: [AMF0Value] = []
        while let value = try reader.next() { values.append(value) }
        return values
    }

    /// The next value; nil at the end.
    @_lifetime(self: copy self)
    package mutating func next() throws(AMF0Error) -> AMF0Value? {
        guard bytes.byteCount <= limits.bytes else {
            throw .inputTooLong(bytes: bytes.byteCount, limit: limits.bytes)
        }
        return position == bytes.byteCount ? nil : try value(depth: 0)
    }

    @_lifetime(self: copy self)
    private mutating func value(depth: Int) throws(AMF0Error) -> AMF0Value {
        valuesRead += 1
        guard valuesRead <= limits.values else { throw .tooManyValues(limit: limits.values) }
        let markerOffset = position
        let code = UInt8(try integer(bytes: 1))
        guard let marker = AMF0Marker(rawValue: code) else { throw .unreadableMarker(code, offset: markerOffset) }
        switch marker {
        case .number: return .number(Double(bitPattern: try integer(bytes: 8)))
        case .boolean: return .boolean(try integer(bytes: 1) != 0)
        case .string: return .string(try text(lengthBytes: 2))
        case .longString, .xmlDocument: return .string(try text(lengthBytes: 4))
        case .null: return .null
        case .undefined, .unsupported: return .undefined
        case .date:
            let milliseconds = Double(bitPattern: try integer(bytes: 8))
            _ = try integer(bytes: 2)
            return .date(milliseconds)
        case .object: return .object(try properties(depth: depth + 1))
        case .typedObject:
            _ = try text(lengthBytes: 2)
            return .object(try properties(depth: depth + 1))
        case .ecmaArray:
            _ = try integer(bytes: 4)  // only a hint: real encoders write 0 or a wrong count
            return .ecmaArray(try properties(depth: depth + 1))
        case .strictArray: return .strictArray(try elements(depth: depth + 1))
        case .objectEnd: throw .unreadableMarker(code, offset: markerOffset)
        }
    }

    @_lifetime(self: copy self)
    private mutating func properties(depth: Int) throws(AMF0Error) -> [AMF0Property] {
        guard depth <= limits.depth else { throw .tooDeep(limit: limits.depth) }
        var properties: [AMF0Property] = []
        while true {
            let name = try text(lengthBytes: 2)
            if name.isEmpty, position < bytes.byteCount, bytes.byte(position) == AMF0Marker.objectEnd.rawValue {
                position += 1
                return properties
            }
            properties.append(AMF0Property(name, try value(depth: depth)))
        }
    }

    @_lifetime(self: copy self)
    private mutating func elements(depth: Int) throws(AMF0Error) -> [AMF0Value] {
        guard depth <= limits.depth else { throw .tooDeep(limit: limits.depth) }
        var values: [AMF0Value] = []
        // A false count does no harm, because values are appended one by one and the limits apply.
        for _ in 0..<(try integer(bytes: 4)) { values.append(try value(depth: depth)) }
        return values
    }

    @_lifetime(self: copy self)
    private mutating func text(lengthBytes: Int) throws(AMF0Error) -> String {
        let count = Int(try integer(bytes: lengthBytes))
        guard count <= bytes.byteCount - position else { throw .truncated(offset: bytes.byteCount) }
        defer { position += count }
        return String(decoding: bytes.array(position..<(position + count)), as: UTF8.self)
    }

    @_lifetime(self: copy self)
    private mutating func integer(bytes count: Int) throws(AMF0Error) -> UInt64 {
        guard count <= bytes.byteCount - position else { throw .truncated(offset: bytes.byteCount) }
        defer { position += count }
        return bytes.bigEndian(position, count: count)
    }
}
