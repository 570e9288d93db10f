import MediaCore

/// The rows of a picture that are converted again if only a part of the sample has changed. A value of fixed size.
///
/// Rows are those of the *stored* picture: luma rows of a scaler's output, before they are turned. A span begins and
/// ends at boundaries of strips (`PlaneScaler`), for luma and chroma alike. No two spans need the same row of the
/// sample, so the result is the same as if all rows were converted.
struct IntakeSpans {
    private(set) var count = 0
    /// Has room for the maximum number of rectangles in a sample.
    private var spans = InlineArray<16, Range<Int>>(repeating: 0..<0)

    /// Luma rows in ascending order; the bounds are even.
    subscript(index: Int) -> Range<Int> { spans[index] }

    /// All rows.
    init(whole rows: Int) {
        spans[0] = 0..<rows
        count = 1
    }

    /// The rows that depend on changed pixels; empty if all of these are outside of the crop.
    init(_ damage: PictureDamage, by rows: StoredRows) {
        let crop = rows.plan.crop
        for index in 0..<damage.count {
            let changed = damage[index].rows.clamped(to: crop.y..<crop.y + crop.height)
            guard !changed.isEmpty else { continue }
            insert(rows.made(of: changed.lowerBound - crop.y..<changed.upperBound - crop.y))
        }
        join { rows.needed(for: $0).upperBound > rows.needed(for: $1).lowerBound }
    }

    private mutating func insert(_ span: Range<Int>) {
        var place = count
        while place > 0, spans[place - 1].lowerBound > span.lowerBound {
            spans[place] = spans[place - 1]
            place -= 1
        }
        spans[place] = span
        count += 1
    }

    /// Joins neighbours that touch, or for which `meet` returns true.
    private mutating func join(_ meet: (Range<Int>, Range<Int>) -> Bool) {
        guard count > 1 else { return }
        var last = 0
        for index in 1..<count {
            let (a, b) = (spans[last], spans[index])
            if a.upperBound >= b.lowerBound || meet(a, b) {
                spans[last] = a.lowerBound..<max(a.upperBound, b.upperBound)
            } else {
                last += 1
                spans[last] = b
            }
        }
        count = last + 1
    }
}

/// Maps rows of a sample to the rows of a stored picture that depend on them, for luma and chroma together. Rows of the
/// sample are luma rows, counted from the crop's first row.
struct StoredRows {
    let plan: GeometryPlan
    let luma: NativePlaneScaler
    /// Nil for samples with luma only.
    let chroma: NativePlaneScaler?

    private var divisor: Int { plan.source.pixelFormat.chromaDivisors.vertical }

    /// The picture's rows that depend on rows of the sample, in whole strips.
    func made(of source: Range<Int>) -> Range<Int> {
        var made = luma.made(of: source)
        if let chroma {
            let rows = chroma.made(of: source.lowerBound / divisor..<(source.upperBound + divisor - 1) / divisor)
            made = min(made.lowerBound, 2 * rows.lowerBound)..<max(made.upperBound, 2 * rows.upperBound)
        }
        // One of the two may be scaled row by row, and the other one in strips.
        return luma.widened(made, to: max(luma.unit, chroma?.unit ?? 0))
    }

    /// The sample's rows that rows of the picture need, in multiples of four rows: pairs of chroma rows.
    func needed(for made: Range<Int>) -> Range<Int> {
        var needed = luma.needed(for: made)
        if let chroma {
            let rows = chroma.needed(for: made.lowerBound / 2..<made.upperBound / 2)
            needed =
                min(needed.lowerBound, divisor * rows.lowerBound)..<max(needed.upperBound, divisor * rows.upperBound)
        }
        return needed.lowerBound & ~3..<min(plan.crop.height, (needed.upperBound + 3) & ~3)
    }
}
