/// Kinds of capture, as clients name theirs when a broadcast starts.
package struct SourceList: Equatable, Sendable {
    /// Raw values are those of the configuration.
    package enum Source: String, CaseIterable, Sendable {
        case screen, mirroring
        case externalPlayback = "external_playback"
        case camera, file, other
    }

    package var sources: [Source] = []

    package init(_ sources: [Source] = []) { self.sources = sources }
}

extension ValueKind where Value == SourceList {
    static var sources: ValueKind {
        let names = SourceList.Source.allCases.map(\.rawValue)
        return ValueKind(
            summary: "any of \(names.joined(separator: ", ")), separated by commas, or \"\" for none",
            parse: { text throws(ValueProblem) in
                var list = SourceList()
                guard text.contains(where: { $0 != " " }) else { return list }
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let name = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                    guard let source = SourceList.Source(rawValue: name) else {
                        throw ValueProblem(
                            what: "\"\(printable(name))\" is not known",
                            remedy: didYouMean(name, names) ?? "write any of \(names.joined(separator: ", "))")
                    }
                    if !list.sources.contains(source) { list.sources.append(source) }
                }
                return list
            },
            render: { "\"" + $0.sources.map(\.rawValue).joined(separator: ", ") + "\"" })
    }
}
