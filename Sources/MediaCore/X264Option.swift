/// One of libx264's options: of libavcodec's own, or in one of the two that hold x264's as `name=value:name=value`.
package struct X264Option: Equatable, Sendable {
    /// As it was written, without the spaces, quotes and escapes that libavcodec takes around names.
    package let name: String
    /// Empty where there is none.
    package let value: String

    /// The private options of libavcodec's encoder libx264 that hold options of x264.
    package static let lists = ["x264-params", "x264opts"]

    /// What an option of libx264 sets. A list that cannot be split as libavcodec does gives more names, and not fewer.
    package static func all(in name: String, _ value: String) -> [X264Option] {
        guard lists.contains(name) else { return [X264Option(name: plain(name[...]), value: plain(value[...]))] }
        return value.split(separator: ":").map { part in
            let end = part.firstIndex(of: "=") ?? part.endIndex
            return X264Option(name: plain(part[..<end]), value: plain(part[end...].dropFirst()))
        }
    }

    /// x264 takes `_` for `-` and capital letters for small ones.
    package var canonicalName: String { String(name.lowercased().map { $0 == "_" ? "-" : $0 }) }

    private static func plain(_ text: Substring) -> String {
        text.filter { $0.isLetter || $0.isNumber || "-_.,".contains($0) }
    }
}
