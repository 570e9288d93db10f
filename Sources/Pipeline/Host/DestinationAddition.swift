internal import Configuration
package import ControlProtocol
internal import LinuxSystem
package import MediaCore

/// A destination that a request adds. A separate thread checks its files first, because their disk may hang and the
/// control server's thread must not wait for it.
///
/// One thread polls `outcome` until it has an answer or gives up.
package final class DestinationAddition: Sendable {
    /// The most time that checking files takes on a disk that does not hang.
    package static let patience = MediaTime.seconds(2)
    /// Whether a thread checks files. At most one does, because a hanging thread stays until its disk answers.
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

    /// The name of the added destination, or the refusal; nil while its files are being checked. Does not wait.
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

    /// Gives up after `patience`: the destination is not added. Returns the refusal.
    package func giveUp() -> CommandRefusal {
        progress.withLock { $0 = .over }
        return CommandRefusal(
            code: .failed,
            sentence: "\"\(destination.name)\" is not added: the files that it names, or those of another request, "
                + "cannot be read for \(Self.patience); their disk hangs")
    }

    /// Starts to check the files if no other thread does.
    private func look() {
        // Destinations without files do not wait for another's hanging disk.
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
            // The problems that the destination would have at its start.
            try WorkerThread(name: "up-files", stackBytes: 256 * 1024) { [self] in found(problems) }.abandon()
        } catch {
            found(["the thread that looks at its files cannot be started: \(error)"])
        }
    }

    private var problems: [String] {
        destination.problemsOnThisMachine(environment: roster.environment).map { "\($0.key): \($0.what); \($0.remedy)" }
    }
}
