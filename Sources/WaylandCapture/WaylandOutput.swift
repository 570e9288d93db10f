internal import Grabbing
package import MediaCore
package import UpcastClient

/// The outputs of a compositor at one moment.
package struct WaylandOutputs: Equatable, Sendable {
    /// The outputs that are completely described, in the compositor's order.
    package var known: [WaylandOutput]
    /// The number of outputs, completely described or not.
    package var count: Int
    /// How often, on this connection, an output came while another one was there.
    package var meetings: UInt32

    package init(known: [WaylandOutput], count: Int, meetings: UInt32) {
        (self.known, self.count, self.meetings) = (known, count, meetings)
    }
}

/// An output of a compositor: a monitor, as the program sees it.
package struct WaylandOutput: Equatable, Sendable {
    /// The number that identifies it among the compositor's objects. An output that comes back has another number.
    package var id: UInt32
    package var name: String
    /// Whether the compositor has named the output. If not, the name is a number, which means another output on the
    /// next connection.
    package var isNamed: Bool
    /// Its position and size in the desktop, in the compositor's logical pixels.
    package var area: CaptureRectangle
    /// The size of its pictures in pixels. They are stored as the output shows them, before they are turned.
    package var width: Int
    package var height: Int
    package var transform: OutputTransform
    /// The time from one refresh to the next; nil if the compositor does not report it.
    package var refresh: MediaTime?

    package init(
        id: UInt32, name: String, area: CaptureRectangle, width: Int, height: Int,
        transform: OutputTransform = .normal, isNamed: Bool = true, refresh: MediaTime? = nil
    ) {
        (self.id, self.name, self.area) = (id, name, area)
        (self.width, self.height, self.transform) = (width, height, transform)
        (self.isNamed, self.refresh) = (isNamed, refresh)
    }

    /// Whether this is the same output, and its pictures have the same size and orientation.
    func looksLike(_ other: Self) -> Bool {
        id == other.id && width == other.width && height == other.height && transform == other.transform
            && area.width == other.area.width && area.height == other.area.height
    }

    /// The part of the output that is captured, in logical pixels; nil for the whole output.
    ///
    /// - Parameter part: the requested part, from the upper left corner; nil for the whole output.
    /// - Throws: if the part is outside of the output, or its pictures cannot be sent.
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
        // Compositors round differently. A size that can be sent with one way of rounding is not refused here.
        let size = (
            Self.pixels(place.width, upright.width, area.width), Self.pixels(place.height, upright.height, area.height)
        )
        guard size.0.overlaps(ScreenArea.sides), size.1.overlaps(ScreenArea.sides) else {
            throw ScreenError(
                (part == nil ? "the output \(name)" : "the area \(place.name) of the output \(name)")
                    + " is \(size.0.lowerBound)x\(size.1.lowerBound) pixels, which cannot be sent: "
                    + "\(ScreenArea.limits); choose a part of the output with --area",
                isTemporary: true)
        }
        return part == nil ? nil : place
    }

    /// Where a part of the output lies in a stored picture of the whole output, in pixels. Edges are rounded.
    ///
    /// - Parameters:
    ///   - part: in logical pixels, within the output.
    ///   - picture: the format of the stored picture.
    ///   - isUpsideDown: whether its rows are stored from bottom to top.
    func stored(_ part: CaptureRectangle, in picture: WaylandFormat, isUpsideDown: Bool) -> CaptureRectangle {
        let (width, height) = (picture.width, picture.height)
        let upright = transform.exchangesSides ? (width: height, height: width) : (width: width, height: height)
        func column(_ x: Int) -> Int { (x * upright.width + area.width / 2) / area.width }
        func row(_ y: Int) -> Int { (y * upright.height + area.height / 2) / area.height }
        let (left, top) = (column(part.x), row(part.y))
        let (right, bottom) = (column(part.x + part.width), row(part.y + part.height))
        return transform.stored(
            CaptureRectangle(x: left, y: top, width: right - left, height: bottom - top), width: upright.width,
            height: upright.height, isUpsideDown: isUpsideDown)
    }

    /// The number of pixels that correspond to a number of logical ones, rounded down and up.
    private static func pixels(_ logical: Int, _ all: Int, _ allLogical: Int) -> ClosedRange<Int> {
        let (quotient, rest) = (logical * all).quotientAndRemainder(dividingBy: allLogical)
        return quotient...(rest == 0 ? quotient : quotient + 1)
    }
}
