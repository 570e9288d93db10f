/// Which sound a broadcast has, as the command line says it.
package enum SoundWish: Equatable, Sendable {
    case none
    /// What the default sink plays, also after another sink has become the default.
    case defaultSink
    /// What the sink of this name plays.
    case sink(String)
    /// What the programs with this name or executable play, on any sink.
    case application(String)
    /// The default microphone, also after another one has become the default.
    case defaultMicrophone
    /// The source of this name.
    case source(String)

    /// - Parameter text: `default`, `none`, `app=NAME`, or the name of a sink.
    package init(sound text: String) {
        switch text {
        case "none": self = .none
        case "default": self = .defaultSink
        case _ where text.hasPrefix("app="): self = .application(String(text.dropFirst(4)))
        default: self = .sink(text)
        }
    }

    /// - Parameter text: `default`, `none`, or the name of a source.
    package init(microphone text: String) {
        switch text {
        case "none": self = .none
        case "default": self = .defaultMicrophone
        default: self = .source(text)
        }
    }
}

/// What is recorded for a wish.
package struct SoundTarget: Hashable, Sendable {
    /// The name of the source.
    package var source: String
    /// Its index: a device that comes back under its name has another one.
    package var index: UInt32
    /// Only this playback is recorded, of the sink that the source is the monitor of; nil for all.
    package var playback: UInt32?

    package init(source: String, index: UInt32, playback: UInt32? = nil) {
        (self.source, self.index, self.playback) = (source, index, playback)
    }
}

/// The answer of a server to a wish.
package enum SoundAnswer: Equatable, Sendable {
    /// Several if several programs play, or one program plays several streams.
    case record([SoundTarget])
    /// What is missing now, and what exists instead.
    case missing(String)
}

extension SoundFacts {
    /// What has to be recorded for a wish.
    package func answer(_ wish: SoundWish) -> SoundAnswer {
        switch wish {
        case .none: return .record([])
        case .defaultSink: return sound(of: defaultSink, "there is no default sink")
        case .sink(let name): return sound(of: name, "there is no sink \(name)")
        case .application(let name): return sound(ofApplication: name)
        case .defaultMicrophone:
            // Without a microphone, the default source may be a monitor: its sound would be sent twice.
            guard let source = microphones.first(where: { $0.name == defaultSource }) else {
                return .missing("the default source is no microphone; \(Self.list("microphones", microphones))")
            }
            return .record([SoundTarget(source: source.name, index: source.index)])
        case .source(let name):
            guard let source = sources.first(where: { $0.name == name }) else {
                return .missing("there is no source \(name); \(Self.list("microphones", microphones))")
            }
            return .record([SoundTarget(source: name, index: source.index)])
        }
    }

    private func sound(of name: String, _ otherwise: String) -> SoundAnswer {
        guard let sink = sinks.first(where: { $0.name == name }), let monitor = monitor(of: sink) else {
            return .missing("\(otherwise); \(Self.list("sinks", sinks))")
        }
        return .record([SoundTarget(source: monitor.name, index: monitor.index)])
    }

    private func sound(ofApplication name: String) -> SoundAnswer {
        let wanted = name.lowercased()
        let targets = playbacks.filter {
            $0.application.lowercased() == wanted || $0.binary.lowercased() == wanted
        }.compactMap { playback -> SoundTarget? in
            guard let sink = sinks.first(where: { $0.index == playback.sink }), let monitor = monitor(of: sink) else {
                return nil
            }
            return SoundTarget(source: monitor.name, index: monitor.index, playback: playback.index)
        }
        guard targets.isEmpty else { return .record(targets) }
        let names = Set(playbacks.map { $0.application.isEmpty ? $0.binary : $0.application }).sorted()
        return .missing(
            "no program \(name) plays sound"
                + (names.isEmpty ? "" : "; these do: \(names.joined(separator: ", "))"))
    }

    private static func list(_ kind: String, _ devices: [Device]) -> String {
        devices.isEmpty
            ? "the server has no \(kind)" : "the \(kind) are \(devices.map(\.name).joined(separator: ", "))"
    }
}
