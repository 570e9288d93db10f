internal import ControlProtocol
internal import Logging
internal import MediaCore

/// Limits repeated log lines: it admits some lines of each cause and counts the rest. Pure; callers pass the time.
struct RepeatLimit {
    /// What is repeated, and its destination, because each destination fails separately.
    struct Cause: Hashable {
        /// The name of an event, or the message of another log line.
        var of: String
        var destination: String?
    }

    /// Omitted lines of one cause.
    struct Omitted: Equatable {
        var cause: Cause
        var level: Logger.Level
        var count: Int

        /// The report that replaces the omitted lines.
        var report: DaemonEvent.Report {
            DaemonEvent.repetitionsLeftOut(
                count: count, of: cause.of, destination: cause.destination, within: RepeatLimit.window,
                DaemonEvent.Level(rawValue: level.rawValue) ?? .info
            ).report
        }
    }

    /// The maximum lines of one cause in a window.
    static let mostLines = 20
    static let window = MediaTime.seconds(10)
    /// Further causes share one window, so that memory stays bounded.
    static let mostCauses = 64

    private struct Count {
        var begin: MediaTime
        var level: Logger.Level
        var lines = 0
    }
    private var counts: [Cause: Count] = [:]

    /// Whether to write this line.
    mutating func admits(_ cause: Cause, _ level: Logger.Level, at now: MediaTime) -> Bool {
        // Debug and trace lines are not limited.
        guard level >= .info else { return true }
        let isKnown = counts[cause] != nil || counts.count < Self.mostCauses
        let key = isKnown ? cause : Cause(of: "other messages", destination: nil)
        var count = counts[key] ?? Count(begin: now, level: level)
        count.lines += 1
        counts[key] = count
        return count.lines <= Self.mostLines
    }

    /// Returns the omitted lines of expired windows. Must be called before each line and some times a minute.
    mutating func takeOmitted(at now: MediaTime) -> [Omitted] {
        guard counts.contains(where: { now - $0.value.begin >= Self.window }) else { return [] }
        var omitted: [Omitted] = []
        for (cause, count) in counts where now - count.begin >= Self.window {
            counts[cause] = nil
            guard count.lines > Self.mostLines else { continue }
            omitted.append(Omitted(cause: cause, level: count.level, count: count.lines - Self.mostLines))
        }
        return omitted.sorted { $0.cause.of < $1.cause.of }
    }
}
