/// Appends AMF0 values to an array.
///
/// For commands and metadata, a few for each connection; it allocates. An object or array is started, then filled with
/// `key` and a value each, and ended with `objectEnd`. A strict array has neither keys nor an end.
package struct AMF0Writer {
    package private(set) var bytes: [UInt8]

    /// Appends to `bytes`.
    package init(appendingTo bytes: [UInt8] = []) { self.bytes = bytes }

    package mutating func number(_ value: Double) {
        marker(.number)
        bigEndian(value.bitPattern)
    }

    package mutating func boolean(_ value: Bool) {
        marker(.boolean)
        bytes.append(value ? 1 : 0)
    }

    /// Writes a string, or a long string for more than 65,535 UTF-8 bytes.
    package mutating func string(_ value: String) {
        guard value.utf8.count <= UInt16.max else { return longString(value) }
        marker(.string)
        shortText(value)
    }

    package mutating func longString(_ value: String) {
        marker(.longString)
        bigEndian(UInt32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    package mutating func null() { marker(.null) }
    package mutating func undefined() { marker(.undefined) }

    /// Milliseconds since 1970.
    package mutating func date(_ milliseconds: Double) {
        marker(.date)
        bigEndian(milliseconds.bitPattern)
        bigEndian(UInt16(0))
    }

    package mutating func objectStart() { marker(.object) }

    /// `count` is a hint for readers; the array ends with `objectEnd`.
    package mutating func ecmaArrayStart(count: Int) {
        marker(.ecmaArray)
        bigEndian(UInt32(count))
    }

    /// Exactly `count` values must follow, without keys and without an end.
    package mutating func strictArrayStart(count: Int) {
        marker(.strictArray)
        bigEndian(UInt32(count))
    }

    /// Writes the name of the next value; traps above 65,535 UTF-8 bytes.
    package mutating func key(_ name: String) {
        precondition(name.utf8.count <= UInt16.max, "an AMF0 property name has at most 65,535 bytes")
        shortText(name)
    }

    package mutating func objectEnd() {
        bigEndian(UInt16(0))
        marker(.objectEnd)
    }

    /// Writes a whole value, including nested ones.
    package mutating func value(_ value: AMF0Value) {
        switch value {
        case .number(let number): self.number(number)
        case .boolean(let flag): boolean(flag)
        case .string(let text): string(text)
        case .date(let milliseconds): date(milliseconds)
        case .null: null()
        case .undefined: undefined()
        case .object(let properties):
            objectStart()
            self.properties(properties)
        case .ecmaArray(let properties):
            ecmaArrayStart(count: properties.count)
            self.properties(properties)
        case .strictArray(let values):
            strictArrayStart(count: values.count)
            for element in values { self.value(element) }
        }
    }

    private mutating func properties(_ properties: [AMF0Property]) {
        for property in properties {
            key(property.name)
            value(property.value)
        }
        objectEnd()
    }

    private mutating func marker(_ marker: AMF0Marker) { bytes.append(marker.rawValue) }

    private mutating func shortText(_ text: String) {
        bigEndian(UInt16(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func bigEndian<Value: FixedWidthInteger>(_ value: Value) {
        for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Value(shift)))
        }
    }
}
