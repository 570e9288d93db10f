internal import LinuxSystem
internal import UpcastClient

/// Numbers the memory that frames lie in, so that a grabber knows what each place contains. Only the grabber writes
/// there.
package final class FramePlaces: FrameWriter {
    private let last = Monitor<UInt32>(0)

    package init() {}

    package func attach(_ descriptor: CInt, byteCount: Int) -> UInt32? {
        last.withLock { last in
            last += 1
            return last
        }
    }

    /// Does nothing: numbers are not used again.
    package func detach(_ memory: UInt32) {}
}
