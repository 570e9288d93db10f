import Foundation

/// Pictures for people: where `UPCAST_TEST_PICTURES` names a folder, tests leave there as PNG what they compared.
package enum PictureArchive {
    /// Saves `image` as `name`.png, or does nothing where nobody asked.
    package static func save(_ image: I420Image, as name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["UPCAST_TEST_PICTURES"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try MediaProbe.writePNG(image, to: folder + "/" + name + ".png")
    }
}
