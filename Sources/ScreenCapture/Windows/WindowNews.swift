internal import Grabbing
internal import UpcastClient

/// Decides which notices to give about a window that is captured alone: never the same twice in a row. Pure.
struct WindowNews: Sendable {
    private enum State: Equatable {
        /// An override-redirect window that the rule matches is there, or none.
        case absent(UInt32?)
        case impossible(width: Int, height: Int)
        case captured(client: UInt32, width: Int, height: Int)
    }

    private var told: State?
    private var hasCaptured = false

    /// - Parameters:
    ///   - found: the client window and its place in the root window; nil if it is not on the screen.
    ///   - other: an override-redirect window that the rule matches; asked for only before the first capture.
    /// - Returns: nil if the last notice said the same.
    mutating func note(
        _ found: (client: UInt32, place: CaptureRectangle)?, other: @autoclosure () -> UInt32? = nil
    ) -> WindowGrabber.Notice? {
        // Later, it is more likely a menu of the window.
        let other = hasCaptured ? nil : other()
        let state = Self.state(found, other)
        guard state != told else { return nil }
        told = state
        guard let found else {
            let text = other.map {
                "only an override-redirect window matches the rule, which does not choose it; --window 0x"
                    + String($0, radix: 16) + " sends it"
            }
            return .waiting(text ?? "the window is not on the screen", hasPicture: hasCaptured)
        }
        let place = found.place
        guard Self.canBeSent(place) else {
            return .waiting(
                "the window is \(place.width)x\(place.height), which cannot be sent: \(ScreenArea.limits)",
                hasPicture: hasCaptured)
        }
        hasCaptured = true
        return .capturing(place)
    }

    private static func state(_ found: (client: UInt32, place: CaptureRectangle)?, _ other: UInt32?) -> State {
        guard let (client, place) = found else { return .absent(other) }
        let (width, height) = (place.width, place.height)
        guard canBeSent(place) else { return .impossible(width: width, height: height) }
        return .captured(client: client, width: width, height: height)
    }

    /// Whether a frame can have the size of this window.
    static func canBeSent(_ place: CaptureRectangle) -> Bool {
        ScreenArea.canBeSent(width: place.width, height: place.height)
    }
}
