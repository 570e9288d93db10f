import ControlClient
import ControlProtocol
import LinuxSystem
import MediaCore

/// What one instance answers to `upcastctl list`.
struct InstanceReport {
    enum Answer {
        case status(JSONValue)
        case failure(ControlClientError)
        /// systemd starts the daemon for its first client.
        case waiting
    }

    var instance: Instance
    var answer: Answer
}

/// Asks instances for their status, many at a time, so that the waits for those that hang do not add up.
enum InstanceSurvey {
    static let timeout = MediaTime.seconds(1)
    private static let atOnce = 32

    static func ask(_ instances: [Instance], timeout: MediaTime = Self.timeout) -> [InstanceReport] {
        var reports: [InstanceReport] = []
        var rest = instances[...]
        while !rest.isEmpty {
            let group = Array(rest.prefix(atOnce))
            reports += askAtOnce(group, timeout)
            rest = rest.dropFirst(group.count)
        }
        return reports
    }

    private static func askAtOnce(_ instances: [Instance], _ timeout: MediaTime) -> [InstanceReport] {
        let answers = Monitor([Int: InstanceReport.Answer]())
        var threads: [WorkerThread] = []
        for (index, instance) in instances.enumerated() where !instance.isWaiting {
            let ask: @Sendable () -> Void = {
                let client = ControlClient(address: .unix(instance.socket), timeout: timeout)
                let answer: InstanceReport.Answer
                do throws(ControlClientError) { answer = .status(try client.get("/status")) } catch {
                    answer = .failure(error)
                }
                answers.withLock { $0[index] = answer }
            }
            // If no thread can start, this thread asks one after the other.
            do { threads.append(try WorkerThread(name: "ctl-list", ask)) } catch { ask() }
        }
        for thread in threads { thread.join() }
        return instances.enumerated().map { index, instance in
            InstanceReport(instance: instance, answer: answers.withLock { $0[index] } ?? .waiting)
        }
    }
}
