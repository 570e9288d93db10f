/// One node of a YAML document, with where it began. Only what a configuration needs: no anchors, no tags.
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

/// A value as it was written, quotes taken off.
struct YAMLScalar: Equatable {
    var text: String
    /// Without quotes: an empty plain scalar, `~` and `null` are no value at all.
    var isPlain: Bool
    var mark: YAMLMark

    var isNull: Bool { isPlain && (text.isEmpty || text == "~" || text == "null") }
}

struct YAMLEntry: Equatable {
    var key: YAMLScalar
    var value: YAMLNode
}

/// A place in a document; line and column count from 1, as editors do.
struct YAMLMark: Equatable {
    var line: Int
    var column: Int
}

/// Why a document was not read.
struct YAMLProblem: Error, Equatable {
    var mark: YAMLMark
    var what: String
    var remedy: String
}
