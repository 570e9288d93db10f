internal import Glibc
internal import LinuxSystem

/// The token that a daemon requires over TCP, from the same file that the daemon reads. It is never printed.
package struct AccessToken: CustomStringConvertible {
    private static let maxFileBytes = 4096
    private let text: String
    /// The file that it was read from, for messages.
    package let file: String

    /// Reads the first line of the file.
    package init(file: String) throws(ControlClientError) {
        let name = TerminalText.printable(file)
        // A pipe without a writer must not hang the tool.
        let raw = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { throw .unusable("cannot open the token file \(name): \(Errno.current)") }
        let descriptor = OwnedDescriptor(raw)
        var buffer = [UInt8](repeating: 0, count: Self.maxFileBytes)
        let count = unsafe read(descriptor.raw, &buffer, buffer.count)
        guard count >= 0 else { throw .unusable("cannot read the token file \(name): \(Errno.current)") }
        let line = buffer[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unusable(
                "the token file \(name) holds no token: its first line must be the one that the daemon's "
                    + "control.token_file has, in ASCII and without spaces")
        }
        text = String(decoding: line, as: UTF8.self)
        self.file = file
    }

    /// The header line that presents the token (RFC 6750).
    var header: String { "Authorization: Bearer \(text)\r\n" }

    package var description: String { "***" }
}
