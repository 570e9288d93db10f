/// The curtain after an app has released its hold.
public enum CurtainRelease: Hashable, Sendable {
    /// Nobody holds it up any more: viewers see the client's next picture.
    case lowered
    /// Others still hold it up: another app, an operator, the capture client or the daemon.
    case heldByOthers
}
