/// One of libx264's options: one of libavcodec's, or one in the two options that contain x264's as
/// `name=value:name=value`.
package struct X264Option: Equatable, Sendable {
    /// The written name, without the spaces, quotes and escapes that libavcodec allows around names.
    package let name: String
    /// Empty if there is no value.
    package let value: String

    /// The private options of libavcodec's libx264 encoder that contain options of x264.
    package static let lists = ["x264-params", "x264opts"]

    /// The options that an option of libx264 sets. A list that cannot be split as libavcodec does yields too many
    /// names, never too few.
    package static func all(in name: String, _ value: String) -> [X264Option] {
        guard lists.contains(name) else { return [X264Option(name: plain(name[...]), value: plain(value[...]))] }
        return value.split(separator: ":").map { part in
            let end = part.firstIndex(of: "=") ?? part.endIndex
            return X264Option(name: plain(part[..<end]), value: plain(part[end...].dropFirst()))
        }
    }

    /// x264 treats `_` as `-`, and ignores case.
    package var canonicalName: String { String(name.lowercased().map { $0 == "_" ? "-" : $0 }) }

    private static func plain(_ text: Substring) -> String {
        text.filter { $0.isLetter || $0.isNumber || "-_.,".contains($0) }
    }
}
