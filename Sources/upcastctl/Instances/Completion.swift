import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc
import MediaCore

/// Names for completion in a shell. The shell waits for them, so that failures must be silent and quick.
enum Completion {
    static let instances = CompletionKind.custom { _, _, _ in
        limitTime()
        return InstanceFolder().all.map(\.name)
    }
    static let destinations = names { $0.destinations.map(\.name) }
    static let regions = names { $0.privacy.regions.map(\.name) }
    static let protections = names { $0.privacy.protections.map(\.name) }
    /// Apps that hold the curtain or a region.
    static let apps = names { status in
        (status.privacy.curtain.holders.map(\.holder) + status.privacy.regions.map(\.holder))
            .filter { $0.hasPrefix("app:") }.map { String($0.dropFirst("app:".count)) }
    }

    private static func names(_ find: @escaping @Sendable (StatusReport) -> [String]) -> CompletionKind {
        .custom { words, _, _ in
            limitTime()
            guard let status = status(of: words) else { return [] }
            return Array(Set(find(status).filter(isWord))).sorted()
        }
    }

    private static func status(of words: [String]) -> StatusReport? {
        guard let options = try? ControlOptions.parse(controlOptions(in: words)), var client = try? options.client()
        else { return nil }
        client.timeout = .milliseconds(500)
        return (try? client.get("/status")).map { StatusReport(json: $0) }
    }

    /// The options that choose a daemon, among the words of an unfinished command line.
    static func controlOptions(in words: [String]) -> [String] {
        let names = ["-i", "--instance", "--socket", "--url", "--token-file"]
        var found: [String] = []
        var rest = words.map(unquoted)[...]
        while let word = rest.popFirst() {
            if names.contains(word) {
                guard let value = rest.popFirst() else { break }
                found += [word, value]
            } else if names.dropFirst().contains(where: { word.hasPrefix($0 + "=") }) {
                found.append(word)
            } else if word == "--" {
                break
            }
        }
        return found
    }

    /// Shells pass words as they were typed, with quotes.
    private static func unquoted(_ word: String) -> String {
        for quote in ["\"", "'"] where word.count >= 2 && word.hasPrefix(quote) && word.hasSuffix(quote) {
            return String(word.dropFirst().dropLast())
        }
        return word
    }

    /// Shell scripts separate names by line feeds. A name with characters that are not printable cannot be typed.
    private static func isWord(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("-") && TerminalText.printable(name) == name
    }

    /// Ends the process after a second, for calls without a limit of their own, such as the resolution of a host.
    private static func limitTime() {
        signal(SIGALRM) { _ in _exit(0) }
        alarm(1)
    }
}
