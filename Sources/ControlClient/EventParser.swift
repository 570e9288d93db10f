/// One server-sent event.
package struct ServerEvent: Equatable {
    /// Decimal digits; empty if the stream has not given an ID yet.
    package var id: String
    package var name: String
    /// Its `data` lines, joined by line feeds.
    package var data: String
}

/// Parses a stream of server-sent events, part by part (WHATWG HTML, 9.2.6). Pure.
struct EventParser {
    /// A status with eight destinations has about 6 KiB.
    static let maxEventBytes = 256 * 1024

    private var line: [UInt8] = []
    private var lastWasReturn = false
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    /// The ID of the last event that had one, from which a later connection can continue.
    private(set) var lastID: String
    /// The number of complete comments between events. A server sends them when it has no events.
    private(set) var comments = 0

    init(lastID: String = "") { self.lastID = lastID }

    /// The events that are complete with these bytes.
    mutating func feed(_ bytes: [UInt8]) throws(ControlClientError) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            defer { lastWasReturn = byte == 0x0D }
            // A CR and a LF together are one line end.
            if byte == 0x0A, lastWasReturn { continue }
            if byte == 0x0A || byte == 0x0D {
                if let event = endLine() { events.append(event) }
                line = []
            } else {
                line.append(byte)
            }
            guard line.count + data.count <= Self.maxEventBytes else {
                throw .unintelligible("an event has more than \(Self.maxEventBytes) bytes")
            }
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        guard !line.isEmpty else {
            defer { (name, data, hasData) = ("", [], false) }
            return hasData
                ? ServerEvent(id: lastID, name: name, data: String(decoding: data, as: UTF8.self)) : nil
        }
        if line[0] == UInt8(ascii: ":") {
            if !hasData, name.isEmpty { comments += 1 }
            return nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == 0x20 { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(0x0A) }
            data += value
            hasData = true
        // The ID is sent back in a header, so only the form that the daemon uses is accepted.
        case "id" where value.count <= 20 && value.allSatisfy({ (0x30...0x39).contains($0) }):
            lastID = String(decoding: value, as: UTF8.self)
        default: break
        }
        return nil
    }
}
