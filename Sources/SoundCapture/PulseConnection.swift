internal import CPulse
package import Grabbing
package import MediaCore

/// A connection to a sound server that speaks PulseAudio's protocol. One thread.
@safe package final class PulseConnection {
    /// Why waiting has ended.
    package enum Interruption: Error {
        /// The `stop` descriptor is readable.
        case stopped
        /// The server has ended.
        case lost
        /// The server does not answer.
        case silent
    }

    /// Why there is no connection.
    package enum OpenFailure: Error, Equatable {
        /// The `stop` descriptor is readable.
        case stopped
        /// What is wrong, and what to do about it.
        case failed(ScreenError)
        /// The server has accepted the connection, but does not answer.
        case silent
    }

    /// For the user.
    package static let silence = "the sound server does not answer: it is stopped, or hangs"

    let handle: OpaquePointer
    private let room: UnsafeMutablePointer<upcast_pulse_facts>

    /// Connects to the server of the environment (PULSE_SERVER), or to that of the user.
    ///
    /// - Parameters:
    ///   - stop: a descriptor; once it is readable, each call that waits throws `stopped`.
    ///   - patience: how long the server may take for an answer, which takes milliseconds as a rule.
    package init(stop: CInt, patience: MediaTime) throws(OpenFailure) {
        var error: CInt = 0
        let milliseconds = CInt(clamping: patience.milliseconds)
        guard let opened = unsafe upcast_pulse_open(nil, stop, milliseconds, &error) else {
            throw Self.failure(error)
        }
        unsafe handle = opened
        unsafe room = .allocate(capacity: 1)
    }

    deinit {
        unsafe upcast_pulse_close(handle)
        unsafe room.deallocate()
    }

    private static func failure(_ error: CInt) -> OpenFailure {
        switch error {
        case UPCAST_PULSE_STOPPED.rawValue: .stopped
        case UPCAST_PULSE_SILENT.rawValue: .silent
        case UPCAST_PULSE_NO_LIBRARY.rawValue:
            .failed(ScreenError("libpulse is not installed (Debian: apt install libpulse0)"))
        case UPCAST_PULSE_NO_MEMORY.rawValue:
            .failed(ScreenError("there is no memory for the connection", isTemporary: true))
        default: .failed(failure(ofServer: error))
        }
    }

    /// libpulse's texts are for programmers: for a server that has ended the connection, it says "Entity killed".
    private static func failure(ofServer error: CInt) -> ScreenError {
        let remedy = "PulseAudio or pipewire-pulse must run for this user, or PULSE_SERVER must name another server"
        switch error {
        case UPCAST_PULSE_REFUSED.rawValue:
            return ScreenError("no sound server answers: nobody listens at its socket; \(remedy)", isTemporary: true)
        case UPCAST_PULSE_DENIED.rawValue:
            return ScreenError(
                "the sound server refuses this user: PULSE_COOKIE, or ~/.config/pulse/cookie, has to be the server's "
                    + "file", isTemporary: true)
        case UPCAST_PULSE_ENDED.rawValue:
            return ScreenError("the sound server has ended the connection; \(remedy)", isTemporary: true)
        default:
            let text = unsafe String(cString: upcast_pulse_error_text(error)).lowercased()
            return ScreenError("no sound server answers (\(text)); \(remedy)", isTemporary: true)
        }
    }

    /// Handles the connection until something happens.
    ///
    /// - Parameter milliseconds: the longest wait; negative for no limit.
    package func wait(milliseconds: CInt) throws(Interruption) {
        try check(unsafe upcast_pulse_wait(handle, milliseconds))
    }

    /// Whether the last facts may be out of date.
    package var hasChanged: Bool { unsafe upcast_pulse_has_changed(handle) }

    /// Asks for all devices and playbacks of the server.
    package func facts() throws(Interruption) -> SoundFacts {
        try check(unsafe upcast_pulse_read(handle, room))
        return unsafe SoundFacts(&room.pointee)
    }

    private func check(_ status: CInt) throws(Interruption) {
        switch status {
        case 0: return
        case UPCAST_PULSE_SILENT.rawValue: throw .silent
        default: throw status > 0 ? .stopped : .lost
        }
    }
}

extension SoundFacts {
    fileprivate init(_ facts: inout upcast_pulse_facts) {
        serverName = text(&facts.server_name)
        defaultSink = text(&facts.default_sink)
        defaultSource = text(&facts.default_source)
        sinks = list(&facts.sinks, facts.sink_count, of: upcast_pulse_device.self, Device.init)
        sources = list(&facts.sources, facts.source_count, of: upcast_pulse_device.self, Device.init)
        playbacks = list(&facts.playbacks, facts.playback_count, of: upcast_pulse_playback.self) { playback in
            var playback = playback
            return Playback(
                index: playback.index, sink: playback.sink, application: text(&playback.application),
                binary: text(&playback.binary))
        }
    }
}

extension SoundFacts.Device {
    fileprivate init(_ device: upcast_pulse_device) {
        var device = device
        self.init(
            index: device.index, name: text(&device.name), description: text(&device.description),
            monitorOf: device.monitor_of == .max ? nil : device.monitor_of, latency: device.latency_usec)
    }
}

/// The elements of a C array.
private func list<Array, Element, Result>(
    _ array: inout Array, _ count: UInt32, of type: Element.Type, _ body: (Element) -> Result
) -> [Result] {
    unsafe withUnsafeBytes(of: &array) { bytes in
        unsafe bytes.bindMemory(to: type).prefix(Int(count)).map { body($0) }
    }
}

/// The text up to the first 0.
private func text<Array>(_ array: inout Array) -> String {
    unsafe withUnsafeBytes(of: &array) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
