/// Another process that writes frames into the memory that the daemon reads, such as an X server: nobody copies them.
///
/// `attach` is called on the thread that asks for frames, `detach` on any.
package protocol FrameWriter: AnyObject, Sendable {
    /// Lets the process map memory for writing; it has mapped it when this returns.
    ///
    /// - Parameters:
    ///   - descriptor: of the memory; it stays the caller's.
    ///   - byteCount: of the memory.
    /// - Returns: by which the process knows the memory; nil if it cannot map it: frames are copied then.
    func attach(_ descriptor: CInt, byteCount: Int) -> UInt32?
    /// Lets the process forget the memory.
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
