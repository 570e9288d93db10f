import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing
import UpcastClient

/// Pictures go to shared memory where the daemon offers that, and through the socket where it does not.
@Suite(.endsWithin(60)) struct SharedMemoryTests {
    private static let bytes = 320 * 240
    private static let offer = SharedMemoryOffer(maxPools: 1, maxPoolBytes: 1 << 20)

    private static func format(height: Int = 240) throws -> CaptureVideoFormat {
        try CaptureVideoFormat(.gray, width: 320, height: height)
    }
    private static func picture(_ number: Int, bytes: Int = bytes) -> [UInt8] {
        [UInt8](repeating: UInt8(number), count: bytes)
    }

    /// Sends a picture as it lies, or in a frame that the connection has made.
    private static func send(
        _ picture: [UInt8], _ connection: CaptureConnection, height: Int = 240, at pts: Duration,
        _ orientation: CaptureOrientation? = nil, inFrame: Bool
    ) throws {
        let format = try format(height: height)
        guard inFrame else {
            return try connection.sendVideo(picture.span.bytes, format: format, at: pts, orientation: orientation)
        }
        let frame = try connection.frame(format)
        frame.fill { bytes in
            for index in picture.indices { bytes.storeBytes(of: picture[index], toByteOffset: index, as: UInt8.self) }
        }
        try connection.send(frame, at: pts, orientation: orientation)
    }

    /// What became of a client's pictures: nil for each that was sent as payload.
    private func places(
        of count: Int, offer: SharedMemoryOffer? = Self.offer, sharesMemory: Bool = true,
        answer: @escaping @Sendable (Peer, Peer.Message) throws -> Void,
        client: (CaptureConnection) throws -> Void
    ) throws -> [SharedPayload?] {
        let record = Record<SharedPayload?>()
        let daemon = try TestDaemon { peer in
            try peer.welcome(sharedMemory: offer)
            while record.all.count < count {
                let message = try peer.read()
                if message.header.type == .video {
                    let video = try VideoMessage.decode(
                        body: message.body.span.bytes, payloadBytes: message.payload.count, limits: .default)
                    record.append(video.shared)
                }
                try answer(peer, message)
            }
        }
        let connection = try CaptureConnection(path: daemon.path, sharesMemory: sharesMemory)
        _ = try connection.start(BroadcastSetup(clientName: "tests", convention: .exif))
        try client(connection)
        daemon.join()
        return record.all
    }

    private static func release(_ peer: Peer, _ message: Peer.Message) {
        guard message.header.type == .video else { return }
        peer.send { ReleasedMessage(sequence: message.header.sequence).encode(sequence: $0, into: &$1) }
    }

    @Test func placesAreUsedAgainWhenTheyAreReleased() throws {
        let places = try places(of: 20) { peer, message in
            guard message.header.type == .video else { return }
            Self.release(peer, message)
            peer.send { StateMessage(.congested, value: 0, text: "").encode(sequence: $0, into: &$1) }
        } client: { connection in
            for number in 0..<20 {
                try connection.sendVideo(
                    Self.picture(number).span.bytes, format: Self.format(), at: .nanoseconds(number))
                // What comes behind the release is an event; the release itself is none.
                guard case .state(.congested, _)? = try connection.nextEvent(timeout: .seconds(10)) else {
                    return #expect(Bool(false), "the release has come")
                }
            }
        }
        let shared = places.compactMap(\.self)
        #expect(shared.count == 20)
        #expect(shared.allSatisfy { $0.pool == 0 && $0.byteCount == UInt64(Self.bytes) })
        #expect(Set(shared.map(\.generation)).count == shared.count, "each picture has a word of its own")
        #expect(Set(shared.map(\.offset)).count <= 3)
    }

    /// A frame that is done becomes the next one, and no place is lost by it: also where a picture is unchanged, or
    /// needs other memory.
    @Test func framesAreUsedAgain() throws {
        final class Writer: FrameWriter {
            func attach(_ descriptor: CInt, byteCount: Int) -> UInt32? { 7 }
            func detach(_ memory: UInt32) {}
        }
        let places = try places(of: 12) { peer, message in
            guard message.header.type == .video else { return }
            Self.release(peer, message)
            peer.send { StateMessage(.congested, value: 0, text: "").encode(sequence: $0, into: &$1) }
        } client: { connection in
            let writer = Writer()
            var last: CaptureFrame?
            for number in 0..<12 {
                let format = try Self.format(height: number < 6 ? 240 : 480)
                let frame = try #require(try connection.frame(format, filledBy: writer, reusing: last))
                #expect((last == nil || frame === last) && !frame.isDone)
                #expect(frame.writerPlace?.memory == 7 && frame.format == format)
                frame.fill { bytes in
                    for index in 0..<bytes.byteCount {
                        bytes.storeBytes(of: UInt8(number / 2), toByteOffset: index, as: UInt8.self)
                    }
                }
                try connection.send(frame, at: .nanoseconds(number))
                #expect(frame.isDone)
                last = frame
                guard case .state(.congested, _)? = try connection.nextEvent(timeout: .seconds(10)) else {
                    return #expect(Bool(false), "the release has come")
                }
            }
        }
        #expect(places.map { $0 != nil } == (0..<12).map { $0 % 2 == 0 })
    }

    /// A picture that is the last one again is only said to be: not one that differs in its last byte, its orientation
    /// or its format, nor one behind a picture that was sent as payload, a pause, or a refusal.
    @Test(arguments: [false, true]) func whatIsUnchangedIsNotSent(inFrame: Bool) throws {
        let said = Record<Bool>()
        let daemon = try TestDaemon { peer in
            try peer.welcome(sharedMemory: Self.offer)
            while said.all.count < 12 {
                let message = try peer.read()
                guard message.header.type == .video else { continue }
                let video = try VideoMessage.decode(
                    body: message.body.span.bytes, payloadBytes: message.payload.count, limits: .default)
                said.append(video.isUnchanged)
                if !video.isUnchanged, video.shared != nil { Self.release(peer, message) }
                let error = ProtocolError(.unknownPicture, fatal: false, "no")
                if said.all.count == 8 {
                    peer.send { ErrorMessage(error, refersTo: message.header.sequence).encode(sequence: $0, into: &$1) }
                }
                peer.send { StateMessage(.congested, value: 0, text: "").encode(sequence: $0, into: &$1) }
            }
        }
        let connection = try CaptureConnection(path: daemon.path)
        _ = try connection.start(BroadcastSetup(clientName: "tests", convention: .exif))
        var pts = Duration.zero
        func send(_ picture: [UInt8], height: Int = 240, _ orientation: CaptureOrientation? = nil) throws {
            pts += .nanoseconds(1)
            try Self.send(picture, connection, height: height, at: pts, orientation, inFrame: inFrame)
            // Everything that the daemon says has come.
            guard case .state? = try connection.nextEvent(timeout: .seconds(10)) else {
                return #expect(Bool(false), "the daemon's answer, and no other event")
            }
        }
        let first = Self.picture(7)
        var other = first
        other[other.count - 1] = 8
        try send(first)
        try send(first)
        try send(first)
        try send(other)
        try send(other, .left)
        try send(other, .left)
        try send(Array(other.dropLast(320)), height: 239, .left)
        try send(Array(other.dropLast(320)), height: 239, .left)  // refused
        try send(Array(other.dropLast(320)), height: 239, .left)
        try connection.pause()
        try connection.resume()
        try send(Array(other.dropLast(320)), height: 239, .left)
        try send(Self.picture(1, bytes: 320 * 16), height: 16)
        try send(Array(other.dropLast(320)), height: 239, .left)
        daemon.join()
        #expect(
            said.all == [
                false, true, true, false, false, true, false, true, false, false, false, false,
            ])
    }

    @Test(arguments: [false, true]) func withoutAFreePlaceAPictureIsSent(inFrame: Bool) throws {
        let payloads = Record<[UInt8]>()
        let places = try places(
            of: 5, answer: { _, message in if message.header.type == .video { payloads.append(message.payload) } }
        ) { connection in
            for number in 0..<5 {
                try Self.send(Self.picture(number), connection, at: .nanoseconds(number), inFrame: inFrame)
            }
        }
        #expect(places.map { $0 != nil } == [true, true, true, false, false])
        #expect(payloads.all == [[], [], [], Self.picture(3), Self.picture(4)])
    }

    /// A frame that is let go unsent takes no room.
    @Test func framesThatAreNotSentAreGivenBack() throws {
        let places = try places(of: 1, answer: Self.release) { connection in
            for _ in 0..<20 { _ = try connection.frame(Self.format()) }
            try Self.send(Self.picture(1), connection, at: .zero, inFrame: true)
            let error = #expect(throws: CaptureError.self) {
                try connection.frame(CaptureVideoFormat(.rgba, width: 4096, height: 4096, strides: [65_536]))
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(places.count == 1 && places[0] != nil)
    }

    @Test(arguments: [true, false]) func withoutAnOfferOrWithoutTheWish(isOffered: Bool) throws {
        let places = try places(
            of: 2, offer: isOffered ? Self.offer : nil, sharesMemory: !isOffered, answer: Self.release
        ) { connection in
            for number in 0..<2 {
                try connection.sendVideo(
                    Self.picture(number).span.bytes, format: Self.format(), at: .nanoseconds(number))
            }
        }
        #expect(places == [nil, nil])
    }

    @Test func whatIsSmallOrTooLargeIsSent() throws {
        let places = try places(of: 2, answer: Self.release) { connection in
            try connection.sendVideo(
                Self.picture(1, bytes: 320 * 16).span.bytes, format: Self.format(height: 16), at: .zero)
            try connection.sendVideo(
                Self.picture(1, bytes: 320 * 4000).span.bytes, format: Self.format(height: 4000), at: .zero)
        }
        #expect(places == [nil, nil])
    }

    @Test func aDaemonThatRefusesIsSentTheRest() throws {
        let answered = Monitor(false)
        let places = try places(of: 2) { peer, message in
            guard message.header.type == .sharedMemory else { return }
            let error = ProtocolError(.badSharedMemory, fatal: false, "no")
            peer.send { ErrorMessage(error, refersTo: message.header.sequence).encode(sequence: $0, into: &$1) }
            answered.signal { $0 = true }
        } client: { connection in
            try connection.sendVideo(Self.picture(0).span.bytes, format: Self.format(), at: .zero)
            #expect(answered.wait(until: MonotonicClock().now() + .seconds(10)) { $0 ? true : nil } == true)
            try connection.sendVideo(Self.picture(1).span.bytes, format: Self.format(), at: .nanoseconds(1))
            guard case .refused? = try connection.nextEvent(timeout: .seconds(10)) else {
                return #expect(Bool(false), "the client is told")
            }
            #expect(connection.takeLackOfPicture(), "the picture was in the memory that was refused")
        }
        #expect(places.map { $0 != nil } == [true, false])
    }

    /// What is read in passing is not lost to whoever asks for it.
    @Test func eventsKeepTheirOrder() throws {
        _ = try places(of: 12) { peer, message in
            guard message.header.type == .video else { return }
            Self.release(peer, message)
            peer.send {
                StateMessage(.congested, value: message.header.sequence, text: "").encode(sequence: $0, into: &$1)
            }
        } client: { connection in
            for number in 0..<12 {
                try connection.sendVideo(
                    Self.picture(number).span.bytes, format: Self.format(), at: .nanoseconds(number))
            }
            var values: [Duration] = []
            while values.count < 12, let event = try connection.nextEvent(timeout: .seconds(10)) {
                if case .state(.congested(let value), _) = event { values.append(value) }
            }
            #expect(values.count == 12 && values == values.sorted())
        }
    }
}
