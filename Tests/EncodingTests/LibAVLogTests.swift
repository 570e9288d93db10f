import Encoding
import MediaCore
import Synchronization
import Testing

@Suite struct LibAVLogTests {
    private final class Messages: Sendable {
        let all = Mutex<[(LibAVLog.Level, String)]>([])
    }

    @Test func whatLibavcodecPrintsComesToTheHandler() {
        let messages = Messages()
        LibAVLog.install { level, message in messages.all.withLock { $0.append((level, message)) } }
        var settings = VideoEncoderSettings(
            canvas: CanvasFormat(width: 64, height: 48, frameRate: FrameRate(30)), bitrate: 100_000)
        settings.options = [.init("x264opts", "unheard-of=1")]
        #expect(throws: EncodingError.self) { _ = try VideoEncoder(settings) }
        let heard = messages.all.withLock { $0 }.filter { $0.1.contains("unheard-of") }
        #expect(heard.count == 1)
        #expect(heard.first?.0 == .error)
        #expect(heard.first?.1.contains("\n") == false)
    }
}
