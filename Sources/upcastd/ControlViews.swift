internal import Configuration
internal import Control
internal import ControlProtocol
internal import Pipeline
internal import Webhooks

extension BroadcastHost {
    /// The whole status, with the webhooks.
    func report(with webhooks: WebhookCenter) -> StatusReport {
        var report = status.report
        report.webhooks = webhooks.status
        return report
    }
}

/// The read-only routes.
extension ControlRoutes {
    mutating func addViews(of host: BroadcastHost, journal: EventJournal, webhooks: WebhookCenter) {
        add("GET", "/metrics", for: [.lookers, .metricsReader]) { _ in
            var totals = host.status.totals
            totals.webhooks = webhooks.status
            let text = MetricsText.text(totals)
            return ControlResponse(status: 200, contentType: MetricsText.contentType, body: Array(text.utf8))
        }
        add("GET", "/history", for: .lookers) { _ in ControlResponse(status: 200, json: host.status.history.json) }
        add("GET", "/config") { _ in ControlResponse(status: 200, json: host.reloader.inForce.json) }
        add("GET", "/destinations", for: .lookers) { _ in
            var answer = DestinationsAnswer()
            answer.destinations = host.status.report.destinations
            return ControlResponse(status: 200, json: answer.json)
        }
        let report = { @Sendable in host.report(with: webhooks) }
        add("GET", "/events", for: .lookers, answering: { .events(journal, $0, status: report) })
        add("GET", "/snapshot.jpg", for: .lookers, answering: { _ in Self.snapshot(of: host.operating) })
    }

    /// How long a snapshot waits for a newer picture; then it shows the last one. A still screen is encoded again each
    /// `video.idle_repeat_ms`, which is at most 5 s.
    private static let snapshotPatience: Int64 = 1000

    private static func snapshot(of operating: OperatorCommands) -> ControlAnswer {
        let jpeg = { @Sendable (bytes: [UInt8]) in
            ControlResponse(status: 200, contentType: "image/jpeg", body: bytes)
        }
        return .later(
            milliseconds: snapshotPatience,
            poll: {
                do throws(CommandRefusal) { return try operating.snapshot().map(jpeg) } catch { return failure(error) }
            },
            otherwise: {
                do throws(CommandRefusal) { return jpeg(try operating.lastSnapshot()) } catch { return failure(error) }
            })
    }
}
