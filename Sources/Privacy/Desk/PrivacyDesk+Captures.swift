package import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// What captured apps are told of a capture, and asked before anything of it is shown.
extension PrivacyDesk {
    /// Whether apps are told what is captured.
    package var tellsCaptureState: Bool { protections.isOn(.captureState) }

    // MARK: Telling

    /// Whether anything is being captured; true until the last byte of it has gone out.
    package var captureState: CaptureStateReport {
        var report = captures.now(at: clock.now()).reports[0]
        report.waitingFor = waitingFor
        return report
    }

    /// What has changed since a change, or for nil the state as it is; nil where it is not told.
    package func captureStates(after number: UInt64?) -> CaptureStateNews? {
        guard tellsCaptureState else { return nil }
        if let number { return captures.news(after: number) }
        // The number first: what changes meanwhile is told again, and not left out.
        let news = captures.now(at: clock.now())
        var report = news.reports[0]
        if report.isCaptured { report.waitingFor = waitingFor }
        return CaptureStateNews([report], number: news.number)
    }

    /// Calls `wake` whenever the capture state changes; it must not wait. Returns what ends that.
    package func watchCaptures(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        captures.watch(wake)
    }

    var waitingFor: [String] { consultation.withLock { $0.awaited.map(\.description) } }

    /// A capture client has introduced itself, and nothing of it has been shown: holds the curtain up until those who
    /// are asked have answered, and tells everybody who watches.
    ///
    /// - Parameters:
    ///   - source: what it says that it captures, such as `screen`.
    ///   - client: its name.
    package func captureBegins(source: String, client: String) {
        var report = CaptureStateReport()
        report.isCaptured = true
        report.kind = source
        report.client = client
        report.since = UnixTime.milliseconds
        report.capture = captureNumber.withLock { number in
            number += 1
            return number
        }
        // Before anybody knows of it, so that no answer comes too early. The curtain, too: who is told can rely on it.
        let asked = consultation.withLock { consultation in
            consultation.begin(report.capture)
            return consultation.awaited
        }
        if !asked.isEmpty {
            do throws(CommandRefusal) {
                let names = asked.map(\.description)
                try raise(.consulting, reason: "waits for the answer of \(names.joined(separator: ", "))")
                report.waitingFor = names
            } catch {
                effects.report(.consultationImpossible(why: error.sentence))
                consultation.withLock { $0.overrule() }
            }
        }
        captures.append(report, at: clock.now())
        // Somebody may have answered meanwhile.
        if !asked.isEmpty { settleConsultation() }
    }

    /// Nothing of it goes out any more. Where none had begun nothing happens.
    package func captureEnds() {
        let now = clock.now()
        let last = captures.now(at: now).reports[0]
        guard last.isCaptured else { return }
        consultation.withLock { $0.end() }
        settleConsultation()
        var report = CaptureStateReport()
        report.since = UnixTime.milliseconds
        report.capture = last.capture
        captures.append(report, at: now)
    }

    // MARK: Asking

    /// Refuses an app that may not be asked as well.
    package func requireRoomToConsult(_ app: PrivacyHolder) throws(CommandRefusal) {
        guard consultation.withLock({ $0.hasRoom(for: app) }) else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "\(Consultation.userCapacity) connections of this user's apps are consulted already; close "
                    + "one, or watch without consult")
        }
    }

    /// From now on each capture waits for that app's answer, until `dismiss`.
    ///
    /// - Returns: the connection's number, and whether the state file has it, as `keepState` says it.
    package func consult(
        _ app: PrivacyHolder, _ answers: Consultation.Answers, by actor: PrivacyActor
    ) -> (id: UInt64, isWritten: (@Sendable () -> Bool?)?) {
        let id = consultation.withLock { $0.connect(app, answers) }
        // A daemon that takes this one's place is to wait for it.
        let isWritten = keepState()
        report(.consultingBegan(app), by: actor)
        audit.flush()
        return (id, isWritten)
    }

    /// The app's connection has ended.
    package func dismiss(_ id: UInt64, by actor: PrivacyActor) {
        let (app, wasAwaited) = consultation.withLock { consultation in
            let before = consultation.awaited
            let app = consultation.disconnect(id)
            return (app, app.map { before.contains($0) && !consultation.awaited.contains($0) } ?? false)
        }
        guard let app else { return }
        _ = keepState()
        report(.consultingEnded(app, wasAwaited: wasAwaited), by: actor)
        audit.flush()
        settleConsultation()
    }

    /// An app answers: what it holds or hides is so already. Returns whether it was waited for.
    ///
    /// - Parameters:
    ///   - capture: which one is meant; nil for the one that is.
    ///   - isMeant: whose answer it is; an operator may answer for others.
    @discardableResult
    package func answer(
        _ answer: Consultation.Answer, of capture: Int? = nil, by actor: PrivacyActor,
        from isMeant: (PrivacyHolder) -> Bool
    ) -> Bool {
        let answered = consultation.withLock { $0.take(answer, of: capture, from: isMeant) }
        guard !answered.isEmpty else { return false }
        // One that was expected back may not be any more.
        if answer == .released { _ = keepState() }
        for app in answered { report(.consultationAnswered(app, answer), by: actor) }
        audit.flush()
        settleConsultation()
        return true
    }

    /// Lets go of the curtain when nobody is waited for any more.
    private func settleConsultation() {
        // Looked at where nobody raises it meanwhile: another capture may have begun to wait.
        lower(reason: "no app is left to wait for") { [consultation] holder in
            holder == .consulting && consultation.withLock { $0.awaited.isEmpty }
        }
    }

    /// Once a second: who was consulted before a restart and does not come back is not waited for without end.
    func giveUpConsulting() {
        let late = consultation.withLock { $0.giveUp(at: clock.now()) }
        for app in late { report(.consultedAppMissing(app)) }
        guard !late.isEmpty else { return }
        _ = keepState()
        audit.flush()
        settleConsultation()
    }
}
