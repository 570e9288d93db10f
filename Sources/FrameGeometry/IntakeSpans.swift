import MediaCore

/// Which rows of a picture are made anew where only a part of the sample has changed: a value of fixed size.
///
/// Rows are those of the *stored* picture: luma rows as they come out of a scaler, before they are turned. A span
/// begins and ends where strips do (`PlaneScaler`), for luma and chroma alike, and no two spans need the same row of
/// the sample. So what is made is the same as if all rows were.
struct IntakeSpans {
    private(set) var count = 0
    /// As many as a sample has rectangles at most.
    private var spans = InlineArray<16, Range<Int>>(repeating: 0..<0)

    /// Luma rows in ascending order; even numbers.
    subscript(index: Int) -> Range<Int> { spans[index] }

    /// All rows.
    init(whole rows: Int) {
        spans[0] = 0..<rows
        count = 1
    }

    /// The rows that what has changed is part of; nothing where it lies outside of the crop.
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

    /// Makes one of neighbours that touch, or of which `meet` says so.
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

/// Which rows of a stored picture are made of which rows of a sample, for luma and chroma together. Rows of the sample
/// are luma rows, counted from the crop's first.
struct StoredRows {
    let plan: GeometryPlan
    let luma: NativePlaneScaler
    /// Nil for samples of luma only.
    let chroma: NativePlaneScaler?

    private var divisor: Int { plan.source.pixelFormat.chromaDivisors.vertical }

    /// What rows of the sample become, in whole strips.
    func made(of source: Range<Int>) -> Range<Int> {
        var made = luma.made(of: source)
        if let chroma {
            let rows = chroma.made(of: source.lowerBound / divisor..<(source.upperBound + divisor - 1) / divisor)
            made = min(made.lowerBound, 2 * rows.lowerBound)..<max(made.upperBound, 2 * rows.upperBound)
        }
        // One of the two may be scaled row by row, and the other in strips.
        return luma.widened(made, to: max(luma.unit, chroma?.unit ?? 0))
    }

    /// What of the sample is needed for rows of the picture, in multiples of four rows: pairs of chroma rows.
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
