/// What a sound server has: its devices, and what programs play.
package struct SoundFacts: Equatable, Sendable {
    package struct Device: Equatable, Sendable {
        package var index: UInt32
        package var name: String
        package var description: String
        /// For a source that is the monitor of a sink: the index of that sink.
        package var monitorOf: UInt32?
        /// For a sink: the time from writing a sample to hearing it, in microseconds.
        package var latency: UInt64

        package init(
            index: UInt32, name: String, description: String = "", monitorOf: UInt32? = nil, latency: UInt64 = 0
        ) {
            (self.index, self.name, self.description) = (index, name, description)
            (self.monitorOf, self.latency) = (monitorOf, latency)
        }
    }

    /// A stream that a program plays; one program may play several.
    package struct Playback: Equatable, Sendable {
        package var index: UInt32
        /// The index of the sink.
        package var sink: UInt32
        /// As the program calls itself.
        package var application: String
        /// The file name of its executable.
        package var binary: String

        package init(index: UInt32, sink: UInt32, application: String, binary: String) {
            (self.index, self.sink, self.application, self.binary) = (index, sink, application, binary)
        }
    }

    package var serverName = ""
    package var defaultSink = ""
    package var defaultSource = ""
    package var sinks: [Device] = []
    package var sources: [Device] = []
    package var playbacks: [Playback] = []

    package init() {}

    /// PipeWire speaks PulseAudio's protocol, but leaves the sink's latency out of the latency of its monitor.
    package var isPipeWire: Bool { serverName.contains("PipeWire") }

    /// The source that records what a sink plays.
    package func monitor(of sink: Device) -> Device? { sources.first { $0.monitorOf == sink.index } }

    package var microphones: [Device] { sources.filter { $0.monitorOf == nil } }

    /// Each program that plays, once.
    package var programs: [Playback] {
        var seen: [Playback] = []
        for playback in playbacks
        where !seen.contains(where: { $0.application == playback.application && $0.binary == playback.binary }) {
            seen.append(playback)
        }
        return seen
    }
}
