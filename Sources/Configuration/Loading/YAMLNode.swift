/// One node of a YAML document, with its place. It supports what a configuration needs: no anchors, no tags.
enum YAMLNode: Equatable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode], YAMLMark)
    case mapping([YAMLEntry], YAMLMark)

    var mark: YAMLMark {
        switch self {
        case .scalar(let scalar): scalar.mark
        case .sequence(_, let mark), .mapping(_, let mark): mark
        }
    }
}

/// A value as written, without quotes.
struct YAMLScalar: Equatable {
    var text: String
    /// Whether the scalar has no quotes. An empty plain scalar, `~` and `null` are null.
    var isPlain: Bool
    var mark: YAMLMark

    var isNull: Bool { isPlain && (text.isEmpty || text == "~" || text == "null") }
}

struct YAMLEntry: Equatable {
    var key: YAMLScalar
    var value: YAMLNode

    /// The key for use in a message, such as `key "fps"`. A key that may be a value is not quoted, because it may be a
    /// secret: in `{url:rtmp://h/app}` the value is part of the key, and in `{url: rtmp://h/app, x}` x is a key.
    var keyInWords: String {
        if key.text.contains(":") { return "key with a colon in its name (write a space after the colon)" }
        if case .scalar(let scalar) = value, scalar.isNull { return "key without a value" }
        return "key \"\(printable(key.text))\""
    }
}

/// A place in a document. Line and column count from 1, as in editors.
struct YAMLMark: Equatable {
    var line: Int
    var column: Int
}

/// Why a document could not be read.
struct YAMLProblem: Error, Equatable {
    var mark: YAMLMark
    var what: String
    var remedy: String
}
