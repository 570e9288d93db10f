/// A named value of an AMF0 object or ECMA array. The order is kept, because some servers depend on it.
package struct AMF0Property: Equatable, Sendable {
    package var name: String
    package var value: AMF0Value

    package init(_ name: String, _ value: AMF0Value) {
        self.name = name
        self.value = value
    }
}

/// A value of Action Message Format 0 (amf0-file-format-specification, 2007), used in RTMP commands and onMetaData.
///
/// Long strings and XML documents become `string`; typed objects become `object` without their class name.
package enum AMF0Value: Equatable, Sendable {
    case number(Double)
    case boolean(Bool)
    case string(String)
    case object([AMF0Property])
    case ecmaArray([AMF0Property])
    case strictArray([AMF0Value])
    /// Milliseconds since 1970 in UTC. AMF0's time zone is reserved and ignored.
    case date(Double)
    case null
    case undefined

    /// The first property with this name in an object or ECMA array.
    package subscript(name: String) -> AMF0Value? {
        switch self {
        case .object(let properties), .ecmaArray(let properties): properties.first { $0.name == name }?.value
        default: nil
        }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var numberValue: Double? {
        if case .number(let value) = self { value } else { nil }
    }
}

/// The first byte of an AMF0 value (specification, 2.1).
enum AMF0Marker: UInt8 {
    case number = 0x00
    case boolean = 0x01
    case string = 0x02
    case object = 0x03
    case null = 0x05
    case undefined = 0x06
    case ecmaArray = 0x08
    case objectEnd = 0x09
    case strictArray = 0x0a
    case date = 0x0b
    case longString = 0x0c
    case unsupported = 0x0d
    case xmlDocument = 0x0f
    case typedObject = 0x10
}
