internal import Grabbing
internal import MediaCore
internal import UpcastClient
internal import WaylandCapture

/// The newest picture of a stream, which stays here until the next one comes: the pointer moves over it, and senders do
/// not send the picture of a screen that stands still again. One thread at a time.
final class PictureInHand {
    /// What has changed.
    enum Change {
        case pointer
        /// Another picture, that differs from the one before in these places; nil for anywhere.
        case picture([CaptureRectangle]?)
        /// There is a picture that cannot be sent.
        case unusable(ScreenError)
        /// A newer picture than the one here may have been lost on the way.
        case missing
    }

    private let stream: PipeWireStream
    private var buffer: PipeWireStream.Buffer?
    /// What it looks like; nil without one.
    private(set) var picture: StreamPicture?
    private(set) var pointer = PointerState()
    private(set) var transform = OutputTransform.normal
    /// When it was shown, on a clock of the sender's.
    private(set) var stamp: MediaTime?
    /// Of the last buffer, as the sender counts; 0 where it does not.
    private var sequence: UInt64 = 0
    /// The picture that the next one's damage refers to was here.
    private var knowsLast = false

    init(_ stream: PipeWireStream) { self.stream = stream }

    /// Where the picture is; nil without one, and if the sender has taken it away.
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

    /// - Returns: where it differs from the picture before; nil for anywhere.
    private func take(_ next: PipeWireStream.Buffer, _ picture: StreamPicture) -> [CaptureRectangle]? {
        // Damage is what has changed since the picture before, which has to be the one that was here.
        let isNext = next.sequence == 0 || next.sequence == sequence &+ 1
        let isKnown = knowsLast && isNext && self.picture?.looksLike(picture) ?? false
        if let buffer { stream.giveBack(buffer) }
        (buffer, self.picture) = (next, picture)
        (sequence, knowsLast) = (next.sequence, true)
        stamp = next.stamp
        transform = OutputTransform(rawValue: next.transform) ?? .normal
        return isKnown ? next.damage : nil
    }

    /// - Returns: whether that is news.
    private func take(_ pointer: PipeWireStream.Pointer?) -> Bool {
        guard let pointer else { return false }
        let hasMoved = self.pointer.move(to: pointer.place)
        let isOther = pointer.shape.map { self.pointer.take($0) } ?? false
        return hasMoved || isOther
    }
}
