internal import IngestProtocol
internal import MediaCore

/// What a client means by an orientation. The numbers are the same; `left` and `right` have changed places.
public enum OrientationMeaning: Sendable, CaseIterable {
    /// CGImagePropertyOrientation of a stored picture: `right` is made upright by a turn of 90 degrees clockwise.
    case exif
    /// RPVideoSampleOrientationKey as ReplayKit uses it: `right` is made upright by a turn of 90 degrees
    /// counter-clockwise.
    case replayKit
}

/// What is captured.
public enum CaptureSourceKind: Sendable, CaseIterable {
    case screen, mirroring, externalPlayback, camera, file, other
}

/// The terms of a broadcast, as `CaptureConnection.start` tells them to the daemon.
public struct BroadcastSetup: Sendable {
    /// For the daemon's log and status; cut at 64 bytes.
    public var clientName: String
    public var convention: OrientationMeaning
    public var source: CaptureSourceKind
    /// Pixels as sent; a hint.
    public var expectedSize: (width: Int, height: Int)?
    /// Frames a second as a fraction; a hint.
    public var expectedRate: (numerator: Int, denominator: Int)?
    /// Which tracks will come; hints.
    public var sendsVideo = true
    public var sendsAppAudio = false
    public var sendsMicrophone = false

    /// - Parameter convention: has no default: a guess would turn half of all clients' pictures upside down.
    public init(clientName: String, convention: OrientationMeaning, source: CaptureSourceKind = .screen) {
        self.clientName = clientName
        self.convention = convention
        self.source = source
    }

    var message: StartedMessage {
        var tracks: StartedMessage.Tracks = []
        if sendsVideo { tracks.insert(.video) }
        if sendsAppAudio { tracks.insert(.audioApp) }
        if sendsMicrophone { tracks.insert(.audioMic) }
        let kind: SourceKind =
            switch source {
            case .screen: .screen
            case .mirroring: .mirroring
            case .externalPlayback: .externalPlayback
            case .camera: .camera
            case .file: .file
            case .other: .other
            }
        let hintable = 1...Int(UInt32.max)
        let size = expectedSize.flatMap { hintable.contains($0.width) && hintable.contains($0.height) ? $0 : nil }
        let rate = expectedRate.flatMap {
            hintable.contains($0.numerator) && hintable.contains($0.denominator) ? $0 : nil
        }
        return StartedMessage(
            clientName: clientName, convention: convention == .exif ? .exif : .replayKit, source: kind,
            hintWidth: size?.width ?? 0, hintHeight: size?.height ?? 0,
            hintRate: rate.map { FrameRate($0.numerator, $0.denominator) }, tracks: tracks)
    }
}
