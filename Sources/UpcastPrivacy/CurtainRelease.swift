/// The curtain after an app has released its hold.
public enum CurtainRelease: Hashable, Sendable {
    /// Nobody holds the curtain up any more: viewers see the client's next picture.
    case lowered
    /// Others still hold the curtain up: another app, an operator, the capture client or the daemon.
    case heldByOthers
}
