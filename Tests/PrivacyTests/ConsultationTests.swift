import MediaCore
import Privacy
import Testing

/// Promise: nothing is shown of a capture before every app that is consulted has answered for that capture, and
/// nothing waits for an app that is not there.
@Suite struct ConsultationTests {
    private let kiosk = PrivacyHolder(.app, "kiosk", user: 1000)
    private let bank = PrivacyHolder(.app, "bank", user: 1001)

    @Test func allHaveToAnswer() {
        var consultation = Consultation()
        _ = consultation.connect(kiosk, .any)
        _ = consultation.connect(bank, .any)
        #expect(consultation.awaited == [])
        consultation.begin(7)
        #expect(consultation.awaited == [kiosk, bank])
        #expect(consultation.take(.hidRegion, of: nil) { $0 == kiosk } == [kiosk])
        #expect(consultation.take(.hidRegion, of: nil) { $0 == kiosk } == [])
        #expect(consultation.awaited == [bank])
        #expect(consultation.take(.raisedCurtain, of: nil) { $0 == bank } == [bank])
        #expect(consultation.awaited == [])
        consultation.end()
        consultation.begin(8)
        #expect(consultation.awaited == [kiosk, bank])
        consultation.overrule()
        #expect(consultation.awaited == [])
    }

    /// One that comes late must not open the next capture.
    @Test func anAnswerIsOfItsCapture() {
        var consultation = Consultation()
        _ = consultation.connect(kiosk, .any)
        #expect(consultation.take(.released, of: nil) { _ in true } == [])
        consultation.begin(7)
        consultation.end()
        consultation.begin(8)
        #expect(consultation.take(.released, of: 7) { _ in true } == [])
        #expect(consultation.awaited == [kiosk])
        #expect(consultation.take(.released, of: 8) { _ in true } == [kiosk])
    }

    /// An app of the same name is another where its user is.
    @Test func oneThatMeansToSayWhenItIsDone() {
        var consultation = Consultation()
        let other = PrivacyHolder(.app, "kiosk", user: 1001)
        _ = consultation.connect(kiosk, .release)
        _ = consultation.connect(other, .any)
        consultation.begin(7)
        #expect(consultation.take(.hidRegion, of: nil) { $0 == kiosk } == [])
        #expect(consultation.take(.raisedCurtain, of: nil) { $0 == kiosk } == [])
        #expect(consultation.take(.released, of: 7) { $0 == kiosk } == [kiosk])
        #expect(consultation.awaited == [other])
    }

    @Test func whoHasGoneIsNotWaitedFor() {
        var consultation = Consultation()
        let first = consultation.connect(kiosk, .any)
        let second = consultation.connect(kiosk, .any)
        consultation.begin(7)
        #expect(consultation.awaited == [kiosk])
        #expect(consultation.disconnect(first) == kiosk)
        #expect(consultation.awaited == [kiosk])
        #expect(consultation.disconnect(second) == kiosk)
        #expect(consultation.awaited == [] && consultation.apps == [])
        #expect(consultation.disconnect(second) == nil)
    }

    /// While others are waited for anyway, one that comes is asked, too; afterwards from the next capture on.
    @Test func whoComesWhileItWaits() {
        var consultation = Consultation()
        _ = consultation.connect(kiosk, .any)
        consultation.begin(7)
        _ = consultation.connect(bank, .any)
        #expect(consultation.awaited == [kiosk, bank])
        _ = consultation.take(.released, of: 7) { _ in true }
        _ = consultation.connect(PrivacyHolder(.app, "late", user: 1), .any)
        #expect(consultation.awaited == [])
    }

    /// After a restart: those come back and answer, or are given up.
    @Test func whoIsExpectedBack() {
        var consultation = Consultation()
        consultation.expect([kiosk, bank], until: .seconds(3))
        #expect(consultation.apps == [kiosk, bank])
        consultation.begin(7)
        #expect(consultation.awaited == [kiosk, bank])
        let back = consultation.connect(kiosk, .release)
        #expect(consultation.awaited == [kiosk, bank])
        #expect(consultation.giveUp(at: .seconds(2)) == [])
        #expect(consultation.giveUp(at: .seconds(3)) == [bank])
        #expect(consultation.awaited == [kiosk])
        #expect(consultation.giveUp(at: .seconds(9)) == [])
        #expect(consultation.disconnect(back) == kiosk)
        #expect(consultation.awaited == [])
    }

    /// Without end: until it comes back, or is released. What it does otherwise is an answer to this capture.
    @Test func whoIsExpectedWithoutEnd() {
        var consultation = Consultation()
        consultation.expect([kiosk, bank], until: nil)
        consultation.begin(7)
        #expect(consultation.giveUp(at: .seconds(1_000_000)) == [])
        #expect(consultation.take(.hidRegion, of: nil) { $0 == kiosk } == [kiosk])
        #expect(consultation.take(.released, of: nil) { $0 == bank } == [bank])
        consultation.end()
        consultation.begin(8)
        #expect(consultation.awaited == [kiosk])
        #expect(consultation.giveUp(at: .seconds(2_000_000)) == [])
    }

    @Test func oneUserIsBounded() {
        var consultation = Consultation()
        for number in 0..<Consultation.userCapacity {
            #expect(consultation.hasRoom(for: kiosk))
            _ = consultation.connect(PrivacyHolder(.app, "app\(number)", user: 1000), .any)
        }
        #expect(!consultation.hasRoom(for: kiosk))
        #expect(consultation.hasRoom(for: bank))
    }

    /// Bug: apps that must come back did not count. Each restart added some, until the state file was refused.
    @Test func allAreBounded() {
        var consultation = Consultation()
        let apps = (0..<UInt32(Consultation.capacity)).map { PrivacyHolder(.app, "app\($0)", user: $0) }
        consultation.expect(apps, until: nil)
        #expect(!consultation.hasRoom(for: PrivacyHolder(.app, "another", user: 1000)))
        #expect(consultation.hasRoom(for: apps[3]))
        #expect(consultation.take(.released, of: nil) { $0 == apps[0] } == [])
        consultation.begin(1)
        #expect(consultation.take(.released, of: nil) { $0 == apps[0] } == [apps[0]])
        #expect(consultation.hasRoom(for: PrivacyHolder(.app, "another", user: 1000)))
    }
}
