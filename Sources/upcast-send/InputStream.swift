import CaptureSources

/// A file or pipe that was named on the command line; pipes are read ahead from now on.
struct InputStream: Sendable {
    let file: FileInput
    /// Nil for a regular file, which can wait.
    let ahead: ReadAhead?

    /// - Parameter aheadBytes: how much of a pipe may wait here; 0 for none.
    init(_ path: String, _ stop: StopSignal, aheadBytes: Int) throws(InputError) {
        file = try FileInput(path: path, stop: stop)
        ahead = file.isLive && aheadBytes > 0 ? try ReadAhead(file, capacity: aheadBytes) : nil
    }

    /// For the one thread that reads it.
    var reader: InputReader { InputReader(ahead ?? file) }
}
