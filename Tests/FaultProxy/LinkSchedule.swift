package import MediaCore

/// Commands with the moment that each is for, such as "0s rate 8M; 10s rate 1M; 400kB reset".
///
/// Times count from when the schedule begins; bytes are those that have gone up since then, all connections together,
/// and are met exactly. A command without a moment is for the beginning.
package struct LinkSchedule: Equatable, Sendable {
    package enum Moment: Equatable, Sendable {
        case time(MediaTime)
        case bytesUp(Int)
    }

    package var steps: [(at: Moment, command: LinkCommand)]

    package init(_ steps: [(at: Moment, command: LinkCommand)]) { self.steps = steps }

    /// Steps are separated by semicolons or line ends.
    package init(_ text: some StringProtocol) throws(LinkCommandError) {
        steps = []
        for step in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = step.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard let first = words.first else { continue }
            let moment: Moment? = Quantity.time(first).map { .time($0) } ?? Quantity.bytes(first).map { .bytesUp($0) }
            if let moment {
                guard words.count == 2 else { throw LinkCommandError(description: "\"\(step)\" has no command") }
                steps.append((moment, try LinkCommand(words[1])))
            } else {
                steps.append((.time(.zero), try LinkCommand(step)))
            }
        }
    }

    package static func == (a: LinkSchedule, b: LinkSchedule) -> Bool {
        a.steps.elementsEqual(b.steps) { $0.at == $1.at && $0.command == $1.command }
    }
}
