import ControlProtocol
import Ingest
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Configuration
@testable import Pipeline
@testable import Privacy

/// Promise: protections that a consulted app relies on stay on. When an app learns that a capture waits, the curtain is
/// already up.
@Suite struct ConsultedHostTests {
    private static let app = PrivacyHolder(.app, "kiosk", user: 1000)

    private func end(_ rig: HostRig) {
        rig.host.ended(.endedByOperator)
        _ = rig.host.shutDown()
    }

    @Test(arguments: [Protection.curtain, .captureState])
    func nothingIsTurnedOffUnderAnAppThatIsConsulted(protection: Protection) throws {
        let rig = try HostRig()
        let (id, isWritten) = rig.host.privacy.consult(Self.app, .any, by: .daemon)
        #expect(isWritten == nil, "there is no state file")
        #expect(rig.host.privacy.isInUse(protection))
        let refusal = #expect(throws: CommandRefusal.self) { try rig.host.privacy.turn(protection, on: false) }
        #expect(refusal?.code == .isInUse)
        #expect(rig.host.privacy.protections.isOn(protection))
        #expect(try rig.host.privacy.turn(protection, on: false, force: true))
        #expect(!rig.host.privacy.protections.isOn(protection))
        try rig.host.privacy.turn(protection, on: true)
        rig.host.privacy.dismiss(id, by: .daemon)
        #expect(!rig.host.privacy.isInUse(protection))
        #expect(try rig.host.privacy.turn(protection, on: false))
    }

    /// The event is sent after the hold was added.
    @Test func theCurtainIsUpBeforeTheAppIsTold() throws {
        let rig = try HostRig()
        _ = rig.host.privacy.consult(Self.app, .any, by: .daemon)
        let holders = Monitor<[[PrivacyHolder]]>([])
        let unwatch = rig.host.privacy.watchCaptures { [host = rig.host] in
            holders.withLock { $0.append(host.privacy.curtain.all.map(\.holder)) }
        }
        defer { unwatch() }
        try rig.start()
        #expect(holders.withLock { $0 } == [[.start, .consulting]])
        #expect(rig.host.privacy.captureStates(after: 0)?.reports.map(\.waitingFor) == [["app:kiosk"]])
        end(rig)
    }

    /// The curtain is forced off. The event then does not name awaited apps.
    @Test func whereTheCurtainIsOffNobodyIsSaidToBeWaitedFor() throws {
        let rig = try HostRig()
        _ = rig.host.privacy.consult(Self.app, .any, by: .daemon)
        try rig.host.privacy.turn(.curtain, on: false, force: true)
        try rig.start()
        let told = rig.host.privacy.captureStates(after: 0)?.reports
        #expect(told?.map(\.isCaptured) == [true] && told?.map(\.waitingFor) == [[]])
        #expect(rig.host.privacy.captureState.waitingFor == [])
        #expect(rig.log.lines.contains { $0.message == "not waiting for apps" })
        end(rig)
    }

    /// After a restart, the daemon waits as long as configured; with zero, until an operator releases the hold.
    @Test(arguments: [MediaTime.seconds(3), .seconds(30), .zero])
    func whoDoesNotComeBack(patience: MediaTime) throws {
        let folder = try TemporaryDirectory("consulted")
        let file = try PrivacyStateFile(path: folder.file("state.json"))
        var record = PrivacyRecord()
        record.consulting = [Self.app]
        try file.write(record)
        let rig = try HostRig(stateFile: file) { $0.privacy.consultedReturn = patience }
        try rig.start()
        #expect(rig.host.privacy.captureState.waitingFor == ["app:kiosk"])
        rig.clock.advance(by: patience == .zero ? .seconds(50) : patience - .milliseconds(1))
        rig.host.privacy.tick()
        #expect(rig.host.privacy.captureState.waitingFor == ["app:kiosk"])
        if patience == .zero {
            rig.host.privacy.answer(.released, by: .daemon) { _ in true }
            #expect(rig.host.privacy.consultation.withLock { $0.apps } == [])
        } else {
            rig.clock.advance(by: .milliseconds(1))
            rig.host.privacy.tick()
        }
        #expect(rig.host.privacy.captureState.waitingFor == [])
        #expect(rig.host.privacy.curtain.all.map(\.holder) == [.start])
        end(rig)
    }
}
