import CaptureSources

/// A file or pipe from the command line. Pipes are read ahead.
struct InputStream: Sendable {
    let file: FileInput
    /// Nil for a regular file, which needs no buffer.
    let ahead: ReadAhead?

    /// - Parameter aheadBytes: buffer size for a pipe; 0 for no buffer.
    init(_ path: String, _ stop: StopSignal, aheadBytes: Int) throws(InputError) {
        file = try FileInput(path: path, stop: stop)
        ahead = file.isLive && aheadBytes > 0 ? try ReadAhead(file, capacity: aheadBytes) : nil
    }

    /// The reader for the one thread that reads the stream.
    var reader: InputReader { InputReader(ahead ?? file) }
}
