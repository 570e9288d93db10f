internal import Grabbing
package import MediaCore
package import UpcastClient

/// The outputs of a compositor at one moment.
package struct WaylandOutputs: Equatable, Sendable {
    /// Those of which all is known, in the compositor's order.
    package var known: [WaylandOutput]
    /// How many there are, known or not.
    package var count: Int
    /// How often, on this connection, an output has come while another one was there.
    package var meetings: UInt32

    package init(known: [WaylandOutput], count: Int, meetings: UInt32) {
        (self.known, self.count, self.meetings) = (known, count, meetings)
    }
}

/// An output of a compositor's: a monitor, as the program sees it.
package struct WaylandOutput: Equatable, Sendable {
    /// Its number among the compositor's objects; another one when it comes back.
    package var id: UInt32
    package var name: String
    /// The name is the compositor's; false for a number, which is another output's on the next connection.
    package var isNamed: Bool
    /// Its place in the desktop, in the compositor's logical pixels.
    package var area: CaptureRectangle
    /// Pixels of its pictures, which are stored as the output shows them: before they are turned.
    package var width: Int
    package var height: Int
    package var transform: OutputTransform
    /// From one picture to the next; nil if the compositor does not tell.
    package var refresh: MediaTime?

    package init(
        id: UInt32, name: String, area: CaptureRectangle, width: Int, height: Int,
        transform: OutputTransform = .normal, isNamed: Bool = true, refresh: MediaTime? = nil
    ) {
        (self.id, self.name, self.area) = (id, name, area)
        (self.width, self.height, self.transform) = (width, height, transform)
        (self.isNamed, self.refresh) = (isNamed, refresh)
    }

    /// Whether its pictures have another size or orientation than those of another output.
    func looksLike(_ other: Self) -> Bool {
        id == other.id && width == other.width && height == other.height && transform == other.transform
            && area.width == other.area.width && area.height == other.area.height
    }

    /// What of the output is captured, in logical pixels; nil for all of it.
    ///
    /// - Parameter part: what was asked for, from the upper left corner; nil for all of it.
    /// - Throws: if it is not there, or its pictures cannot be sent.
    func place(of part: CaptureRectangle?) throws(ScreenError) -> CaptureRectangle? {
        let whole = CaptureRectangle(x: 0, y: 0, width: area.width, height: area.height)
        guard let place = (part ?? whole).intersection(whole) else {
            // An output without a mode has no size.
            guard let part else { return nil }
            throw ScreenError(
                "the area \(part.name) lies outside of the output \(name), which is \(whole.name): choose a part of "
                    + "it, as WIDTHxHEIGHT+LEFT+TOP", isTemporary: true)
        }
        let upright = transform.exchangesSides ? (width: height, height: width) : (width: width, height: height)
        // Compositors round in their own ways: what can be sent one way is not refused here.
        let size = (
            Self.pixels(place.width, upright.width, area.width), Self.pixels(place.height, upright.height, area.height)
        )
        guard size.0.overlaps(ScreenArea.sides), size.1.overlaps(ScreenArea.sides) else {
            throw ScreenError(
                (part == nil ? "the output \(name)" : "the area \(place.name) of the output \(name)")
                    + " is \(size.0.lowerBound)x\(size.1.lowerBound) pixels, which cannot be sent: sides are "
                    + "\(ScreenArea.sides.lowerBound) to \(ScreenArea.sides.upperBound) pixels; choose a part of the "
                    + "output with --area",
                isTemporary: true)
        }
        return part == nil ? nil : place
    }

    /// How many pixels so many logical ones are, rounded down and up.
    private static func pixels(_ logical: Int, _ all: Int, _ allLogical: Int) -> ClosedRange<Int> {
        let (quotient, rest) = (logical * all).quotientAndRemainder(dividingBy: allLogical)
        return quotient...(rest == 0 ? quotient : quotient + 1)
    }
}
