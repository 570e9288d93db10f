import ControlClient
import Glibc
import LinuxSystem

/// Reads a secret from a file. On the command line, every user of the machine could see it.
enum SecretLine {
    private static let maxBytes = 4096

    /// Returns the first line of a file or of standard input.
    ///
    /// - Parameter file: `-` for standard input.
    static func read(_ file: String) throws(ControlClientError) -> String {
        let name = file == "-" ? "standard input" : TerminalText.printable(file)
        let raw = file == "-" ? dup(STDIN_FILENO) : unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw .unusable("cannot open \(name): \(Errno.current)") }
        let descriptor = OwnedDescriptor(raw)
        var bytes: [UInt8] = []
        while bytes.count < maxBytes, !bytes.contains(0x0A) {
            var piece = [UInt8](repeating: 0, count: maxBytes)
            let count = unsafe Glibc.read(descriptor.raw, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unusable("cannot read \(name): \(Errno.current)") }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw .unusable("the first line of \(name) is empty or not UTF-8; write the secret there")
        }
        return text
    }
}
