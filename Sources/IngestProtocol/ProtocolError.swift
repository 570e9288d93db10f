/// What an error is about. The number is in the daemon's error messages, and never changes its meaning.
///
/// 1-19 concern the connection, 20-29 video samples, 30-39 audio samples, 40-49 the broadcast as a whole.
package enum ErrorCode: UInt16, CaseIterable, Sendable {
    /// A header does not start with `UC`: the stream uses another protocol, or a message had the wrong length.
    case badMagic = 1
    /// The receiver does not speak a header's version, or any version that `started` offers.
    case unsupportedVersion = 2
    /// A header announces a body longer than the limit.
    case bodyTooLarge = 3
    /// A header announces a payload longer than its type may have.
    case payloadTooLarge = 4
    /// A message of unknown type is marked critical.
    case unknownCriticalMessage = 5
    /// A sequence number is not its predecessor's plus one.
    case sequenceGap = 6
    /// A message is not allowed at this point, or not from this side.
    case unexpectedMessage = 7
    /// Another client's broadcast is under way.
    case busy = 8
    /// A body is shorter than its fields, or a text's length does not fit.
    case malformedBody = 9
    /// An extension's length runs past the body's end.
    case malformedExtension = 10
    /// A critical extension is not understood; secure regions and shared memory always count as critical.
    case unsupportedExtension = 11
    /// `started` names no orientation convention, or one that does not exist.
    case orientationConvention = 12
    /// The other side ended the connection inside a message. Never sent, because nobody is left to read it.
    case truncated = 13
    /// A timeout expired.
    case timedOut = 14

    /// A pixel format's FourCC is not in the welcome.
    case unsupportedPixelFormat = 20
    /// Width or height is outside the limits.
    case badPictureSize = 21
    /// The plane count, a stride or the planes' order is wrong.
    case badPlaneLayout = 22
    /// A plane ends after the payload's end.
    case planeOutsidePayload = 23
    /// A colour matrix or range has a value that does not exist.
    case badColor = 24
    /// Shared memory is not set up as required, or does not hold a picture that is said to be in it.
    case badSharedMemory = 25
    /// A picture in shared memory was overwritten before it was released. It is not shown.
    case sampleOverwritten = 26
    /// A picture is said to be unchanged, but the last one was not taken or had another format.
    case unknownPicture = 27
    /// A list of secure regions is inconsistent or too long. The picture is not shown.
    case badSecureRegions = 28

    /// A stream description is consistent, but its format is not supported.
    case unsupportedAudioFormat = 30
    /// A stream description is inconsistent.
    case inconsistentAudioFormat = 31
    /// A payload is not exactly as long as its frames.
    case audioPayloadMismatch = 32

    /// The daemon is stopping and accepts no broadcast.
    case shuttingDown = 40
    /// The broadcast failed in the daemon: encoder, memory or destination.
    case broadcastFailed = 41
}

/// An invalid message: an error code, and a sentence with the values.
package struct ProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: ErrorCode
    /// The cause and the remedy, without control characters and secrets.
    package let message: String
    /// True if the connection cannot go on: the framing cannot be trusted any more, or the order is broken. If false,
    /// this message is refused, its payload is skipped, and the broadcast goes on.
    package let isFatal: Bool

    package init(_ code: ErrorCode, fatal: Bool, _ message: String) {
        self.code = code
        self.message = message
        isFatal = fatal
    }

    package var description: String { message }
}
