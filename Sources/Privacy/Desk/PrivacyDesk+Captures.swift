package import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// What captured apps are told about a capture, and their consultation before anything of it is shown.
extension PrivacyDesk {
    /// Whether apps are told the capture state.
    package var tellsCaptureState: Bool { protections.isOn(.captureState) }

    // MARK: Telling

    /// Whether anything is being captured. Stays true until the last byte of the broadcast has gone out.
    package var captureState: CaptureStateReport {
        var report = captures.now(at: clock.now()).reports[0]
        report.waitingFor = waitingFor
        return report
    }

    /// The changes after a change or, for nil, the current state; nil if the state is not reported.
    package func captureStates(after number: UInt64?) -> CaptureStateNews? {
        guard tellsCaptureState else { return nil }
        if let number { return captures.news(after: number) }
        // Reads the number first, so that a concurrent change is reported twice and not left out.
        let news = captures.now(at: clock.now())
        var report = news.reports[0]
        if report.isCaptured { report.waitingFor = waitingFor }
        return CaptureStateNews([report], number: news.number)
    }

    /// Calls `wake` at each change of the capture state; it must not wait. Returns a function that ends the watch.
    package func watchCaptures(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        captures.watch(wake)
    }

    var waitingFor: [String] { consultation.withLock { $0.awaited.map(\.description) } }

    /// Called when a capture client has introduced itself and nothing of it has been shown. Holds the curtain up until
    /// all consulted apps have answered, and notifies all watchers.
    ///
    /// - Parameters:
    ///   - source: the kind of capture that the client names, such as `screen`.
    ///   - client: the client's name.
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
        // Before anybody learns of the capture, so that no answer comes too early. The curtain is raised first as well,
        // so that watchers can rely on it.
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
        // An app may have answered meanwhile.
        if !asked.isEmpty { settleConsultation() }
    }

    /// Called when nothing of the capture goes out any more. Has no effect without a capture.
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

    // MARK: Consulting

    /// Throws if one more connection of this app may not be consulted.
    package func requireRoomToConsult(_ app: PrivacyHolder) throws(CommandRefusal) {
        guard consultation.withLock({ $0.hasRoom(for: app) }) else {
            throw CommandRefusal(
                code: .doesNotFit,
                sentence: "\(Consultation.userCapacity) connections of this user's apps, or \(Consultation.capacity) "
                    + "apps, are consulted already or expected back; close one, or watch without consult")
        }
    }

    /// From now on each capture waits for this app's answer, until `dismiss`.
    ///
    /// - Returns: the connection's number, and a function that tells whether the state file has it, as in `keepState`.
    package func consult(
        _ app: PrivacyHolder, _ answers: Consultation.Answers, by actor: PrivacyActor
    ) -> (id: UInt64, isWritten: (@Sendable () -> Bool?)?) {
        let id = consultation.withLock { $0.connect(app, answers) }
        // A daemon that replaces this one must wait for the app.
        let isWritten = keepState()
        report(.consultingBegan(app), by: actor)
        audit.flush()
        return (id, isWritten)
    }

    /// Ends the consultation of an app whose connection has ended.
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

    /// Takes the answer of an app, whose holds and regions are already in effect. Returns whether the app was awaited.
    ///
    /// - Parameters:
    ///   - capture: the number of the capture; nil for the current one.
    ///   - isMeant: selects the answering app; an operator may answer for other apps.
    @discardableResult
    package func answer(
        _ answer: Consultation.Answer, of capture: Int? = nil, by actor: PrivacyActor,
        from isMeant: (PrivacyHolder) -> Bool
    ) -> Bool {
        let answered = consultation.withLock { $0.take(answer, of: capture, from: isMeant) }
        guard !answered.isEmpty else { return false }
        // An app that was expected back may not be expected any more.
        if answer == .released { _ = keepState() }
        for app in answered { report(.consultationAnswered(app, answer), by: actor) }
        audit.flush()
        settleConsultation()
        return true
    }

    /// Releases the curtain when no app is awaited any more.
    private func settleConsultation() {
        // Checked under the lock of the curtain, because another capture may have begun to wait.
        lower(reason: "no app is left to wait for") { [consultation] holder in
            holder == .consulting && consultation.withLock { $0.awaited.isEmpty }
        }
    }

    /// Called once a second: stops waiting for apps that were consulted before a restart and did not come back in time.
    func giveUpConsulting() {
        let late = consultation.withLock { $0.giveUp(at: clock.now()) }
        for app in late { report(.consultedAppMissing(app)) }
        guard !late.isEmpty else { return }
        _ = keepState()
        audit.flush()
        settleConsultation()
    }
}
