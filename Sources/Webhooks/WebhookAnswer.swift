internal import MediaCore

/// Parses the head of a server's answer, which may arrive in pieces. Ignores bodies. Pure.
struct WebhookAnswer: Equatable {
    /// Longer heads are refused.
    static let mostHeadBytes = 8 * 1024

    enum Progress: Equatable {
        case more
        case done(WebhookAnswer)
        /// It is not HTTP, or longer than `mostHeadBytes`.
        case broken(String)
    }

    var status: Int
    /// The delay that the server asked for in seconds (Retry-After). Dates are ignored.
    var retryAfter: MediaTime?
    /// Whether the server named another location. It is not followed.
    var hasLocation = false

    /// Parses the bytes that have arrived so far.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Progress {
        var rest = bytes
        while true {
            guard let end = rest.firstRange(of: [13, 10, 13, 10]) ?? rest.firstRange(of: [10, 10]) else {
                let isHTTP = rest.starts(with: "HTTP/".utf8.prefix(rest.count))
                guard isHTTP else { return .broken("the server's answer is not HTTP") }
                guard bytes.count < mostHeadBytes else { return .broken("the head of the server's answer is too long") }
                return .more
            }
            guard let answer = WebhookAnswer(head: rest[..<end.lowerBound]) else {
                return .broken("the server's answer is not HTTP")
            }
            // Interim answers (1xx) come before the final one.
            guard answer.status < 200 else { return .done(answer) }
            rest = rest[end.upperBound...]
        }
    }

    private init?(head: ArraySlice<UInt8>) {
        let lines = head.split(separator: 10).map { String(decoding: $0.filter { $0 != 13 }, as: UTF8.self) }
        guard let first = lines.first, first.hasPrefix("HTTP/1.") else { return nil }
        let words = first.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]), (100...599).contains(status)
        else { return nil }
        self.status = status
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = parts[1].filter { $0 != " " && $0 != "\t" }
            switch parts[0].lowercased() {
            case "retry-after":
                if let seconds = Int64(value), (0...86_400).contains(seconds) { retryAfter = .seconds(seconds) }
            case "location": hasLocation = true
            default: break
            }
        }
    }

    /// The consequence of the answer for the delivery.
    var outcome: WebhookOutcome {
        switch status {
        case 200...299: .delivered
        case 300...399:
            .failed(
                "the server answered \(status)\(hasLocation ? " and another location" : "")"
                    + "; redirects are not followed, so set url to the new address", retryAfter: retryAfter)
        case 410: .gone("the server answered 410: it wants no more deliveries")
        default: .failed("the server answered \(status)", retryAfter: retryAfter)
        }
    }
}

/// The result of an attempt.
enum WebhookOutcome: Equatable {
    case delivered
    /// Another attempt may succeed.
    case failed(String, retryAfter: MediaTime? = nil)
    /// Another attempt is useless.
    case refused(String)
    /// The hook must not be used any more.
    case gone(String)
    /// The daemon ends, or the hook was removed.
    case cancelled
}
