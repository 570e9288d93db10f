internal import Configuration
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
package import MediaCore

/// Checks the key, login and CA files of all destinations before a broadcast needs them: a missing key is known when
/// the daemon starts, and not when a client comes. Any thread.
///
/// A separate thread reads the files, because their disk may hang; at most one runs. `tick` starts it, and only `begin`
/// waits for it, for a limited time.
package final class DestinationFiles: Sendable {
    /// How often files are read: while all are in order, and while some are not.
    static let period = MediaTime.seconds(10)
    static let periodOfProblems = MediaTime.seconds(1)
    /// A disk that takes longer hangs.
    static let patience = MediaTime.seconds(5)

    struct Problem: Equatable {
        let destination: String
        let key: String
        let why: String
    }

    private struct State {
        /// As of the last complete check.
        var problems: [Problem] = []
        /// When the running check began; nil without one.
        var began: MediaTime?
        /// The destination whose files are being read.
        var reading = ""
        var next = MediaTime.zero
        var hasLooked = false
        /// The destination whose hanging disk has been logged.
        var hanging: String?
    }

    private let state = Monitor(State())
    private let roster: DestinationRoster
    private let clock: any TimeSource
    private let logger: Logger

    init(_ roster: DestinationRoster, clock: any TimeSource, logger: Logger) {
        (self.roster, self.clock, self.logger) = (roster, clock, logger)
    }

    /// Starts the first check, and waits for it for at most `patience`, so that the daemon's first answers are right.
    /// Main thread, before the daemon is ready.
    package func begin(waiting patience: MediaTime) {
        tick()
        _ = state.wait(until: clock.now() + patience, by: clock) { $0.hasLooked ? true : nil }
    }

    /// Starts a check when it is time. Called about once a second.
    package func tick() {
        let now = clock.now()
        let (isDue, hanging) = state.withLock { state -> (Bool, String?) in
            guard let began = state.began else {
                guard now >= state.next else { return (false, nil) }
                (state.began, state.hanging) = (now, nil)
                return (true, nil)
            }
            guard now - began >= Self.patience, state.hanging == nil else { return (false, nil) }
            state.hanging = state.reading
            return (false, state.hanging)
        }
        if let hanging {
            logger.tell(.destinationNotReady(destination: hanging, key: "files", why: Self.hang))
        }
        guard isDue else { return }
        // Without files there is no disk to wait for, and no thread is needed.
        guard roster.all.contains(where: \.hasSecretFiles) else { return finish(look()) }
        do throws(Errno) {
            try WorkerThread(name: "up-files", stackBytes: 256 * 1024) { [self] in finish(look()) }.abandon()
        } catch {
            // The next tick tries again.
            state.withLock { $0.began = nil }
        }
    }

    /// Why a broadcast cannot be published to all destinations, as a sentence; nil if it can. Does not wait.
    package var problem: String? {
        let now = clock.now()
        return state.withLock { state in
            if let began = state.began, now - began >= Self.patience { return "\(state.reading): \(Self.hang)" }
            guard !state.problems.isEmpty else { return nil }
            return state.problems.map { "\($0.destination): \($0.why)" }.joined(separator: "; ")
        }
    }

    private static let hang = "its files cannot be read for \(patience); their disk hangs"

    /// Reads the files of all destinations. Blocks while their disk does.
    private func look() -> [Problem] {
        roster.all.flatMap { destination -> [Problem] in
            state.withLock { $0.reading = destination.name }
            // The folder of a recording is no secret, and its disk is checked when it is opened.
            return destination.secretProblems(environment: roster.environment).map {
                Problem(destination: destination.name, key: $0.key, why: "\($0.what); \($0.remedy)")
            }
        }
    }

    private func finish(_ problems: [Problem]) {
        let (before, wasHanging) = state.withLock { ($0.problems, $0.hanging) }
        for problem in problems where !before.contains(problem) {
            logger.tell(
                .destinationNotReady(destination: problem.destination, key: problem.key, why: problem.why))
        }
        let present = roster.all.map(\.name)
        let bad = Set(problems.map(\.destination))
        for name in Set(before.map(\.destination) + [wasHanging].compactMap { $0 }).subtracting(bad).sorted()
        where present.contains(name) {
            logger.tell(.destinationReady(destination: name))
        }
        // After logging, so that whoever waits for the check finds its lines in the log.
        let now = clock.now()
        state.signal { state in
            (state.problems, state.began, state.hasLooked) = (problems, nil, true)
            state.next = now + (problems.isEmpty ? Self.period : Self.periodOfProblems)
        }
    }
}
