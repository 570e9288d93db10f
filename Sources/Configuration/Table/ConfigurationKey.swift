/// One row of the key table. Parser, checks, environment variables, shipped file and docs are made from it.
///
/// `Root` is `Configuration`, or the type of an item for the keys of a list: `DestinationConfiguration`,
/// `WebhookConfiguration`.
struct ConfigurationKey<Root: Sendable>: Sendable {
    /// `video` in `video.width`; `destinations` or `webhooks` for the keys of an item.
    let section: String
    let name: String
    /// The allowed values, from the `ValueKind`.
    let allowed: String
    /// "pixels", "ms"; empty for a value without a unit.
    let unit: String
    /// What the key does, in one to three sentences.
    let summary: String
    /// The memory cost, in one sentence; empty for none.
    let memory: String
    let schema: ValueSchema
    /// Whether the value is a mapping of names to texts.
    let isMapping: Bool
    /// Parses a text and sets the value.
    let apply: @Sendable (String, inout Root) throws(ValueProblem) -> Void
    /// Sets a mapping. Requires `isMapping`.
    let applyMapping: @Sendable ([String: String], inout Root) -> Void
    /// The value in `Root` as YAML text.
    let render: @Sendable (Root) -> String

    init<Value>(
        _ section: String, _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable,
        _ kind: ValueKind<Value>,
        unit: String = "", _ summary: String, memory: String
    ) {
        self.section = section
        self.name = name
        self.allowed = kind.summary
        schema = kind.schema
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
