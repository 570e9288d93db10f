internal import Grabbing
internal import MediaCore
internal import UpcastClient
internal import WaylandCapture

/// The newest picture of a stream, kept until the next one comes. The pointer moves over the kept picture, and senders
/// do not repeat the picture of a screen that does not change. One thread at a time.
final class PictureInHand {
    /// A change that a buffer brings.
    enum Change {
        case pointer
        /// A new picture, which differs from the one before in these rectangles; nil for anywhere.
        case picture([CaptureRectangle]?)
        /// A picture has come that cannot be sent.
        case unusable(ScreenError)
        /// A picture that is newer than the kept one may have been lost on the way.
        case missing
    }

    private let stream: PipeWireStream
    private var buffer: PipeWireStream.Buffer?
    /// The layout of the picture; nil without a picture.
    private(set) var picture: StreamPicture?
    private(set) var pointer = PointerState()
    private(set) var transform = OutputTransform.normal
    /// When the picture was shown, on a clock of the sender.
    private(set) var stamp: MediaTime?
    /// The last buffer's sequence number; 0 if the sender does not count.
    private var sequence: UInt64 = 0
    /// Whether the kept picture is the one that the next picture's damage refers to.
    private var knowsLast = false

    init(_ stream: PipeWireStream) { self.stream = stream }

    /// The memory of the picture; nil without a picture, and after the sender has taken the memory away.
    var memory: UnsafeRawBufferPointer? { unsafe buffer.flatMap { unsafe stream.memory(of: $0) } }

    /// Takes all buffers that have come, and gives back all but the newest picture.
    func takeBuffers(_ note: (Change) throws -> Void) rethrows {
        while let next = stream.take() {
            if take(next.pointer) { try note(.pointer) }
            guard next.hasPicture else {
                stream.giveBack(next)
                if next.isLost { knowsLast = false } else { sequence = next.sequence }
                if next.followsLoss {
                    knowsLast = false
                    try note(.missing)
                }
                continue
            }
            let picture: StreamPicture
            do throws(ScreenError) { picture = try StreamPicture(next.claim) } catch {
                stream.giveBack(next)
                knowsLast = false
                try note(.unusable(error))
                continue
            }
            try note(.picture(take(next, picture)))
        }
    }

    /// - Returns: where the picture differs from the one before; nil for anywhere.
    private func take(_ next: PipeWireStream.Buffer, _ picture: StreamPicture) -> [CaptureRectangle]? {
        // Damage lists the changes since the sender's previous picture. It is valid only if that is the kept picture.
        let isNext = next.sequence == 0 || next.sequence == sequence &+ 1
        let isKnown = knowsLast && isNext && self.picture?.looksLike(picture) ?? false
        if let buffer { stream.giveBack(buffer) }
        (buffer, self.picture) = (next, picture)
        (sequence, knowsLast) = (next.sequence, true)
        stamp = next.stamp
        transform = OutputTransform(rawValue: next.transform) ?? .normal
        return isKnown ? next.damage : nil
    }

    /// - Returns: whether the pointer has changed.
    private func take(_ pointer: PipeWireStream.Pointer?) -> Bool {
        guard let pointer else { return false }
        let hasMoved = self.pointer.move(to: pointer.place)
        let isOther = pointer.shape.map { self.pointer.take($0) } ?? false
        return hasMoved || isOther
    }
}
