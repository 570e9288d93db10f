/// The answer of a route to a request.
package enum ControlAnswer: Sendable {
    case response(ControlResponse)
    /// An answer that another thread prepares. The server's thread polls for it `every` few milliseconds, for up to
    /// `milliseconds`. After that, the answer is `otherwise`.
    case later(
        milliseconds: Int64, every: Int64 = 20, poll: @Sendable () -> ControlResponse?,
        otherwise: @Sendable () -> ControlResponse)
    case stream(ControlStream)
}

/// An answer without an end. It lasts until the client disconnects or does not read, or the server stops.
package struct ControlStream: Sendable {
    package var contentType: String
    /// Milliseconds between two checks for something to write.
    package var period: Int64
    /// Milliseconds between two checks before the first bytes, for at most a second. Used if the first bytes usually
    /// need some milliseconds. Nil for `period`.
    package var startPeriod: Int64?
    /// Whether the stream continues while the client does not read. Without it, the client must read within the time of
    /// an answer.
    package var outlastsSilence: Bool

    /// Gets a function that makes the stream check at once. Any thread may call it until the result has been called.
    package typealias Open = @Sendable (_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    package init(
        contentType: String, period: Int64 = 200, startPeriod: Int64? = nil, outlastsSilence: Bool = false,
        open: @escaping Open = { _ in {} },
        begin: @escaping @Sendable () -> (Int64) -> [UInt8]
    ) {
        self.contentType = contentType
        self.period = period
        self.startPeriod = startPeriod
        self.outlastsSilence = outlastsSilence
        self.open = open
        self.begin = begin
    }

    /// Called once, on the server's thread, before `begin`. Its result is called there when the stream has ended.
    package var open: Open

    /// Called once, on the server's thread. Its result is called there every `period` while the client reads. It gets
    /// the milliseconds since the stream began, and returns the bytes to write.
    package var begin: @Sendable () -> (Int64) -> [UInt8]
}
