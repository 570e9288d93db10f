import Grabbing
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: what becomes of a window that is captured alone is told once, and not before it is true.
@Suite struct WindowNewsTests {
    private typealias Found = (client: UInt32, place: CaptureRectangle)

    private static let absent = "the window is not on the screen"

    private static func window(client: UInt32 = 1, x: Int = 0, _ width: Int, _ height: Int) -> Found? {
        (client, CaptureRectangle(x: x, y: 0, width: width, height: height))
    }

    /// What is told of each step; nil for nothing.
    private static func told(_ steps: [Found?]) -> [String?] {
        var news = WindowNews()
        return steps.map { step -> String? in
            guard let notice = news.note(step) else { return nil }
            switch notice {
            case .waiting(let text, let hasPicture): return hasPicture ? text : "no picture yet: \(text)"
            case .capturing(let place): return place.name
            case .hint(let text): return text
            }
        }
    }

    /// The window is looked for again whenever any other one moves.
    @Test(arguments: [(15, 100), (100, 15), (4097, 100), (100, 4097)])
    func aSizeThatFramesCannotHave(width: Int, height: Int) {
        let steps: [Found?] = [
            Self.window(width, height), Self.window(width, height), Self.window(x: 9, width, height),
            Self.window(client: 2, x: 9, width, height),
        ]
        let text = "the window is \(width)x\(height), which cannot be sent: sides are 16 to 4096 pixels"
        #expect(Self.told(steps) == ["no picture yet: \(text)", nil, nil, nil])
    }

    @Test func sizesThatChange() {
        let steps: [Found?] = [
            Self.window(16, 16), Self.window(16, 15), Self.window(16, 14), Self.window(16, 14),
            Self.window(4096, 4096), Self.window(16, 16),
        ]
        let end = "which cannot be sent: sides are 16 to 4096 pixels"
        let expected: [String?] = [
            "16x16+0+0", "the window is 16x15, \(end)", "the window is 16x14, \(end)", nil, "4096x4096+0+0",
            "16x16+0+0",
        ]
        #expect(Self.told(steps) == expected)
    }

    /// One that only moves is the same. Another one, and one that is back, is told.
    @Test func whatComesAndGoes() {
        let steps: [Found?] = [
            nil, nil, Self.window(100, 50), Self.window(x: 5, 100, 50), Self.window(client: 2, x: 5, 100, 50), nil, nil,
            Self.window(client: 2, x: 5, 100, 50),
        ]
        let first = "no picture yet: \(Self.absent)"
        let expected: [String?] = [first, nil, "100x50+0+0", nil, "100x50+5+0", Self.absent, nil, "100x50+5+0"]
        #expect(Self.told(steps) == expected)
    }

    /// A splash screen is named with its number, because its rule does not choose it. Menus of a window are not.
    @Test func anOverrideRedirectWindow() {
        var news = WindowNews()
        #expect(news.note(nil) == .waiting(Self.absent, hasPicture: false))
        let text = "only an override-redirect window matches the rule, which does not choose it; --window 0x1c sends it"
        #expect(news.note(nil, other: 0x1c) == .waiting(text, hasPicture: false))
        #expect(news.note(nil, other: 0x1c) == nil)
        _ = news.note(Self.window(100, 50))
        #expect(news.note(nil, other: 0x1c) == .waiting(Self.absent, hasPicture: true))
    }
}
