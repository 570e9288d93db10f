import Encoding
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@Suite struct LibAVLogTests {
    @Test func whatLibavcodecPrintsComesToTheHandler() throws {
        let messages = Monitor<[(LibAVLog.Level, String)]>([])
        var settings = VideoEncoderSettings(
            canvas: CanvasFormat(width: 64, height: 48, frameRate: FrameRate(30)), bitrate: 100_000)
        settings.options = [.init("x264opts", "unheard-of=1")]
        // Other tests install handlers, too, and have pictures refused: the messages of a second may be used up.
        let (level, text) = try waitFor("the message") { () -> (LibAVLog.Level, String)? in
            LibAVLog.install { level, message in messages.withLock { $0.append((level, message)) } }
            #expect(throws: EncodingError.self) { _ = try VideoEncoder(settings) }
            return messages.withLock { $0 }.first { $0.1.contains("unheard-of") }
        }
        #expect(level == .error)
        #expect(!text.contains("\n"))
    }
}
