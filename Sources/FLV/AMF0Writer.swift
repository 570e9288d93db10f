/// Writes AMF0 values one behind the other into an array it owns.
///
/// For commands and metadata, a few a connection; it allocates. Objects and arrays are opened, filled with `key` and a
/// value each, and (all but strict arrays) ended with `objectEnd`.
package struct AMF0Writer {
    package private(set) var bytes: [UInt8]

    /// Continues after what `bytes` already holds.
    package init(appendingTo bytes: [UInt8] = []) { self.bytes = bytes }

    package mutating func number(_ value: Double) {
        marker(.number)
        bigEndian(value.bitPattern)
    }

    package mutating func boolean(_ value: Bool) {
        marker(.boolean)
        bytes.append(value ? 1 : 0)
    }

    /// A string; one of more than 65,535 UTF-8 bytes becomes a long string.
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

    /// `count` is a hint that readers may use to reserve; the array ends with `objectEnd`.
    package mutating func ecmaArrayStart(count: Int) {
        marker(.ecmaArray)
        bigEndian(UInt32(count))
    }

    /// Exactly `count` values follow, without names and without an end.
    package mutating func strictArrayStart(count: Int) {
        marker(.strictArray)
        bigEndian(UInt32(count))
    }

    /// The name of the value that is written next; at most 65,535 UTF-8 bytes, or it traps.
    package mutating func key(_ name: String) {
        precondition(name.utf8.count <= UInt16.max, "an AMF0 property name has at most 65,535 bytes")
        shortText(name)
    }

    package mutating func objectEnd() {
        bigEndian(UInt16(0))
        marker(.objectEnd)
    }

    /// A whole value with all it holds.
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
