/// The limits against which a receiver checks every message.
///
/// The format itself allows no more than `default`. A daemon may offer less, as its welcome says.
package struct IngestLimits: Equatable, Sendable {
    /// Pixels; the format allows those of `sides`.
    package var maxWidth: Int
    /// Pixels; the format allows those of `sides`.
    package var maxHeight: Int
    /// Bytes of pixels, row padding included.
    package var maxVideoPayload: Int
    /// Bytes of PCM in one message.
    package var maxAudioPayload: Int
    /// Bytes of fixed fields, texts and extensions.
    package var maxBody: Int

    package init(
        maxWidth: Int = sides.upperBound, maxHeight: Int = sides.upperBound, maxVideoPayload: Int? = nil,
        maxAudioPayload: Int = 512 << 10, maxBody: Int = 4096
    ) {
        self.maxWidth = maxWidth
        self.maxHeight = maxHeight
        // Four bytes a pixel, and up to 4 KiB of padding a row.
        self.maxVideoPayload = maxVideoPayload ?? maxWidth * maxHeight * 4 + maxHeight * 4096
        self.maxAudioPayload = maxAudioPayload
        self.maxBody = maxBody
    }

    /// What version 1 of the protocol allows: 4096x4096, 80 MiB of pixels, 512 KiB of PCM, 4096 bytes of body.
    package static let `default` = IngestLimits()

    /// The maximum number of shared memory pools of one client.
    package static let maxSharedPools = 2
    /// The size of each pool, in bytes: four of the largest pictures. The reader pays for page tables, at most some 0.7
    /// MiB for each pool.
    package var maxSharedPoolBytes: Int { 4 * maxVideoPayload }

    /// The width and height of a picture, in pixels.
    package static let sides = 16...4096
    /// The most bytes from one row to the next.
    package static let maxStride = 65_536
    /// Frames a second.
    package static let audioRates = 8_000...192_000
    package static let maxAudioChannels = 8
    /// Bytes of a client's name, an annotation's key or a broadcast's id.
    package static let maxNameBytes = 64
    /// Bytes of a sentence or an annotation's value.
    package static let maxTextBytes = 1024

    /// The most bytes that may follow the body of a message of this type. For nil, an unknown type, the payload is
    /// skipped without being stored.
    package func maxPayload(of type: MessageType?) -> Int {
        switch type {
        case .video, nil: maxVideoPayload
        case .audioApp, .audioMic: maxAudioPayload
        default: 0
        }
    }
}
