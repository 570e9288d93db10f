internal import CXCB
internal import LinuxSystem
internal import MediaCore
package import UpcastClient

/// A child of the root window, as found when watching begins.
package struct FoundWindow: Sendable {
    package var window: UInt32
    /// In pixels of the root window, including the border; nil if unknown.
    package var place: CaptureRectangle?
    package var isViewable: Bool
}

/// What to read from the X server.
package struct WindowRequest: Equatable, Sendable {
    package var windows: [UInt32] = []
    /// X clients.
    package var clients: [UInt32] = []
}

/// Facts about windows, managers and X clients, all as of one moment.
package struct WindowReading: Sendable {
    package var manager = WindowManager.none
    /// The X client of the compositing manager; nil for none.
    package var compositor: UInt32?
    /// The window manager shows the desktop instead of the windows.
    package var showsDesktop = false
    package var facts: [UInt32: WindowFacts] = [:]
    /// The owners of the requested X clients; nil for those that have ended.
    package var clients: [UInt32: WindowNames.Owner?] = [:]
}

extension X11Connection {
    /// If the first reading takes this long, the server is not grabbed, at most `maxDisturbed` times in a row. Without
    /// that limit, a program that keeps changing a window would keep all others unknown.
    private static let longestGrab = MediaTime.milliseconds(250)
    static let maxDisturbed = 3

    /// Reads windows and X clients, all as of one moment.
    ///
    /// Each answer is as of the moment of its request, and reading windows takes several requests. If windows change
    /// meanwhile, they are read again with the server grabbed. A grab makes other programs wait, so the first reading
    /// does without.
    ///
    /// - Parameters:
    ///   - request: returns what to read; called when all events before that moment are taken.
    ///   - take: gets all events before that moment, and no others. The server may be grabbed meanwhile.
    /// - Returns: nil if windows have changed, and the server is too slow to be grabbed.
    package func read(_ request: () -> WindowRequest, taking take: (Event) throws -> Void) throws -> WindowReading? {
        let began = clock.now()
        let reading = try readOnce(request, taking: take)
        disturbedReadings += 1
        var isDisturbed = false
        let end = try moment()
        while let event = nextEvent(before: end) {
            isDisturbed = isDisturbed || event.changesReading
            try take(event)
        }
        if isDisturbed, clock.now() - began >= Self.longestGrab, disturbedReadings <= Self.maxDisturbed { return nil }
        disturbedReadings = 0
        if !isDisturbed { return reading }
        unsafe upcast_x_grab_server(handle, true)
        defer { unsafe upcast_x_grab_server(handle, false) }
        return try readOnce(request, taking: take)
    }

    private func readOnce(_ request: () -> WindowRequest, taking take: (Event) throws -> Void) throws -> WindowReading {
        let start = try moment()
        while let event = nextEvent(before: start) { try take(event) }
        var reading = try readManagers()
        let asked = request()
        reading.facts = try facts(of: asked.windows)
        reading.clients = try owners(of: asked.clients)
        return reading
    }

    /// The sequence number of this moment: events with a lower one have already happened.
    private func moment() throws(GrabError) -> UInt32 {
        var sequence: UInt32 = 0
        guard ask({ unsafe upcast_x_moment(handle, &sequence) }) == 0 else { throw .lost }
        return sequence
    }
}

extension X11Connection.Event {
    /// Whether readings before and after the event may differ.
    var changesReading: Bool {
        switch self {
        // A program may set override-redirect just before it maps a window. The server sends no event for that.
        case .window(let event): event.kind.changesFacts || event.isOverrideRedirect == true
        case .composited, .desktopChanged: true
        case .damaged, .screenChanged, .pointerShapeChanged, .pointerMoved, .activeChanged, .overlayFocusChanged: false
        }
    }
}
