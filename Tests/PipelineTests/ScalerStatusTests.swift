import Configuration
import ControlProtocol
import FrameGeometry
import Ingest
import IngestProtocol
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// The status names the scaler, and the plan has a line for it.
@Suite(.endsWithin(60)) struct ScalerStatusTests {
    private static func send(_ width: Int, _ height: Int, to rig: HostRig, at pts: MediaTime) throws {
        let format = VideoSampleFormat(packed: .gray, width: width, height: height)
        let message = VideoMessage(pts: pts, format: format, orientation: .up)
        let sink = try rig.broadcast.inlet
        guard try sink.beginVideo(message, arrival: rig.clock.now()) else { return }
        while let band = sink.nextBand() {
            for index in 0..<band.byteCount { sink.bandBuffer[index] = 90 }
            try sink.bandArrived()
        }
        sink.endVideo(arrival: rig.clock.now())
    }

    @Test(arguments: VideoScaler.allCases)
    func whatIsConfiguredScales(scaler: VideoScaler) throws {
        let rig = try HostRig { $0.video.scaler = scaler }
        let choice: ScalerChoice =
            switch scaler {
            case .auto: .auto
            case .native: .always(.native)
            case .libyuv: .always(.libyuv)
            }
        #expect(rig.host.status.report.video.scaler == choice.scaler(for: nil).rawValue)
        try rig.start()
        #expect(rig.host.status.report.video.scaler == choice.scaler(for: nil).rawValue)
        // Half and two thirds of the canvas.
        for (index, size) in [(640, 360), (480, 270)].enumerated() {
            try Self.send(size.0, size.1, to: rig, at: .milliseconds(100 * Int64(index + 1)))
            let plan = GeometryPlan(
                source: VideoSampleFormat(packed: .gray, width: size.0, height: size.1), transform: .identity,
                canvas: CanvasFormat(width: 320, height: 180, frameRate: FrameRate(30)), fit: .fit)
            #expect(rig.host.status.report.video.scaler == choice.scaler(for: plan).rawValue)
        }
        rig.host.ended(.endedByOperator)
        _ = rig.host.shutDown()
    }

    @Test func thePlanKnowsIt() {
        func planned(_ scaler: VideoScaler) -> Int {
            var configuration = Configuration()
            configuration.video.scaler = scaler
            return configuration.memoryPlan.lines.first { $0.purpose == .scaler }?.bytes ?? 0
        }
        let canvas = Configuration().video.canvas
        #expect(planned(.native) == FrameIntake.memoryBytes(canvas: canvas, scaler: .always(.native)))
        #expect(planned(.libyuv) < planned(.native))
        #expect(planned(.auto) == planned(.native))
    }
}
