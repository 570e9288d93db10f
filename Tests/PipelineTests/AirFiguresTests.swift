import ControlProtocol
import MediaCore
import Testing

@testable import Pipeline
@testable import Publishing

/// Promise: the air state is what viewers get. A recording never makes it "on air".
@Suite struct AirFiguresTests {
    private let now = MediaTime.seconds(100)

    private func server(_ change: (inout DestinationSnapshot) -> Void = { _ in }) -> DestinationSnapshot {
        var snapshot = DestinationSnapshot(
            name: "main", kind: .rtmp, location: "rtmp://server/live", since: .seconds(1))
        snapshot.downSince = nil
        change(&snapshot)
        return snapshot
    }

    private func file(isDown: Bool = false) -> DestinationSnapshot {
        server {
            $0.kind = .file
            $0.downSince = isDown ? .seconds(1) : nil
        }
    }

    private func state(
        _ snapshots: [DestinationSnapshot], hasClient: Bool = true, isCurtainUp: Bool = false
    ) -> AirState {
        var figures = AirFigures(hasClient: hasClient, isCurtainUp: isCurtainUp)
        for snapshot in snapshots { figures.note(snapshot, at: now) }
        return figures.state
    }

    @Test func withoutAServerNobodyIsOnAir() {
        let down = server { $0.downSince = .seconds(1) }
        #expect(state([], hasClient: false) == .idle)
        #expect(state([]) == .offAir)
        #expect(state([down]) == .offAir)
        #expect(state([down, file()]) == .offAir, "a recording beside a dead server")
        #expect(state([file()]) == .offAir)
        #expect(state([down, file()], isCurtainUp: true) == .offAir, "nobody sees a curtain")
        #expect(state([down, server()]) == .onAir)
    }

    @Test func whatWaitsToBeSentIsStillOnAir() {
        #expect(state([server()], hasClient: false) == .onAir)
    }

    @Test func theCurtainHides() {
        let late = server { $0.link.congestedSince = .seconds(99) }
        #expect(state([server()], isCurtainUp: true) == .hidden)
        #expect(state([late], isCurtainUp: true) == .hidden)
    }

    @Test func lateOrSheddingIsImpaired() {
        #expect(state([server { $0.link.congestedSince = .seconds(99) }, server()]) == .impaired)
        #expect(state([server { $0.link.shedAt = now - .seconds(4) }]) == .impaired)
        #expect(state([server { $0.link.shedAt = now - .seconds(5) }]) == .onAir)
        var lateFile = file()
        lateFile.link.congestedSince = .seconds(99)
        #expect(state([server(), lateFile]) == .onAir, "viewers do not watch the recording")
    }

    @Test func recordingsAreCounted() {
        var figures = AirFigures()
        for snapshot in [file(), file(isDown: true), server()] { figures.note(snapshot, at: now) }
        #expect(figures.recording == 1 && figures.publishing == 1)
    }
}
