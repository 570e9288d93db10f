/// What has become of the curtain when an app has let go of it.
public enum CurtainRelease: Hashable, Sendable {
    /// Nobody holds it up any more: viewers see the client's next picture.
    case lowered
    /// Others still hold it up: another app, an operator, the capture client or the daemon.
    case heldByOthers
}
