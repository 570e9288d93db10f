import ControlClient
import Glibc
import LinuxSystem

/// Replaces a file atomically: after a crash, it has either its old or all of its new contents.
enum WholeFile {
    static func write(_ bytes: [UInt8], to path: String) throws(ControlClientError) {
        var target = path
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFDIR: throw .unusable("\(TerminalText.printable(path)) is a folder; name a file in it")
            case S_IFREG:
                // Replace the target of a link, not the link.
                if let real = unsafe realpath(path, nil) {
                    target = unsafe String(cString: real)
                    unsafe free(real)
                }
            // A device or pipe cannot be replaced.
            default: return try writeInto(bytes, path)
            }
        }
        try replace(target, with: bytes)
    }

    private static func replace(_ path: String, with bytes: [UInt8]) throws(ControlClientError) {
        var temporary = Array("\(path).XXXXXX".utf8CString)
        let raw = unsafe mkstemp(&temporary)
        guard raw >= 0 else { throw failure(path) }
        let descriptor = OwnedDescriptor(raw)
        // mkstemp creates the file for the owner only; set the permissions that the umask allows.
        let mask = umask(0)
        umask(mask)
        fchmod(descriptor.raw, 0o666 & ~mask)
        do throws(Errno) {
            try OutputBytes.write(bytes, to: descriptor.raw)
            guard unsafe rename(temporary, path) == 0 else { throw Errno.current }
        } catch {
            unsafe unlink(temporary)
            throw .unusable("cannot write \(TerminalText.printable(path)): \(error)")
        }
    }

    private static func writeInto(_ bytes: [UInt8], _ path: String) throws(ControlClientError) {
        let raw = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard raw >= 0 else { throw failure(path) }
        let descriptor = OwnedDescriptor(raw)
        do { try OutputBytes.write(bytes, to: descriptor.raw) } catch {
            throw .unusable("cannot write \(TerminalText.printable(path)): \(error)")
        }
    }

    private static func failure(_ path: String) -> ControlClientError {
        let error = Errno.current
        return .unusable("cannot write \(TerminalText.printable(path)): \(error)")
    }
}
