internal import IngestProtocol

/// The cause of a refusal by the daemon: a number of docs/protocol.md, which never changes its meaning.
///
/// Newer daemons may send numbers that have no name here.
public struct DaemonErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    private init(_ code: ErrorCode) { rawValue = code.rawValue }

    /// The name, or the number if it has none.
    public var description: String { ErrorCode(rawValue: rawValue).map { "\($0)" } ?? "\(rawValue)" }

    /// A header does not begin with `UC`: the stream is of another protocol, or one side has miscounted its bytes.
    public static let badMagic = Self(.badMagic)
    /// The receiver does not speak a header's version, or any version that `started` offers.
    public static let unsupportedVersion = Self(.unsupportedVersion)
    /// A header announces a body longer than the limit.
    public static let bodyTooLarge = Self(.bodyTooLarge)
    /// A header announces a payload longer than its type may have.
    public static let payloadTooLarge = Self(.payloadTooLarge)
    /// A message of unknown type is marked critical.
    public static let unknownCriticalMessage = Self(.unknownCriticalMessage)
    /// A sequence number is not its predecessor's plus one.
    public static let sequenceGap = Self(.sequenceGap)
    /// A message is not allowed at this point, or not from this side.
    public static let unexpectedMessage = Self(.unexpectedMessage)
    /// Another client's broadcast is under way.
    public static let busy = Self(.busy)
    /// A body is shorter than its fields, or a text's length does not fit.
    public static let malformedBody = Self(.malformedBody)
    /// An extension's length runs past the body's end.
    public static let malformedExtension = Self(.malformedExtension)
    /// A critical extension is not understood; secure regions and shared memory always count as critical.
    public static let unsupportedExtension = Self(.unsupportedExtension)
    /// `started` names no orientation convention, or one that does not exist.
    public static let orientationConvention = Self(.orientationConvention)
    /// The other side ended the connection inside a message. Never sent, because nobody is left to read it.
    public static let truncated = Self(.truncated)
    /// `started` did not come in time.
    public static let timedOut = Self(.timedOut)

    /// A pixel format's FourCC is not in the welcome.
    public static let unsupportedPixelFormat = Self(.unsupportedPixelFormat)
    /// Width or height is outside the limits.
    public static let badPictureSize = Self(.badPictureSize)
    /// The plane count, a stride or the planes' order is wrong.
    public static let badPlaneLayout = Self(.badPlaneLayout)
    /// A plane ends after the payload's end.
    public static let planeOutsidePayload = Self(.planeOutsidePayload)
    /// A colour matrix or range has a value that does not exist.
    public static let badColor = Self(.badColor)
    /// Shared memory is not set up as required, or does not hold a picture that is said to be in it.
    public static let badSharedMemory = Self(.badSharedMemory)
    /// A picture in shared memory was overwritten before it was released: it is not shown.
    public static let sampleOverwritten = Self(.sampleOverwritten)
    /// A picture is said to be unchanged, but the last one was not taken or had another format.
    public static let unknownPicture = Self(.unknownPicture)
    /// A list of secure regions contradicts itself or is too long. What it hides is unknown, so nothing is shown.
    public static let badSecureRegions = Self(.badSecureRegions)

    /// A stream description is consistent, but names PCM that the daemon does not take.
    public static let unsupportedAudioFormat = Self(.unsupportedAudioFormat)
    /// A stream description contradicts itself.
    public static let inconsistentAudioFormat = Self(.inconsistentAudioFormat)
    /// A payload is not exactly as long as its frames.
    public static let audioPayloadMismatch = Self(.audioPayloadMismatch)

    /// The daemon is stopping and takes no broadcast.
    public static let shuttingDown = Self(.shuttingDown)
    /// The daemon cannot go on with the broadcast: encoder, memory or destination.
    public static let broadcastFailed = Self(.broadcastFailed)
}
