internal import CPulse
package import ScreenCapture

/// A connection to a sound server that speaks PulseAudio's protocol. One thread.
@safe package final class PulseConnection {
    /// Why waiting has ended.
    package enum Interruption: Error {
        /// The descriptor that ends it is readable.
        case stopped
        /// The server has ended.
        case lost
    }

    let handle: OpaquePointer
    private let room: UnsafeMutablePointer<upcast_pulse_facts>

    /// Connects to the server of the environment (PULSE_SERVER), or to that of the user.
    ///
    /// - Parameter stop: a descriptor; once it is readable, each call that waits throws `stopped`.
    package init(stop: CInt) throws(ScreenError) {
        var error: CInt = 0
        guard let opened = unsafe upcast_pulse_open(nil, stop, &error) else { throw Self.failure(error) }
        unsafe handle = opened
        unsafe room = .allocate(capacity: 1)
    }

    deinit {
        unsafe upcast_pulse_close(handle)
        unsafe room.deallocate()
    }

    private static func failure(_ error: CInt) -> ScreenError {
        switch error {
        case UPCAST_PULSE_NO_LIBRARY.rawValue:
            ScreenError("libpulse is not installed (Debian: apt install libpulse0)")
        case UPCAST_PULSE_NO_MEMORY.rawValue: ScreenError("there is no memory for the connection", isTemporary: true)
        default:
            unsafe ScreenError(
                "no sound server answers: \(String(cString: upcast_pulse_error_text(error))); PulseAudio or "
                    + "pipewire-pulse must run for this user, or PULSE_SERVER name another one", isTemporary: true)
        }
    }

    /// Works until something happens.
    ///
    /// - Parameter milliseconds: at most; negative for without end.
    package func wait(milliseconds: CInt) throws(Interruption) {
        try check(unsafe upcast_pulse_wait(handle, milliseconds))
    }

    /// Whether the last facts may not hold any more.
    package var hasChanged: Bool { unsafe upcast_pulse_has_changed(handle) }

    /// Asks for all that the server has.
    package func facts() throws(Interruption) -> SoundFacts {
        try check(unsafe upcast_pulse_read(handle, room))
        return unsafe SoundFacts(&room.pointee)
    }

    private func check(_ status: CInt) throws(Interruption) {
        guard status == 0 else { throw status > 0 ? .stopped : .lost }
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

/// Up to the first 0.
private func text<Array>(_ array: inout Array) -> String {
    unsafe withUnsafeBytes(of: &array) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
