import Foundation

/// The executables of the build.
package enum ProductExecutable: String {
    case upcastd
    case upcastctl
    case upcastSend = "upcast-send"
    case upcastScreen = "upcast-screen"
    /// Not installed: an app that is captured (Tests/captured-app).
    case capturedApp = "captured-app"
    /// Not installed: windows that must be hidden (Tests/secret-window).
    case secretWindow = "secret-window"
    /// Not installed: windows that belong together (Tests/window-family).
    case windowFamily = "window-family"
    /// Not installed: a Wayland window that changes in one place (Tests/wayland-window).
    case waylandWindow = "wayland-window"
    /// Not installed: other users who crowd the control socket (Tests/control-crowd).
    case controlCrowd = "control-crowd"
    /// Not installed: the programs of the libraries' articles (Tests/examples).
    case exampleCaptureClient = "example-capture-client"
    case exampleCapturedApp = "example-captured-app"

    /// The folder is `UPCAST_BIN_DIR` if it is set, otherwise that of the test bundle.
    package var path: String {
        get throws {
            let beside = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let folder =
                ProcessInfo.processInfo.environment["UPCAST_BIN_DIR"] ?? (beside as NSString).deletingLastPathComponent
            let path = folder + "/" + rawValue
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw TestFailure("\(path) is missing: swift build --build-tests makes it, or set UPCAST_BIN_DIR")
            }
            return path
        }
    }
}
