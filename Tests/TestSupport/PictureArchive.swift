import Foundation

/// Pictures for people: if `UPCAST_TEST_PICTURES` names a folder, tests save the pictures that they compare there as
/// PNG.
package enum PictureArchive {
    /// Saves `image` as `name`.png. Does nothing without the variable.
    package static func save(_ image: I420Image, as name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["UPCAST_TEST_PICTURES"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try MediaProbe.writePNG(image, to: folder + "/" + name + ".png")
    }
}
