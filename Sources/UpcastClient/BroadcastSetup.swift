internal import IngestProtocol
internal import MediaCore

/// What a client means by an orientation. Both conventions use the same numbers, but `left` and `right` are swapped.
public enum OrientationConvention: Sendable, CaseIterable {
    /// CGImagePropertyOrientation of a stored picture: a `right` picture is upright after a turn of 90 degrees
    /// clockwise.
    case exif
    /// RPVideoSampleOrientationKey as ReplayKit uses it: a `right` picture is upright after a turn of 90 degrees
    /// counter-clockwise.
    case replayKit
}

/// What is captured.
public enum CaptureSourceKind: Sendable, CaseIterable {
    case screen, mirroring, externalPlayback, camera, file, other
}

/// Width and height of a picture, in pixels.
public struct CaptureSize: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    public var description: String { "\(width)x\(height)" }
}

/// Frames a second as a fraction, such as 30 or 30000/1001.
///
/// Two rates are equal when both numbers are: 30/1 is not 60/2.
public struct CaptureFrameRate: Hashable, Sendable, CustomStringConvertible {
    public var numerator: Int
    public var denominator: Int

    public init(_ numerator: Int, _ denominator: Int = 1) {
        (self.numerator, self.denominator) = (numerator, denominator)
    }

    /// For display. It is less exact than the fraction.
    public var framesPerSecond: Double { Double(numerator) / Double(denominator) }
    public var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

/// The terms of a broadcast, as `CaptureConnection.start` tells them to the daemon.
public struct BroadcastSetup: Equatable, Sendable {
    /// For the daemon's log and status; cut at 64 bytes.
    public var clientName: String
    /// What the orientations of frames mean.
    public var convention: OrientationConvention
    public var source: CaptureSourceKind
    /// In pixels, as sent. A hint, left out if a side is not positive.
    public var expectedSize: CaptureSize?
    /// Frames a second. A hint, left out if a number is not positive.
    public var expectedRate: CaptureFrameRate?
    /// Whether frames will come; a hint.
    public var sendsVideo = true
    /// Whether sound of the captured app will come; a hint.
    public var sendsAppAudio = false
    /// Whether sound of a microphone will come; a hint.
    public var sendsMicrophone = false

    /// - Parameters:
    ///   - clientName: for the daemon's log and status.
    ///   - convention: what orientations mean. There is no default, because a guess would turn half of all clients'
    ///     pictures upside down.
    ///   - source: what is captured; destinations can refuse some kinds.
    public init(clientName: String, convention: OrientationConvention, source: CaptureSourceKind = .screen) {
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
