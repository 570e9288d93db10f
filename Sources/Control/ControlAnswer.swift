/// The answer of a route to a request.
package enum ControlAnswer: Sendable {
    case response(ControlResponse)
    /// An answer that another thread is about to have: asked for every few milliseconds on the server's thread, for so
    /// long; then `otherwise` is the answer.
    case later(
        milliseconds: Int64, every: Int64 = 20, poll: @Sendable () -> ControlResponse?,
        otherwise: @Sendable () -> ControlResponse)
    case stream(ControlStream)
}

/// An answer without an end: goes on until the client hangs up, does not read, or the server stops.
package struct ControlStream: Sendable {
    package var contentType: String
    /// Milliseconds between two checks for something to write.
    package var period: Int64
    /// The same until the first bytes, where they wait for something that takes some milliseconds as a rule; for a
    /// second at most. Nil for no difference.
    package var startPeriod: Int64?
    /// It goes on while the client does not read, until the client hangs up; without this, for the time of an answer.
    package var outlastsSilence: Bool

    /// Is given what makes the stream look at once, which may be called from any thread until the result has been
    /// called.
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

    /// Called once, on the server's thread, before `begin`; its result is called there when the stream has ended.
    package var open: Open

    /// Called once, on the server's thread, for what is then called there every `period` with the milliseconds since it
    /// began, while the client reads: what is to be written.
    package var begin: @Sendable () -> (Int64) -> [UInt8]
}
