/// Decides whether a picture waits until all windows are known. Pure.
///
/// A program may change a window all the time, so after three waiting pictures in a row, the next one does not wait. By
/// then, all windows have been read once, however slow the server is.
struct UnknownWait: Sendable {
    private var waited = 0
    private static let limit = X11Connection.maxDisturbed

    /// Whether a picture waits. Ask once for each picture.
    mutating func waits(isUnknown: Bool) -> Bool {
        guard isUnknown, waited < Self.limit else {
            waited = 0
            return false
        }
        waited += 1
        return true
    }
}
