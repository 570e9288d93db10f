internal import CYAML
internal import Wording

/// Reads one YAML document into a tree with libyaml (YAML 1.1). No other file imports that library.
///
/// The parser refuses anchors, aliases, tags, a second document, keys that are not plain text, repeated keys, nesting
/// beyond `maxDepth` (which also bounds the recursion here) and mappings beyond `maxEntries`.
@safe struct YAMLParser: ~Copyable {
    static let maxDepth = 8
    /// Each new key is compared with all previous ones.
    static let maxEntries = 200

    // On the heap, because libyaml keeps a pointer to its own state in it.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var depth = 0

    /// The root of the document, or nil if it contains only comments.
    static func parse(_ bytes: [UInt8]) throws(YAMLProblem) -> YAMLNode? {
        let outcome: Result<YAMLNode?, YAMLProblem> = unsafe bytes.withUnsafeBufferPointer { input in
            var parser = unsafe YAMLParser(borrowing: input)
            do throws(YAMLProblem) { return .success(try parser.document()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// `input` must outlive the parser.
    @unsafe private init(borrowing input: UnsafeBufferPointer<UInt8>) {
        unsafe parser = .allocate(capacity: 1)
        let initialized = unsafe yaml_parser_initialize(parser)
        precondition(initialized == 1, "no memory for a YAML parser")
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
    }

    /// The content of one libyaml event, copied so that the event can be freed at once.
    private enum Token {
        case scalar(YAMLScalar)
        case beginSequence(YAMLMark), endSequence
        case beginMapping(YAMLMark), endMapping
        case endOfDocument
        case endOfStream
        case other
    }

    private mutating func document() throws(YAMLProblem) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let token = try next()
            switch token {
            case .endOfStream: return root
            case .other, .endOfDocument: continue
            default:
                guard root == nil else {
                    throw YAMLProblem(
                        mark: self.mark(of: token), what: "a second document starts here",
                        remedy: "keep one document: remove the --- line and what follows it")
                }
                root = try node(from: token)
            }
        }
    }

    private mutating func node(from token: Token) throws(YAMLProblem) -> YAMLNode {
        switch token {
        case .scalar(let scalar): return .scalar(scalar)
        case .beginSequence(let mark):
            try enter(mark)
            defer { depth -= 1 }
            var items: [YAMLNode] = []
            while true {
                let item = try next()
                if case .endSequence = item { return .sequence(items, mark) }
                items.append(try node(from: item))
            }
        case .beginMapping(let mark):
            try enter(mark)
            defer { depth -= 1 }
            var entries: [YAMLEntry] = []
            while true {
                let token = try next()
                if case .endMapping = token { return .mapping(entries, mark) }
                guard case .scalar(let key) = token else {
                    throw YAMLProblem(
                        mark: self.mark(of: token), what: "a key is a list or a mapping",
                        remedy: "write a name followed by a colon")
                }
                let value = try node(from: try next())
                if let first = entries.first(where: { $0.key.text == key.text }) {
                    let line = first.key.mark.line
                    throw YAMLProblem(
                        mark: key.mark,
                        what: "duplicate \(YAMLEntry(key: key, value: value).keyInWords) (first in line \(line))",
                        remedy: "remove one of the two")
                }
                guard entries.count < Self.maxEntries else {
                    throw YAMLProblem(
                        mark: key.mark, what: "the mapping has more than \(Self.maxEntries) keys",
                        remedy: "remove keys; no section has as many")
                }
                entries.append(YAMLEntry(key: key, value: value))
            }
        default:
            // The grammar of libyaml allows no other start of a node.
            throw YAMLProblem(mark: self.mark(of: token), what: "a value is missing", remedy: "write a value")
        }
    }

    private func mark(of token: Token) -> YAMLMark {
        switch token {
        case .scalar(let scalar): scalar.mark
        case .beginSequence(let mark), .beginMapping(let mark): mark
        case .endSequence, .endMapping, .endOfDocument, .endOfStream, .other: unsafe Self.mark(parser.pointee.mark)
        }
    }

    private mutating func enter(_ mark: YAMLMark) throws(YAMLProblem) {
        depth += 1
        guard depth <= Self.maxDepth else {
            throw YAMLProblem(
                mark: mark, what: "values are nested more than \(Self.maxDepth) levels deep",
                remedy: "use at most three levels")
        }
    }

    private mutating func next() throws(YAMLProblem) -> Token {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxProblem() }
        defer { unsafe yaml_event_delete(&event) }
        let mark = unsafe Self.mark(event.start_mark)
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            try refuse(unsafe scalar.anchor != nil, tag: unsafe scalar.tag != nil, at: mark)
            let text = unsafe String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return .scalar(YAMLScalar(text: text, isPlain: unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE, mark: mark))
        case YAML_SEQUENCE_START_EVENT:
            try refuse(
                unsafe event.data.sequence_start.anchor != nil, tag: unsafe event.data.sequence_start.tag != nil,
                at: mark)
            return .beginSequence(mark)
        case YAML_MAPPING_START_EVENT:
            try refuse(
                unsafe event.data.mapping_start.anchor != nil, tag: unsafe event.data.mapping_start.tag != nil, at: mark
            )
            return .beginMapping(mark)
        case YAML_SEQUENCE_END_EVENT: return .endSequence
        case YAML_MAPPING_END_EVENT: return .endMapping
        case YAML_DOCUMENT_END_EVENT: return .endOfDocument
        case YAML_STREAM_END_EVENT: return .endOfStream
        case YAML_ALIAS_EVENT:
            throw YAMLProblem(mark: mark, what: "aliases (*name) are not supported", remedy: "write the value itself")
        default: return .other
        }
    }

    private func refuse(_ anchor: Bool, tag: Bool, at mark: YAMLMark) throws(YAMLProblem) {
        if anchor {
            throw YAMLProblem(mark: mark, what: "anchors (&name) are not supported", remedy: "remove the anchor")
        }
        if tag { throw YAMLProblem(mark: mark, what: "tags (!name) are not supported", remedy: "remove the tag") }
    }

    private func syntaxProblem() -> YAMLProblem {
        let reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not a YAML document"
        // Errors of the reader (bytes that are not UTF-8) have no problem mark.
        guard unsafe parser.pointee.error != YAML_READER_ERROR else {
            return YAMLProblem(
                mark: unsafe Self.mark(parser.pointee.mark),
                what: "\(reason) (at byte \(unsafe parser.pointee.problem_offset))",
                remedy: "save the file as UTF-8 text")
        }
        let remedy =
            switch reason {
            case "found character that cannot start any token":
                "indent with spaces, not tabs, and quote values that start with @, ` or %"
            case "mapping values are not allowed in this context":
                "align the keys of a section, and quote values that contain \": \""
            case "could not find expected ':'": "write key: value, with a space after the colon"
            // Errors in braces and brackets, as in JSON.
            case "did not find expected ',' or '}'", "did not find expected ',' or ']'",
                "did not find expected node content", "found unexpected end of stream":
                "check the brackets, commas and quotes, and that the text is complete"
            default: "check the indentation and the quotes near this place"
            }
        return YAMLProblem(mark: unsafe Self.mark(parser.pointee.problem_mark), what: reason, remedy: remedy)
    }

    private static func mark(_ mark: yaml_mark_t) -> YAMLMark { YAMLMark(line: mark.line + 1, column: mark.column + 1) }
}

/// Text from a file for use in a message: short, without control characters.
func printable(_ text: String) -> String {
    let shown = String(text.unicodeScalars.prefix(60)).withHiddenCharactersReplaced
    return shown + (text.unicodeScalars.count > 60 ? "..." : "")
}
