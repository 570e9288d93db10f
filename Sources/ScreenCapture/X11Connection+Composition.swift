internal import CXCB
internal import Grabbing
package import MediaCore
package import UpcastClient

/// Pictures composed of windows.
extension X11Connection {
    /// A window in a composed picture.
    package struct Layer: Sendable {
        /// The window, and the child of the root window that contains it; both may be the same.
        package var window: UInt32
        package var top: UInt32
        /// The window's place in the picture, without its border.
        package var place: CaptureRectangle
        /// The window's corner in `top`, inside the border of `top`.
        package var corner: (x: Int, y: Int)

        package init(window: UInt32, top: UInt32, place: CaptureRectangle, corner: (x: Int, y: Int) = (0, 0)) {
            (self.window, self.top, self.place, self.corner) = (window, top, place, corner)
        }
    }

    package static let maxLayers = Int(UPCAST_X_MAX_LAYERS)

    /// Prepares for pictures of windows.
    ///
    /// - Throws: `GrabError.lost`; `ScreenError` if the server cannot make them.
    package func beginComposition() throws {
        guard ask({ unsafe upcast_x_begin_composition(handle) }) else {
            if unsafe upcast_x_is_lost(handle) { throw GrabError.lost }
            throw ScreenError(
                "the X server lacks one of the extensions Composite, RENDER and DAMAGE, which pictures of one window "
                    + "need; leave out --window, or use --area")
        }
    }

    package func endComposition() { unsafe upcast_x_end_composition(handle) }

    /// Gets a picture of windows, the first one lowest, even where others cover them.
    ///
    /// - Parameters:
    ///   - layers: at most `maxLayers`.
    ///   - now: of any clock. What a window's program has not drawn after half a second is painted black, on the screen
    ///     too.
    ///   - isWhole: on entry, whether to get a picture in which undrawn pixels are black, or none meanwhile. On return,
    ///     whether everything is drawn.
    ///   - frame: as large as the picture.
    /// - Returns: nil while a window holds what the screen showed in its place: its program has to draw over that
    ///   first.
    package func compose(
        _ layers: [Layer], width: Int, height: Int, now: MediaTime, isWhole: inout Bool, into frame: CaptureFrame
    ) throws(GrabError) -> Moment? {
        let count = min(layers.count, Self.maxLayers)
        let pixmap = unsafe withUnsafeTemporaryAllocation(of: upcast_x_layer.self, capacity: Self.maxLayers) { list in
            for (index, layer) in layers.prefix(count).enumerated() {
                unsafe list.initializeElement(at: index, to: Self.layer(layer))
            }
            let place = list.baseAddress
            return ask {
                unsafe upcast_x_compose(
                    handle, place, UInt32(count), UInt16(width), UInt16(height), UInt64(now.milliseconds), &isWhole)
            }
        }
        if pixmap == 0 {
            if unsafe upcast_x_is_lost(handle) { throw .lost }
            return nil
        }
        var picture = upcast_x_picture()
        return try grab(pixmap, CaptureRectangle(x: 0, y: 0, width: width, height: height), into: frame, &picture)
    }

    /// Windows inside a child of the root window have moved, and undrawn pixels may have moved with them.
    package func movedInside(_ top: UInt32) { unsafe upcast_x_source_moved_inside(handle, top) }

    private static func layer(_ layer: Layer) -> upcast_x_layer {
        upcast_x_layer(
            window: layer.window, top: layer.top, x: Int32(layer.place.x), y: Int32(layer.place.y),
            width: UInt16(clamping: layer.place.width), height: UInt16(clamping: layer.place.height),
            left: Int32(layer.corner.x), upper: Int32(layer.corner.y))
    }

    /// Where a window is in the root window, without its border; nil if it is gone.
    package func place(of window: UInt32) throws(GrabError) -> CaptureRectangle? {
        var (left, top, width, height): (Int32, Int32, UInt16, UInt16) = (0, 0, 0, 0)
        let status = ask { unsafe upcast_x_window_place(handle, window, &left, &top, &width, &height) }
        guard status >= 0 else { throw .lost }
        return status == 0
            ? CaptureRectangle(x: Int(left), y: Int(top), width: Int(width), height: Int(height)) : nil
    }

    /// Whether a window and all windows around it are mapped. False for one that is gone.
    func isViewable(_ window: UInt32) throws(GrabError) -> Bool {
        var isViewable = false
        guard ask({ unsafe upcast_x_is_viewable(handle, window, &isViewable) }) >= 0 else { throw .lost }
        return isViewable
    }
}
