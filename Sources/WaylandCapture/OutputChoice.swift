package import Grabbing

/// Decides which output is captured, for as long as the program runs. Pure.
///
/// A captured output is never replaced by another one, which viewers may not be meant to see. Each connection waits for
/// the captured one. The exception is a compositor with a single output that was not asked for by name. If that output
/// goes, and an output comes while there is none, the new one is captured, whatever its name.
package struct OutputChoice: Equatable, Sendable {
    /// The output that is captured.
    private struct Kept: Equatable {
        var name: String
        /// False for a number, which may mean another output on another connection.
        var isNamed: Bool
        var isRecognizable = true
        /// `WaylandOutputs.meetings` when the output was last seen; nil if it was not alone. Several outputs may come
        /// and go between two looks. Only this counter shows that another output came while this one was there.
        var meetingsWhenAlone: UInt32?

        init(_ output: WaylandOutput, among outputs: WaylandOutputs) {
            (name, isNamed) = (output.name, output.isNamed)
            meetingsWhenAlone = outputs.count == 1 ? outputs.meetings : nil
        }
    }

    private let wanted: String?
    private var kept: Kept?

    /// - Parameter name: nil to take the output that is there.
    package init(name: String?) { wanted = name }

    /// Notes that a connection begins. A single output on it counts as one that came while there was none.
    package mutating func connect() {
        if kept?.meetingsWhenAlone != nil { kept?.meetingsWhenAlone = 0 }
        if kept?.isNamed == false { kept?.isRecognizable = false }
    }

    /// - Throws: if the output is not there now.
    package mutating func choose(among outputs: WaylandOutputs) throws(ScreenError) -> WaylandOutput {
        let name = wanted ?? kept?.name
        let isRecognizable = kept?.isRecognizable ?? true
        let named = isRecognizable ? outputs.known.first { name == nil || $0.name == name } : nil
        if let output = named ?? successor(among: outputs) {
            kept = Kept(output, among: outputs)
            return output
        }
        guard isRecognizable else {
            throw ScreenError(
                "the compositor does not name its outputs, so that the one that was captured is not recognized; start "
                    + "upcast-screen again to choose one", isTemporary: true)
        }
        guard let name else { throw ScreenError("the compositor has no output", isTemporary: true) }
        let names = outputs.known.map(\.name).joined(separator: ", ")
        throw ScreenError(
            "the compositor has no output \(name)" + (names.isEmpty ? "" : "; it has \(names)"), isTemporary: true)
    }

    /// The output that came while there was none, and replaces the only one. A number does not identify an output.
    private func successor(among outputs: WaylandOutputs) -> WaylandOutput? {
        guard let kept, outputs.count == 1, kept.meetingsWhenAlone == outputs.meetings else { return nil }
        return wanted == nil || !kept.isRecognizable ? outputs.known.first : nil
    }

    /// A hint for the user if there are several outputs, and none was asked for by name.
    package func hint(_ chosen: WaylandOutput, among outputs: WaylandOutputs) -> String? {
        let others = outputs.known.map(\.name).filter { $0 != chosen.name }
        guard wanted == nil, !others.isEmpty else { return nil }
        return "only \(chosen.name) is captured; --monitor chooses another output: \(others.joined(separator: ", "))"
    }
}
