import UpcastClient

/// Sends two seconds of a picture that grows brighter, and prints what the daemon says.
@main
enum ExampleCaptureClient {
    static func main() async throws {
        let path = CommandLine.arguments.dropFirst().first ?? CaptureConnection.defaultPath
        let connection = try await CaptureConnection(path: path)

        var setup = BroadcastSetup(clientName: "example", convention: .exif)
        setup.expectedSize = CaptureSize(width: 640, height: 360)
        setup.expectedRate = CaptureFrameRate(30)
        let welcome = try await connection.start(setup)
        print("broadcast \(welcome.broadcastID), canvas \(welcome.canvas)")

        let news = Task {
            for try await event in connection.events {
                switch event {
                case .state(.reconnecting(in: let pause), _): print("again in \(pause)")
                case .state(.curtainUp(let causes), _) where causes.contains(.awaitsPicture): continue
                case .state(_, let text): print(text)
                case .refused(let refusal): print("\(refusal.code): \(refusal.text)")
                case .counters(let counters): print("\(counters.framesDropped) frames dropped")
                case .goodbye(let goodbye): print("goodbye: \(goodbye.reason)")
                }
            }
        }

        let format = try CaptureVideoFormat(.gray, width: 640, height: 360)
        let clock = ContinuousClock()
        let begin = clock.now
        for number in 0..<60 {
            let time = Duration.seconds(number) / 30
            try await clock.sleep(until: begin + time)
            let frame = try connection.frame(format)
            frame.fill { bytes in
                for index in 0..<bytes.byteCount {
                    bytes.storeBytes(of: UInt8(16 + 3 * number), toByteOffset: index, as: UInt8.self)
                }
            }
            try connection.send(frame, at: time, orientation: .up)
        }

        let goodbye = try await connection.finish()
        try await news.value
        print("\(goodbye.counters.framesTaken) frames taken")
    }
}
