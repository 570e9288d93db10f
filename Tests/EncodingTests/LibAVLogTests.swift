import Encoding
import LinuxSystem
import MediaCore
import Testing

@Suite struct LibAVLogTests {
    @Test func whatLibavcodecPrintsComesToTheHandler() {
        let messages = Monitor<[(LibAVLog.Level, String)]>([])
        LibAVLog.install { level, message in messages.withLock { $0.append((level, message)) } }
        var settings = VideoEncoderSettings(
            canvas: CanvasFormat(width: 64, height: 48, frameRate: FrameRate(30)), bitrate: 100_000)
        settings.options = [.init("x264opts", "unheard-of=1")]
        #expect(throws: EncodingError.self) { _ = try VideoEncoder(settings) }
        let heard = messages.withLock { $0 }.filter { $0.1.contains("unheard-of") }
        #expect(heard.count == 1)
        #expect(heard.first?.0 == .error)
        #expect(heard.first?.1.contains("\n") == false)
    }
}
