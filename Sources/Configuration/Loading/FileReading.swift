internal import Glibc
internal import LinuxSystem

/// Reads the whole file at `path`. Files above `limit` bytes are refused.
///
/// - Parameter folder: the folder that must contain the file; `path` is relative to it. Nil for any file.
func readFile(_ path: String, limit: Int, beneath folder: String? = nil) throws(ValueProblem) -> [UInt8] {
    var bytes: [UInt8] = []
    try readPieces(of: path, limit: limit, beneath: folder) { piece, size in
        if bytes.isEmpty { bytes.reserveCapacity(size) }
        bytes += piece
        return true
    }
    return bytes
}

/// Whether `text` occurs in the file at `path`. Reads the file in pieces of 16 KiB.
func file(
    _ path: String, holds text: String, limit: Int, beneath folder: String? = nil
) throws(ValueProblem) -> Bool {
    let wanted = Array(text.utf8)
    var tail: [UInt8] = []
    var isThere = false
    try readPieces(of: path, limit: limit, beneath: folder) { piece, _ in
        let joined = tail + piece
        isThere = joined.firstRange(of: wanted) != nil
        tail = Array(joined.suffix(wanted.count - 1))
        return !isThere
    }
    return isThere
}

private let pieceBytes = 16 * 1024

/// - Parameter take: receives each piece and the size of the file, and returns whether to continue.
private func readPieces(
    of path: String, limit: Int, beneath folder: String?, _ take: (ArraySlice<UInt8>, Int) -> Bool
) throws(ValueProblem) {
    let descriptor = try open(path, beneath: folder)
    var status = stat()
    guard unsafe fstat(descriptor.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw ValueProblem(what: "is not a regular file", remedy: "name a file, not a folder, pipe or device")
    }
    let tooLong = ValueProblem(what: "has more than \(limit) bytes", remedy: "check that it is the correct file")
    guard status.st_size <= limit else { throw tooLong }
    var count = 0
    var piece = [UInt8](repeating: 0, count: min(pieceBytes, limit + 1))
    while true {
        let got = unsafe read(descriptor.raw, &piece, piece.count)
        if got == 0 { return }
        if got < 0 {
            let error = Errno.current
            if error.code == EINTR { continue }
            throw ValueProblem(what: "cannot be read: \(error)", remedy: "check that it is a file")
        }
        count += got
        // The file may have grown since `fstat`.
        guard count <= limit else { throw tooLong }
        guard take(piece[..<got], Int(status.st_size)) else { return }
    }
}

private func open(_ path: String, beneath folder: String?) throws(ValueProblem) -> OwnedDescriptor {
    guard let folder else {
        // O_NONBLOCK: opening a pipe without a writer must not block. `fstat` refuses the pipe later.
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else {
            throw ValueProblem(what: "cannot be opened: \(Errno.current)", remedy: "check the path and its permissions")
        }
        return OwnedDescriptor(fd)
    }
    do { return try FileBeneath.open(path, beneath: folder) } catch {
        guard error.code == EXDEV else {
            throw ValueProblem(
                what: "cannot be opened in \(printable(folder)) (control.secrets_folder): \(error)",
                remedy: "check the name and the permissions")
        }
        throw ValueProblem(
            what: "is not beneath \(printable(folder)) (control.secrets_folder)",
            remedy: "write its path relative to that folder")
    }
}
