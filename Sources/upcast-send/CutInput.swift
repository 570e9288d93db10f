/// What an input has left out because it ends in the middle of a frame.
struct CutInput: Sendable {
    /// The name of the input.
    var name: String
    /// The size of the incomplete frame; 0 if the input ends between two frames, before the end that its headers name.
    var bytes: Int
    /// What to do about it.
    var advice: String

    /// Without a header, the frame size may be wrong.
    static let noHeader = "check --size and --format"
    static let noAudioHeader = "check the format that was given for it"
    static let header = "more may be missing"

    var sentence: String {
        let missing = bytes == 1 ? "1 byte was" : "\(bytes) bytes were"
        return bytes > 0
            ? "\(name): the input ends in the middle of a frame, of which \(missing) not sent; \(advice)"
            : "\(name): the input is cut off: it ends before its headers say"
    }
}
