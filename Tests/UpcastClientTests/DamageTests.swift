import IngestProtocol
import LinuxSystem
import MediaCore
import SeededRandom
import TestLimits
import Testing
import UpcastClient

/// A client tells the daemon what of a picture has changed, where the daemon makes use of it.
@Suite(.endsWithin(60)) struct DamageTests {
    private static let (width, height) = (320, 240)
    private static let offer = SharedMemoryOffer(maxPools: 1, maxPoolBytes: 1 << 20)

    /// The messages of what `client` sends, `count` pictures.
    private func messages(
        _ count: Int, takesDamage: Bool = true, client: (CaptureConnection) throws -> Void
    ) throws -> [(sequence: UInt32, video: VideoMessage)] {
        let record = Record<(UInt32, VideoMessage)>()
        let daemon = try TestDaemon { peer in
            try peer.welcome(sharedMemory: Self.offer, takesDamage: takesDamage)
            while record.all.count < count {
                let message = try peer.read()
                guard message.header.type == .video else { continue }
                let video = try VideoMessage.decode(
                    body: message.body.span.bytes, payloadBytes: message.payload.count, limits: .default)
                record.append((message.header.sequence, video))
                if video.shared != nil {
                    let sequence = message.header.sequence
                    peer.send { ReleasedMessage(sequence: sequence).encode(sequence: $0, into: &$1) }
                }
                peer.send { StateMessage(.congested, value: 0, text: "").encode(sequence: $0, into: &$1) }
            }
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(BroadcastSetup(clientName: "tests", convention: .exif))
        try client(connection)
        daemon.join()
        return record.all
    }

    /// Waits until all that the daemon said about a picture has come.
    private func wait(_ connection: CaptureConnection) throws {
        guard case .state? = try connection.nextEvent(timeout: .seconds(10)) else {
            return #expect(Bool(false), "the daemon's answer")
        }
    }

    /// Of the first plane.
    private static func rowBytes(_ format: CapturePixelFormat) -> Int {
        switch format {
        case .bgra, .rgba, .argb, .abgr: 4 * width
        case .yuy2, .yuvs, .uyvy, .twoVUY, .p010, .p010VideoRange, .p010FullRange, .p210VideoRange, .p210FullRange:
            2 * width
        default: width
        }
    }

    /// Whatever changes, and however the picture is sent: all of it is in the damage, and what is far from it is not.
    @Test(arguments: CapturePixelFormat.allCases) func allThatChangesIsNamed(format: CapturePixelFormat) throws {
        var random = SplitMix64(seed: 5)
        let layout = try CaptureVideoFormat(format, width: Self.width, height: Self.height)
        var payload = [UInt8](repeating: 3, count: layout.payloadBytes)
        var changed: [Range<Int>] = []
        let sent = try messages(30) { connection in
            for number in 0..<30 {
                // Rows of the first plane, which is luma or all there is.
                let first = Int.random(in: 0..<Self.height, using: &random)
                let rows = first..<min(Self.height, first + Int.random(in: 1...30, using: &random))
                let stride = Self.rowBytes(format)
                if number > 0 {
                    for row in rows { payload[row * stride + Int(random.next() % UInt64(stride))] &+= 1 }
                }
                changed.append(rows)
                if number % 2 == 0 {
                    try connection.sendVideo(payload.span.bytes, format: layout, at: .nanoseconds(number))
                } else {
                    let frame = try connection.frame(layout)
                    frame.fill { bytes in
                        for index in payload.indices {
                            bytes.storeBytes(of: payload[index], toByteOffset: index, as: UInt8.self)
                        }
                    }
                    try connection.send(frame, at: .nanoseconds(number))
                }
                try wait(connection)
            }
        }
        #expect(sent[0].video.damage == nil)
        for number in 1..<30 {
            let damage = try #require(sent[number].video.damage)
            #expect(damage.since == sent[number - 1].sequence && damage.damage.count == 1)
            let rows = damage.damage[0].rows
            #expect(rows.lowerBound <= changed[number].lowerBound && rows.upperBound >= changed[number].upperBound)
            #expect(rows.count <= changed[number].count + 32)
            #expect(damage.damage[0].width == 320)
        }
    }

    /// Chroma alone, many rows here and there, and all of the picture.
    @Test func rowsAreJoined() throws {
        let layout = try CaptureVideoFormat(.nv12VideoRange, width: Self.width, height: Self.height)
        var payload = [UInt8](repeating: 3, count: layout.payloadBytes)
        let sent = try messages(5) { connection in
            func send(_ pts: Int) throws {
                try connection.sendVideo(payload.span.bytes, format: layout, at: .nanoseconds(pts))
                try wait(connection)
            }
            try send(0)
            payload[Self.width * Self.height + 5 * Self.width] = 9  // rows 10 and 11
            try send(1)
            for band in stride(from: 0, to: 15, by: 2) { payload[band * 16 * Self.width] = 9 }
            try send(2)
            for row in 0..<Self.height { payload[row * Self.width] = 10 }
            try send(3)
            try send(4)
        }
        let damages = sent.map { message in
            message.video.damage.map { field in (0..<field.damage.count).map { field.damage[$0].rows } }
        }
        #expect(damages[0] == nil && damages[3] == nil, "nothing is known, or too much")
        #expect(damages[1] == [0..<16])
        #expect(damages[2] == (0..<8).map { 32 * $0..<32 * $0 + 16 })
        #expect(sent[4].video.isUnchanged)
    }

    /// What the caller knows is not looked for.
    @Test func theCallerMayKnow() throws {
        let layout = try CaptureVideoFormat(.gray, width: Self.width, height: Self.height)
        let payload = [UInt8](repeating: 3, count: layout.payloadBytes)
        let many = CaptureDamage((0..<40).map { .init(x: $0, y: 2 * $0, width: 10, height: 1) })
        let huge = CaptureDamage([
            .init(x: -5, y: .min, width: .max, height: .max), .init(x: 9, y: 9, width: 0, height: 4),
        ])
        let one = CaptureDamage([.init(x: 5, y: 6, width: 7, height: 8)])
        let sent = try messages(5) { connection in
            for (pts, damage) in [huge, huge, many, CaptureDamage([]), one].enumerated() {
                try connection.sendVideo(payload.span.bytes, format: layout, at: .nanoseconds(pts), damage: damage)
                try wait(connection)
            }
        }
        #expect(sent[0].video.damage == nil, "there is none before it")
        // Its lower end lies above the picture.
        #expect(sent[1].video.isUnchanged)
        let joined = try #require(sent[2].video.damage?.damage)
        #expect(joined.count == 16 && joined[0] == .init(x: 0, y: 0, width: 10, height: 1))
        #expect(joined[15] == .init(x: 15, y: 30, width: 34, height: 49))
        #expect(sent[3].video.isUnchanged)
        #expect(sent[4].video.damage?.since == sent[2].sequence)
        #expect(sent[4].video.damage?.damage[0] == .init(x: 5, y: 6, width: 7, height: 8))
    }

    /// A daemon that makes no use of it is not told, nor is one that has been sent a pause or another kind of picture.
    @Test(arguments: [false, true]) func nothingIsSaidInVain(takesDamage: Bool) throws {
        let layout = try CaptureVideoFormat(.gray, width: Self.width, height: Self.height)
        var payload = [UInt8](repeating: 3, count: layout.payloadBytes)
        let sent = try messages(5, takesDamage: takesDamage) { connection in
            for pts in 0..<5 {
                payload[7] = UInt8(pts)
                if pts == 4 {
                    try connection.pause()
                    try connection.resume()
                }
                try connection.sendVideo(
                    payload.span.bytes, format: layout, at: .nanoseconds(pts), orientation: pts == 2 ? .left : .up,
                    secure: pts == 3 ? .wholeFrame : .none)
                try wait(connection)
            }
        }
        #expect(sent.map { $0.video.damage != nil } == [false, takesDamage, false, false, false])
    }
}
