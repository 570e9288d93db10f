/// Returns `did you mean "width"?` for the candidate nearest to `text`, or nil if none is near.
///
/// Near is an edit distance of at most a third of the candidate's letters, and between 1 and 3.
package func didYouMean(_ text: String, _ candidates: [String]) -> String? {
    nearest(text, candidates).map { "did you mean \"\($0)\"?" }
}

package func nearest(_ text: String, _ candidates: [String]) -> String? {
    guard text.utf8.count <= 80 else { return nil }
    let lowered = text.lowercased()
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
        let distance = editDistance(Array(lowered.utf8), Array(candidate.lowercased().utf8))
        if distance <= min(3, max(1, candidate.utf8.count / 3)), distance < best?.distance ?? .max {
            best = (distance, candidate)
        }
    }
    return best?.candidate
}

/// The optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
package func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var twoBack: [Int] = []
    var previous = Array(0...b.count)
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var distance = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { distance = min(distance, twoBack[j - 1] + 1) }
            row.append(distance)
        }
        twoBack = previous
        previous = row
    }
    return previous[b.count]
}
