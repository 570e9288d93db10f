internal import Glibc
package import LinuxSystem

/// The file with the permission to share a screen: a token of the portal that restores the user's choice once, and is
/// then replaced. Whoever has the token can share that screen without a question, so nobody else may read it.
package struct RestoreToken: Equatable, Sendable {
    package let path: String
    private static let maxBytes = 1023

    /// - Parameters:
    ///   - client: the client's name. Each client has a choice of its own.
    ///   - stateFolder: `$XDG_STATE_HOME`.
    ///   - home: `$HOME`.
    /// - Returns: nil if there is no folder for it.
    package init?(client: String, stateFolder: String?, home: String?) {
        var folder = stateFolder ?? ""
        if !folder.hasPrefix("/") {
            guard let home, home.hasPrefix("/") else { return nil }
            folder = home + "/.local/state"
        }
        path = "\(folder)/upcast/portal-\(Self.fileName(client))"
    }

    /// The client's name with characters that are unsafe in a file name written as %2F. The length is bounded.
    private static func fileName(_ client: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return String(client.utf8.prefix(60).map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-_.".contains(character))
            return isPlain ? String(character) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }.joined())
    }

    /// Reads the token; nil if there is none, and if the content is not a token.
    package func read() -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes + 1)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress!, $0.count) }
        guard count > 0, count <= Self.maxBytes, bytes.prefix(count).allSatisfy({ (0x21..<0x7f).contains($0) }) else {
            return nil
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Replaces the token. After a crash, the file contains the old token or the new one.
    ///
    /// - Throws: the errno of the call that failed.
    package func write(_ token: String) throws(Errno) {
        makeFolders()
        let new = path + ".new"
        unsafe unlink(new)
        let file = try OwnedDescriptor(
            checking: unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600))
        var token = token
        let written = token.withUTF8 { unsafe Glibc.write(file.raw, $0.baseAddress, $0.count) }
        guard written == token.utf8.count, unsafe rename(new, path) == 0 else {
            let error = Errno.current
            unsafe unlink(new)
            throw error
        }
    }

    package func remove() { unsafe unlink(path) }

    /// Makes the missing folders, for this user alone.
    private func makeFolders() {
        var end = path.index(after: path.startIndex)
        while let slash = path[end...].firstIndex(of: "/") {
            unsafe mkdir(String(path[..<slash]), 0o700)
            end = path.index(after: slash)
        }
    }
}
