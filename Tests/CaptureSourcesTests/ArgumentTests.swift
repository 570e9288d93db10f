import CaptureSources
import MediaCore
import Testing

@Suite struct ArgumentTests {
    @Test func orientations() throws {
        #expect(try OrientationSchedule("6") == .fixed(.right))
        #expect(try OrientationSchedule("leftMirrored") == .fixed(.leftMirrored))
        #expect(try OrientationSchedule("LEFT") == .fixed(.left))
        #expect(try OrientationSchedule("down-mirrored") == .fixed(.downMirrored))
        #expect(try OrientationSchedule("none") == .none)
        #expect(try OrientationSchedule("cycle") == .cycle([.up, .left, .down, .right], period: .seconds(5)))
        #expect(try OrientationSchedule("all:0.5") == .cycle(OrientationTag.allCases, period: .milliseconds(500)))
        for text in [
            "", "0", "9", "sideways", "6:2", "cycle:", "cycle:0", "cycle:nan", "cycle:-1", "none:1", "all:1e9",
        ] {
            #expect(throws: InputError.self, "\(text)") { try OrientationSchedule(text) }
        }
    }

    @Test func sizes() throws {
        let (width, height) = try SourceArguments.size("1280X720")
        #expect(width == 1280 && height == 720)
        for text in ["", "1280", "1280x", "x720", "15x16", "4097x16", "1x2x3", "-16x16", "1280 x 720"] {
            #expect(throws: InputError.self, "\(text)") { try SourceArguments.size(text) }
        }
    }

    @Test func rectangles() throws {
        for (text, place) in [("300x80+40+20", (40, 20)), ("300x80-40+20", (-40, 20)), ("300x80+-40+-20", (-40, -20))] {
            let (x, y, width, height) = try SourceArguments.rectangle(text)
            #expect((x, y) == place && (width, height) == (300, 80), "\(text)")
        }
        for text in ["", "300x80", "300x80+40", "x80+1+1", "-3x80+1+1", "300x80++40+20", "300x80--40+20"] {
            #expect(throws: InputError.self, "\(text)") { try SourceArguments.rectangle(text) }
        }
    }

    @Test func rates() throws {
        #expect(try SourceArguments.rate("30") == FrameRate(30))
        #expect(try SourceArguments.rate("30000/1001") == FrameRate(30_000, 1001))
        for text in ["", "0", "-1", "30/", "30/0", "1/2/3", "29.97", "5000", "99999999999999999999"] {
            #expect(throws: InputError.self, "\(text)") { try SourceArguments.rate(text) }
        }
    }

    @Test func pixelFormats() throws {
        for format in PixelFormat.allCases {
            #expect(try SourceArguments.pixelFormat("\(format.fourCC)".lowercased()) == format)
        }
        #expect(throws: InputError.self) { try SourceArguments.pixelFormat("RV24") }
    }

    @Test func audioFormats() throws {
        #expect(
            try SourceArguments.audioFormat("s16be,48000,2")
                == AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16, isBigEndian: true))
        #expect(
            try SourceArguments.audioFormat("F32LEp,44100,8")
                == AudioFormat(sampleRate: 44_100, channels: 8, encoding: .float32, isInterleaved: false))
        #expect(try SourceArguments.audioFormat("s24le,8000,1").encoding == .int24)
        for text in [
            "", "s16be", "s16,48000,2", "u8,48000,2", "f16le,48000,2", "s16be,7999,2", "s16be,48000,9", "s16be,48000,0",
        ] {
            #expect(throws: InputError.self, "\(text)") { try SourceArguments.audioFormat(text) }
        }
    }

    @Test func pauses() throws {
        let (start, end) = try SourceArguments.pause("5:2.5")
        #expect(start == .seconds(5) && end == .milliseconds(7500))
        for text in ["", "5", "5:", "a:b", "-1:2", "5:nan", "1:2:3"] {
            #expect(throws: InputError.self, "\(text)") { try SourceArguments.pause(text) }
        }
    }

    @Test func readersLookAhead() throws {
        let reader = InputReader(MemoryInput(Array("ab\ncdefgh".utf8), piece: 1))
        #expect(Array(try reader.peek(2)) == Array("ab".utf8))
        #expect(try reader.line(limit: 100) == "ab")
        var bytes = [UInt8](repeating: 0, count: 5)
        #expect(try reader.fill(&bytes, from: 1, count: 4) == 4)
        #expect(bytes == [0] + Array("cdef".utf8))
        #expect(try reader.skip(1))
        #expect(throws: InputError.self) { try reader.line(limit: 100) }
        #expect(try reader.fill(&bytes, count: 5) == 1)
        #expect(try !reader.skip(1))
        #expect(throws: InputError.self) {
            try InputReader(MemoryInput([UInt8](repeating: 0x61, count: 500))).line(limit: 200)
        }
    }
}
