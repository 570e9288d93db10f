package import Grabbing

/// Decides which output is captured. Pure.
///
/// An output that is captured is never replaced by another one that viewers may not be meant to see: it is waited for.
/// The exception is a compositor with one output, whose name was not asked for: its only output is the screen, whatever
/// it is called.
package struct OutputChoice: Equatable, Sendable {
    private let wanted: String?
    private var kept: String?
    private var wasAlone = false

    /// - Parameter name: nil to take what there is.
    package init(name: String?) { wanted = name }

    /// - Parameter outputs: in the compositor's order.
    /// - Throws: if it is not there now.
    package mutating func choose(among outputs: [WaylandOutput]) throws(ScreenError) -> WaylandOutput {
        let name = wanted ?? kept
        if let output = outputs.first(where: { name == nil || $0.name == name }) {
            wasAlone = outputs.count == 1
            kept = output.name
            return output
        }
        if wanted == nil, wasAlone, outputs.count == 1, let only = outputs.first {
            kept = only.name
            return only
        }
        guard let name else { throw ScreenError("the compositor has no output", isTemporary: true) }
        let names = outputs.map(\.name).joined(separator: ", ")
        throw ScreenError(
            "the compositor has no output \(name)" + (names.isEmpty ? "" : "; it has \(names)"), isTemporary: true)
    }

    /// What to say if nobody has named one of several outputs.
    package func hint(_ chosen: WaylandOutput, among outputs: [WaylandOutput]) -> String? {
        let others = outputs.map(\.name).filter { $0 != chosen.name }
        guard wanted == nil, !others.isEmpty else { return nil }
        return "only \(chosen.name) is captured; --monitor chooses another output: \(others.joined(separator: ", "))"
    }
}
