import ControlProtocol

/// The daemon's sentences about destinations, without facts that are shown beside them. Pure.
enum Reason {
    /// The last error without the name and address before it, and without the delay that was current when it happened.
    static func lastError(of destination: DestinationStatus) -> String? {
        destination.lastError.map { withoutDelay(withoutAddress($0, destination.name)) }
    }

    /// `"main" (rtmp://host/app): cannot connect` is `cannot connect`.
    static func withoutAddress(_ text: String, _ name: String) -> String {
        let start = "\"\(name)\" ("
        guard !name.isEmpty, text.hasPrefix(start), let end = text.dropFirst(start.count).firstRange(of: "): ") else {
            return text
        }
        return String(text[end.upperBound...])
    }

    private static func withoutDelay(_ text: String) -> String {
        guard let range = text.ranges(of: "; trying again in ").last,
            text[range.upperBound...].wholeMatch(of: /[0-9.]+ (?:ms|s|min)(?: [0-9.]+ s)?/) != nil
        else { return text }
        return String(text[..<range.lowerBound])
    }
}
