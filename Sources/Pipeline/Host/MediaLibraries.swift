internal import ControlProtocol
internal import Encoding
package import Logging
internal import Publishing

/// The set-up of the media libraries, once in a process, before any broadcast.
package enum MediaLibraries {
    /// Redirects the libraries' log output, and checks that librtmp calls our socket functions instead of its own.
    ///
    /// - Throws: a sentence if this machine's librtmp cannot be used safely.
    package static func prepare(_ logger: Logger) throws {
        LibAVLog.install { level, message in
            guard level == .error else {
                return logger.debug("media library message", metadata: ["from": "libav", "text": "\(message)"])
            }
            logger.tell(.mediaLibraryWarning(from: "libav", text: message))
        }
        try RTMPLibrary.selfTest()
    }
}
