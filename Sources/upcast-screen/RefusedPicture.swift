import MediaCore

/// Decides when a picture that the daemon has refused is sent again. Pure.
///
/// A refusal can raise the curtain until a valid picture comes (docs/protocol.md), and a still screen sends no other.
struct RefusedPicture {
    static let patience = MediaTime.seconds(2)

    /// When to send the picture again; nil if none was refused.
    private(set) var due: MediaTime?
    private var told: String?

    /// - Parameter raisesCurtain: whether it is a picture that has raised the curtain.
    /// - Returns: whether the text is news to the user.
    mutating func noteRefusal(_ text: String, raisesCurtain: Bool, at now: MediaTime) -> Bool {
        if raisesCurtain { due = due ?? now + Self.patience }
        defer { told = text }
        return text != told
    }

    /// Viewers see what is sent.
    mutating func noteShown() { (due, told) = (nil, nil) }

    /// - Returns: whether to send the picture again now.
    mutating func isDue(at now: MediaTime) -> Bool {
        guard let due, now >= due else { return false }
        self.due = now + Self.patience
        return true
    }
}
