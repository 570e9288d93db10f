package import MediaCore
internal import Wording

/// Source kinds, as clients name them when a broadcast starts.
package struct SourceList: Equatable, Sendable {
    package var sources: [SourceKind] = []

    package init(_ sources: [SourceKind] = []) { self.sources = sources }
}

extension ValueKind where Value == SourceList {
    static var sources: ValueKind {
        // `other` comes last in messages and docs.
        let kinds = SourceKind.allCases.filter { $0 != .other } + [.other]
        let names = kinds.map(\.key)
        return ValueKind(
            summary: "any of \(names.joined(separator: ", ")), separated by commas, or \"\" for none",
            parse: { text throws(ValueProblem) in
                var list = SourceList()
                guard text.contains(where: { $0 != " " }) else { return list }
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let name = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                    guard let source = kinds.first(where: { $0.key == name }) else {
                        throw ValueProblem(
                            what: "unknown source kind \"\(printable(name))\"",
                            remedy: didYouMean(name, names) ?? "write any of \(names.joined(separator: ", "))")
                    }
                    if !list.sources.contains(source) { list.sources.append(source) }
                }
                return list
            },
            render: { "\"" + $0.sources.map(\.key).joined(separator: ", ") + "\"" })
    }
}
