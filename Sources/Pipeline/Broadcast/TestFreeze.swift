internal import Glibc

/// A test hook that makes a thread hang for ever, so that a test can observe the watchdog.
///
/// With UPCAST_TEST_FREEZE=encoder:N in the environment, the video thread of each broadcast encodes N frames and then
/// hangs. Only tests set it.
package struct TestFreeze: Equatable, Sendable {
    package static let variable = "UPCAST_TEST_FREEZE"

    /// Why the variable's value is invalid, as a sentence.
    package struct Invalid: Error, CustomStringConvertible {
        package let description: String
    }

    /// Frames that each broadcast encodes.
    package let encoderFrames: Int

    /// Nil if the variable is not set.
    package init?(environment: [String: String]) throws(Invalid) {
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "encoder", let frames = Int(parts[1]), frames >= 0 else {
            throw Invalid(
                description: "\(Self.variable) is a test hook and is to be encoder:FRAMES, such as encoder:30; "
                    + "unset it to run the daemon as usual")
        }
        encoderFrames = frames
    }

    static func forEver() -> Never {
        while true { pause() }
    }
}
