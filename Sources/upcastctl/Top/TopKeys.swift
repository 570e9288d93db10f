import ControlProtocol

/// What the user asks of `top` with a key.
enum TopAction: Equatable {
    case quit, raise, lower, pause, resume, retry, keyframe
}

/// The keys of `top`, and what it shows in response. Pure.
struct TopKeys: Equatable {
    enum Mode: Equatable {
        case normal, help
        /// Asks before the curtain is lowered: viewers would see the picture.
        case confirmsLowering
    }

    private(set) var mode = Mode.normal

    /// The keys and what they do.
    static let help: [(key: String, does: String)] = [
        ("c", "raise the curtain; release your hold"), ("p", "pause; resume"), ("r", "retry waiting destinations"),
        ("k", "make the next frame a keyframe"), ("?", "show or hide this help"), ("q", "quit"),
    ]

    static let question = "Lower the curtain? Viewers will see the picture. y/n"

    /// The actions for pressed keys. Keys that send several bytes, such as arrows, only close what is open.
    mutating func press(_ bytes: [UInt8], _ status: StatusReport?) -> [TopAction] {
        guard bytes.first != 0x1B else {
            mode = .normal
            return []
        }
        return bytes.compactMap { press(Character(UnicodeScalar($0)), status) }
    }

    private mutating func press(_ key: Character, _ status: StatusReport?) -> TopAction? {
        switch mode {
        case .confirmsLowering:
            mode = .normal
            return key == "y" || key == "Y" ? .lower : nil
        case .help:
            mode = .normal
            return key == "q" || key == "Q" ? .quit : nil
        case .normal: break
        }
        switch key {
        case "q", "Q": return .quit
        case "?", "h", "H": mode = .help
        case "c":
            // Only a hold of the operator can be released here. In doubt, the curtain is raised.
            guard Self.operatorHolds(status) else { return .raise }
            mode = .confirmsLowering
        case "p": return status?.state == .paused ? .resume : .pause
        case "r": return .retry
        case "k": return .keyframe
        default: break
        }
        return nil
    }

    private static func operatorHolds(_ status: StatusReport?) -> Bool {
        guard let curtain = status?.privacy.curtain, curtain.isUp else { return false }
        return curtain.holders.contains { $0.holder == "operator" }
    }
}
