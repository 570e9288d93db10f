/// Another process, such as an X server, that writes frames into the memory that the daemon reads, so that nothing is
/// copied.
///
/// `attach` is called on the thread that asks for frames, `detach` on any.
package protocol FrameWriter: AnyObject, Sendable {
    /// Lets the process map memory for writing. When this returns, the memory is mapped.
    ///
    /// - Parameters:
    ///   - descriptor: the memory's descriptor, which stays the caller's.
    ///   - byteCount: the memory's size.
    /// - Returns: the number by which the process knows the memory; nil if it cannot map it. Frames are then copied.
    func attach(_ descriptor: CInt, byteCount: Int) -> UInt32?
    /// Lets the process unmap the memory.
    func detach(_ memory: UInt32)
}

/// Memory that a writer has mapped, as long as this object lives.
final class WriterMapping: Sendable {
    let memory: UInt32
    let writer: any FrameWriter

    init?(_ writer: any FrameWriter, _ descriptor: CInt, byteCount: Int) {
        guard let memory = writer.attach(descriptor, byteCount: byteCount) else { return nil }
        self.memory = memory
        self.writer = writer
    }

    deinit { writer.detach(memory) }
}
