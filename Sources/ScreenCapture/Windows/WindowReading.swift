internal import CXCB
internal import LinuxSystem
internal import MediaCore
package import UpcastClient

/// A child of the root window, as it is found.
package struct FoundWindow: Sendable {
    package var window: UInt32
    /// In pixels of the root window, with the border; nil if it is not known.
    package var place: CaptureRectangle?
    package var isViewable: Bool
}

/// What is to be read.
package struct WindowRequest: Equatable, Sendable {
    package var windows: [UInt32] = []
    /// X clients.
    package var clients: [UInt32] = []
}

/// What is true of windows at one moment of the display.
package struct WindowReading: Sendable {
    package var manager = WindowManager.none
    /// The X client of the compositing manager; nil for none.
    package var compositor: UInt32?
    /// The window manager shows the desktop instead of the windows.
    package var showsDesktop = false
    package var facts: [UInt32: WindowFacts] = [:]
    /// Who the X clients are that were asked for; nil for those that have ended.
    package var clients: [UInt32: WindowNames.Owner?] = [:]
}

extension X11Connection {
    /// The server is not grabbed for windows that take longer to read, except after so many times: else a program that
    /// changes a window all the time would keep all others unknown.
    private static let longestGrab = MediaTime.milliseconds(250)
    static let maxDisturbed = 3

    /// Reads windows and X clients, all of them as of one moment.
    ///
    /// An answer is of the moment of its request, and windows take several of them. If windows change meanwhile, they
    /// are read again while the server does nothing else. Programs that draw wait for that, so it is not done first.
    ///
    /// - Parameters:
    ///   - request: which ones; asked when all events before that moment are taken.
    ///   - take: gets all events before that moment, and no others. Other programs may be waiting.
    /// - Returns: nil if they have changed and the server is too slow to be grabbed.
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

    /// Events with a lower number have happened by now.
    private func moment() throws(GrabError) -> UInt32 {
        var sequence: UInt32 = 0
        guard ask({ unsafe upcast_x_moment(handle, &sequence) }) == 0 else { throw .lost }
        return sequence
    }
}

extension X11Connection.Event {
    /// Whether what is read before it and after it may differ.
    var changesReading: Bool {
        switch self {
        // A program may say that a window is a menu just before it maps it, without an event.
        case .window(let event): event.kind.changesFacts || event.isOverrideRedirect == true
        case .composited, .desktopChanged: true
        case .damaged, .screenChanged, .pointerShapeChanged, .pointerMoved, .activeChanged: false
        }
    }
}
