internal import Grabbing
internal import UpcastClient

/// Decides which notices to give about a window that is captured alone: never the same twice in a row. Pure.
struct WindowNews: Sendable {
    private enum State: Equatable {
        case absent
        case impossible(width: Int, height: Int)
        case captured(client: UInt32, width: Int, height: Int)
    }

    private var told: State?
    private var hasCaptured = false

    /// - Parameter found: the client window and its place in the root window; nil if it is not on the screen.
    /// - Returns: nil if the last notice said the same.
    mutating func note(_ found: (client: UInt32, place: CaptureRectangle)?) -> WindowGrabber.Notice? {
        let state = Self.state(found)
        guard state != told else { return nil }
        told = state
        guard let found else { return .waiting("the window is not on the screen", hasPicture: hasCaptured) }
        let place = found.place
        guard Self.canBeSent(place) else {
            return .waiting(
                "the window is \(place.width)x\(place.height), and frames have 16 to 4096 pixels a side",
                hasPicture: hasCaptured)
        }
        hasCaptured = true
        return .capturing(place)
    }

    private static func state(_ found: (client: UInt32, place: CaptureRectangle)?) -> State {
        guard let (client, place) = found else { return .absent }
        let (width, height) = (place.width, place.height)
        guard canBeSent(place) else { return .impossible(width: width, height: height) }
        return .captured(client: client, width: width, height: height)
    }

    /// Whether a frame can have the size of this window.
    static func canBeSent(_ place: CaptureRectangle) -> Bool {
        ScreenArea.sides.contains(place.width) && ScreenArea.sides.contains(place.height)
    }
}
