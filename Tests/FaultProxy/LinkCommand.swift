package import MediaCore

/// One thing that happens to the link between a client and its server. "Up" is from the client to the server.
package enum LinkCommand: Equatable, Sendable {
    package enum Direction: String, Sendable { case up, down }

    /// Bits a second, in each direction; nil for as many as there are.
    case rate(Int?)
    /// Bytes arrive so much later, in each direction.
    case delay(MediaTime)
    /// Nothing is read any more, and nobody accepted: windows fill up. What was on its way waits.
    case stall
    /// Everything is taken and thrown away, new connections too. Once it is over, a connection that has lost bytes is
    /// reset when its client sends more.
    case blackhole
    /// Ends `stall` and `blackhole`.
    case resume
    /// Both ends of every connection get a RST.
    case reset
    /// Both ends of every connection get a FIN.
    case close
    /// The next so many bytes of that direction are inverted.
    case corrupt(Direction, bytes: Int)
    /// Connections are refused; existing ones go on.
    case refuse
    /// SYNs go unanswered; existing connections go on.
    case unreachable
    /// Ends `refuse` and `unreachable`.
    case listen
    /// A link without faults: `rate off`, `delay 0`, `resume`, `listen`.
    case clear
}

/// A text that is no command, or no schedule; the description says what would be.
package struct LinkCommandError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension LinkCommand: CustomStringConvertible {
    /// Reads what `description` writes.
    package init(_ text: some StringProtocol) throws(LinkCommandError) {
        let words = String(text).split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("rate", 2) where words[1] == "off": self = .rate(nil)
        case ("rate", 2):
            guard let bits = Quantity.bits(words[1]), bits >= 8_000 else {
                throw LinkCommandError(description: "rate takes bits a second from 8k on, such as 300k or 8M, or off")
            }
            self = .rate(bits)
        case ("delay", 2):
            guard let time = Quantity.time(words[1]), time <= MediaTime.seconds(60) else {
                throw LinkCommandError(description: "delay takes up to 60s, such as 300ms")
            }
            self = .delay(time)
        case ("corrupt", 3):
            guard let direction = Direction(rawValue: words[1]), let bytes = Quantity.bytes(words[2]) else {
                throw LinkCommandError(description: "corrupt takes up or down, and bytes such as 20B or 4kB")
            }
            self = .corrupt(direction, bytes: bytes)
        case ("stall", 1): self = .stall
        case ("blackhole", 1): self = .blackhole
        case ("resume", 1): self = .resume
        case ("reset", 1): self = .reset
        case ("close", 1): self = .close
        case ("refuse", 1): self = .refuse
        case ("unreachable", 1): self = .unreachable
        case ("listen", 1): self = .listen
        case ("clear", 1): self = .clear
        default:
            throw LinkCommandError(
                description: """
                    "\(text)" is none of: rate BITS|off, delay TIME, stall, blackhole, resume, reset, close, \
                    corrupt up|down BYTES, refuse, unreachable, listen, clear
                    """)
        }
    }

    package var description: String {
        switch self {
        case .rate(let bits): "rate \(bits.map(String.init) ?? "off")"
        case .delay(let time): "delay \(time.milliseconds)ms"
        case .corrupt(let direction, let bytes): "corrupt \(direction.rawValue) \(bytes)B"
        case .stall: "stall"
        case .blackhole: "blackhole"
        case .resume: "resume"
        case .reset: "reset"
        case .close: "close"
        case .refuse: "refuse"
        case .unreachable: "unreachable"
        case .listen: "listen"
        case .clear: "clear"
        }
    }
}

/// Numbers with units, as commands and schedules have them.
enum Quantity {
    static func time(_ text: some StringProtocol) -> MediaTime? {
        if let value = number(text, unit: "ms") { return .microseconds(Int64(value * 1e3)) }
        if let value = number(text, unit: "s") { return .microseconds(Int64(value * 1e6)) }
        return nil
    }

    static func bytes(_ text: some StringProtocol) -> Int? {
        for (unit, factor) in [("MB", 1e6), ("kB", 1e3), ("B", 1)] {
            if let value = number(text, unit: unit) { return Int(value * factor) }
        }
        return nil
    }

    static func bits(_ text: some StringProtocol) -> Int? {
        for (unit, factor) in [("M", 1e6), ("k", 1e3), ("", 1)] {
            if let value = number(text, unit: unit) { return Int(value * factor) }
        }
        return nil
    }

    /// No quantity here needs more than a billion.
    private static func number(_ text: some StringProtocol, unit: String) -> Double? {
        guard text.hasSuffix(unit), let value = Double(text.dropLast(unit.count)), value >= 0, value <= 1e9 else {
            return nil
        }
        return value
    }
}
