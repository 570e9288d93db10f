internal import Glibc

/// The hook by which a test makes a thread hang for ever, so that it can be seen what the watchdog does about it.
///
/// UPCAST_TEST_FREEZE=encoder:N in the environment: the video thread of each broadcast encodes N frames and then never
/// comes back. Nothing but a test sets it.
package struct TestFreeze: Equatable, Sendable {
    package static let variable = "UPCAST_TEST_FREEZE"

    /// Why the variable's value means nothing, as a sentence.
    package struct Invalid: Error, CustomStringConvertible {
        package let description: String
    }

    /// Frames that each broadcast encodes.
    package let encoderFrames: Int

    /// Nil where the variable is not set.
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

    /// Never returns.
    static func forEver() -> Never {
        while true { pause() }
    }
}
