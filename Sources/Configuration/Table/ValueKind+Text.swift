internal import Endpoints
internal import Lettering
internal import LinuxSystem

extension ValueKind where Value == String {
    /// A word of letters, digits and `._-`, such as the name of an encoder or preset.
    static func word(_ what: String, example: String, mayBeEmpty: Bool = false, maxBytes: Int = 64, extra: String = "")
        -> ValueKind
    {
        ValueKind(
            summary: what,
            parse: { text throws(ValueProblem) in
                guard mayBeEmpty || !text.isEmpty, text.utf8.count <= maxBytes,
                    text.utf8.allSatisfy({ isWordByte($0) || extra.utf8.contains($0) })
                else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not \(article(what))",
                        remedy: "write at most \(maxBytes) letters, digits and ._-\(extra), such as \(example)")
                }
                return text
            },
            render: { $0.isEmpty ? "\"\"" : $0 })
    }

    /// Text that is drawn: characters of the font and line breaks.
    static func lettering(maxCharacters: Int) -> ValueKind {
        ValueKind(
            summary: "text of at most \(maxCharacters) characters, or \"\" for none",
            parse: { text throws(ValueProblem) in
                guard text.count <= maxCharacters else {
                    throw ValueProblem(
                        what: "the text has \(text.count) characters", remedy: "write at most \(maxCharacters)")
                }
                if !text.isEmpty, let missing = StrokeFont().firstMissing(in: text) {
                    let codes = missing.unicodeScalars.map { scalar in
                        let hex = String(scalar.value, radix: 16, uppercase: true)
                        return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
                    }
                    throw ValueProblem(
                        what: "\"\(printable(String(missing)))\" (\(codes.joined(separator: " "))) cannot be drawn",
                        remedy: "use Latin letters, digits, punctuation and line breaks")
                }
                return text
            },
            render: { quoted($0) })
    }

    /// The path of a Unix socket, within the kernel's length limit.
    static var socketPath: ValueKind {
        ValueKind(
            summary: "absolute path, at most \(UnixSocket.maxPathBytes) bytes",
            parse: { text throws(ValueProblem) in
                guard text.hasPrefix("/"), !text.hasSuffix("/"), !text.utf8.contains(0) else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not the absolute path of a socket", remedy: "start it with /")
                }
                guard text.utf8.count <= UnixSocket.maxPathBytes else {
                    throw ValueProblem(
                        what: "the socket path has \(text.utf8.count) bytes",
                        remedy: "choose a path of at most \(UnixSocket.maxPathBytes) bytes, the limit of Linux")
                }
                return text
            },
            render: { quoted($0) })
    }
}

extension ValueKind where Value == String? {
    /// The path of a file, or empty for none.
    static var optionalPath: ValueKind {
        ValueKind(
            summary: "path, or \"\" for none",
            parse: { text throws(ValueProblem) in
                guard text.utf8.count <= 4095, !text.utf8.contains(where: { $0 < 0x20 }) else {
                    throw ValueProblem(
                        what: "not the path of a file",
                        remedy: "write at most 4095 bytes without line breaks or control characters")
                }
                return text.isEmpty ? nil : text
            },
            render: { $0.map(quoted) ?? "\"\"" })
    }

    /// The name of an environment variable, or empty for none. Messages never quote it, because it may be a stream key.
    static var optionalVariable: ValueKind {
        ValueKind(
            summary: "name of an environment variable, or \"\" for none",
            parse: { text throws(ValueProblem) in
                guard text.utf8.allSatisfy({ isWordByte($0) && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }),
                    text.utf8.first.map({ !(0x30...0x39).contains($0) }) ?? true
                else {
                    throw ValueProblem(
                        what: "not the name of an environment variable",
                        remedy: "write the name, such as UPCAST_STREAM_KEY, not the key itself")
                }
                return text.isEmpty ? nil : text
            },
            render: { $0.map(quoted) ?? "\"\"" })
    }
}

extension ValueKind where Value == DestinationURL {
    /// Messages never quote the URL, because it may contain a stream key.
    static var destinationURL: ValueKind {
        ValueKind(
            summary: DestinationURL.forms,
            parse: { text throws(ValueProblem) in
                do throws(InvalidDestinationURL) { return try DestinationURL(text) } catch {
                    throw ValueProblem(what: error.what, remedy: error.remedy)
                }
            },
            render: { quoted($0.description) })
    }
}

extension ValueKind where Value == [String: String] {
    /// Options by name. In the environment: `name=value:name=value`, with `\:` and `\\` as escapes.
    static var options: ValueKind {
        ValueKind(
            summary: "mapping of names to values",
            parse: { text throws(ValueProblem) in try parseOptions(text) },
            render: { options in
                options.isEmpty
                    ? "{}"
                    : "{"
                        + options.sorted { $0.key < $1.key }.map { "\($0.key): \(quoted($0.value))" }.joined(
                            separator: ", ") + "}"
            },
            schema: .options)
    }
}

private func parseOptions(_ text: String) throws(ValueProblem) -> [String: String] {
    var items: [String] = []
    var item = ""
    var escaped = false
    for character in text.unicodeScalars {
        switch (character, escaped) {
        case ("\\", false): escaped = true
        case (":", false):
            items.append(item)
            item = ""
        default:
            item.unicodeScalars.append(character)
            escaped = false
        }
    }
    items.append(item)
    var options: [String: String] = [:]
    for item in items where !item.isEmpty {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw ValueProblem(
                what: "option \"\(printable(item))\" has no =",
                remedy: "write name=value:name=value, with \\: for a colon inside a value")
        }
        let name = String(parts[0])
        try checkOption(name, String(parts[1]))
        guard options.updateValue(String(parts[1]), forKey: name) == nil else {
            throw ValueProblem(what: "option \"\(printable(name))\" is set twice", remedy: "remove one of the two")
        }
    }
    return options
}

func checkOption(_ name: String, _ value: String) throws(ValueProblem) {
    guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy({ isWordByte($0) }) else {
        throw ValueProblem(
            what: "\"\(printable(name))\" is not an option name", remedy: "use letters, digits and ._-")
    }
    guard value.utf8.count <= 1024, !value.utf8.contains(where: { $0 < 0x20 }) else {
        throw ValueProblem(
            what: "the value of \(name) is too long or has control characters", remedy: "write at most 1024 bytes")
    }
}

func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
}

private func article(_ noun: String) -> String { "aeiou".contains(noun.prefix(1)) ? "an \(noun)" : "a \(noun)" }

/// Formats text as a double-quoted YAML scalar.
func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\n": "\\n"
        default: "\(scalar)"
        }
    }
    return "\"" + escaped.joined() + "\""
}
