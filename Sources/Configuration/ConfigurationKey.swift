/// One row of the table that everything else is made from: reading, checking, the environment, the shipped file, docs.
///
/// `Root` is `Configuration`, or `DestinationConfiguration` for the keys of one destination.
struct ConfigurationKey<Root: Sendable>: Sendable {
    /// `video` in `video.width`; `destinations` for the keys of a destination.
    let section: String
    let name: String
    /// What may be written: from the value's kind.
    let allowed: String
    /// "pixels", "ms"; empty when the value has none.
    let unit: String
    /// What it does, in a sentence or two.
    let summary: String
    /// What it costs in memory, in a sentence.
    let memory: String
    /// Whether the value is a mapping of names to texts.
    let isMapping: Bool
    /// Checks a text and writes its value.
    let apply: @Sendable (String, inout Root) throws(ValueProblem) -> Void
    /// Writes a mapping; only where `isMapping`.
    let applyMapping: @Sendable ([String: String], inout Root) -> Void
    /// The value in `Root` as YAML writes it.
    let render: @Sendable (Root) -> String

    init<Value>(
        _ section: String, _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable,
        _ kind: ValueKind<Value>,
        unit: String = "", _ summary: String, memory: String
    ) {
        self.section = section
        self.name = name
        self.allowed = kind.summary
        self.unit = unit
        self.summary = summary
        self.memory = memory
        isMapping = Value.self == [String: String].self
        apply = { text, root throws(ValueProblem) in root[keyPath: property] = try kind.parse(text) }
        applyMapping = { mapping, root in
            if let value = mapping as? Value { root[keyPath: property] = value }
        }
        render = { kind.render($0[keyPath: property]) }
    }

    /// `UPCAST_VIDEO_WIDTH`; with an index, `UPCAST_DESTINATIONS_0_URL`.
    func environmentName(index: Int? = nil) -> String {
        "UPCAST_" + (index.map { "\(section)_\($0)_\(name)" } ?? "\(section)_\(name)").uppercased()
    }
}
