internal import Configuration
package import ControlProtocol
internal import LinuxSystem
package import MediaCore

/// A destination that a request adds. A thread of its own looks at the files that it names first: their disk may hang,
/// and the control server's thread must not wait for it.
///
/// `outcome` is asked for by one thread until it has an answer, or until nobody wants it any more.
package final class DestinationAddition: Sendable {
    /// What looking at the files takes at most on a disk that does not hang.
    package static let patience = MediaTime.seconds(2)
    /// A thread that hangs stays until its disk answers: there is one at most.
    private static let isLooking = Monitor(false)

    private enum Progress {
        case waiting
        case looking
        case found([String])
        case over
    }

    private let roster: DestinationRoster
    private let destination: DestinationConfiguration
    private let progress = Monitor(Progress.waiting)

    init(_ destination: DestinationConfiguration, to roster: DestinationRoster) {
        (self.destination, self.roster) = (destination, roster)
    }

    /// Whether the destination has been added, with its name; nil while its files are being looked at. Waits for
    /// nothing.
    package func outcome() -> Result<String, CommandRefusal>? {
        switch progress.withLock({ $0 }) {
        case .waiting:
            look()
            return nil
        case .looking, .over: return nil
        case .found(let problems):
            progress.withLock { $0 = .over }
            guard problems.isEmpty else {
                return .failure(CommandRefusal(code: .badDestination, sentence: problems.joined(separator: "; ")))
            }
            do throws(CommandRefusal) {
                try roster.add(destination)
                return .success(destination.name)
            } catch {
                return .failure(error)
            }
        }
    }

    /// The answer after `patience`; the destination is not added any more.
    package func giveUp() -> CommandRefusal {
        progress.withLock { $0 = .over }
        return CommandRefusal(
            code: .failed,
            sentence: "\"\(destination.name)\" is not added: the files that it names, or those of another request, "
                + "cannot be read for \(Self.patience); their disk hangs")
    }

    /// Begins to look, once no other thread does.
    private func look() {
        // One without files does not wait for another's, whose disk hangs.
        guard destination.namesFiles else { return progress.withLock { $0 = .found(problems) } }
        let isFirst = Self.isLooking.withLock { isLooking in
            defer { isLooking = true }
            return !isLooking
        }
        guard isFirst else { return }
        progress.withLock { $0 = .looking }
        let found = { @Sendable [self] (problems: [String]) in
            Self.isLooking.withLock { $0 = false }
            progress.withLock { if case .looking = $0 { $0 = .found(problems) } }
        }
        do {
            // What would be wrong the moment that it begins.
            try WorkerThread(name: "up-files", stackBytes: 256 * 1024) { [self] in found(problems) }.abandon()
        } catch {
            found(["the thread that looks at its files cannot be started: \(error)"])
        }
    }

    private var problems: [String] {
        destination.problemsOnThisMachine(environment: roster.environment).map { "\($0.key): \($0.what); \($0.remedy)" }
    }
}
