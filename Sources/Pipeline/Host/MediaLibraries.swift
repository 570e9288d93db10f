internal import ControlProtocol
internal import Encoding
package import Logging
internal import Publishing

/// What has to be done once in a process before any broadcast.
package enum MediaLibraries {
    /// Redirects the libraries' own log output, and proves that librtmp calls our socket functions and not its own.
    ///
    /// - Throws: a sentence, where librtmp on this machine cannot be used safely.
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
