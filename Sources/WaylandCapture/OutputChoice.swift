package import Grabbing

/// Decides which output is captured, for as long as the program runs. Pure.
///
/// An output that is captured is never replaced by another one that viewers may not be meant to see: it is waited for,
/// also by the connections that follow. The exception is a compositor with one output, whose name was not asked for: if
/// it goes, and an output comes while there is none, that one is the screen, whatever it is called.
package struct OutputChoice: Equatable, Sendable {
    private let wanted: String?
    private var kept: String?
    /// It has no name, by which another connection would recognize it.
    private var isNameless = false
    private var isUnrecognizable = false
    /// `WaylandOutputs.meetings` when the kept output was seen last; nil if it was not alone. Several outputs may have
    /// come and gone from one look to the next: only this tells that another one came beside it.
    private var meetingsWhenAlone: UInt32?

    /// - Parameter name: nil to take what there is.
    package init(name: String?) { wanted = name }

    /// A connection begins. All that is there may have come by and by: if it is one output, it counts as one that came
    /// while there was none.
    package mutating func connect() {
        if meetingsWhenAlone != nil { meetingsWhenAlone = 0 }
        if wanted == nil, isNameless { isUnrecognizable = true }
    }

    /// - Throws: if it is not there now.
    package mutating func choose(among outputs: WaylandOutputs) throws(ScreenError) -> WaylandOutput {
        let name = wanted ?? kept
        if !isUnrecognizable, let output = outputs.known.first(where: { name == nil || $0.name == name }) {
            meetingsWhenAlone = outputs.count == 1 ? outputs.meetings : nil
            (kept, isNameless) = (output.name, !output.isNamed)
            return output
        }
        if wanted == nil, meetingsWhenAlone == outputs.meetings, outputs.count == 1, let only = outputs.known.first {
            (kept, isNameless, isUnrecognizable) = (only.name, !only.isNamed, false)
            return only
        }
        guard !isUnrecognizable else {
            throw ScreenError(
                "the compositor does not name its outputs, so that the one that was captured is not recognized; choose "
                    + "one with --monitor, or start upcast-screen again", isTemporary: true)
        }
        guard let name else { throw ScreenError("the compositor has no output", isTemporary: true) }
        let names = outputs.known.map(\.name).joined(separator: ", ")
        throw ScreenError(
            "the compositor has no output \(name)" + (names.isEmpty ? "" : "; it has \(names)"), isTemporary: true)
    }

    /// What to say if nobody has named one of several outputs.
    package func hint(_ chosen: WaylandOutput, among outputs: WaylandOutputs) -> String? {
        let others = outputs.known.map(\.name).filter { $0 != chosen.name }
        guard wanted == nil, !others.isEmpty else { return nil }
        return "only \(chosen.name) is captured; --monitor chooses another output: \(others.joined(separator: ", "))"
    }
}
