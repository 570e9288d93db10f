/// A reader's copy of one packet, with space before and after it for protocol headers.
///
/// `init` reserves the whole limit and never moves it. Pages become resident with the first packet that needs them. One
/// thread uses it.
@safe package struct PacketBuffer: ~Copyable {
    private let storage: UnsafeMutableRawPointer
    /// Bytes of storage: headroom, payload and tailroom together never exceed it.
    package let limit: Int
    /// Free bytes after the payload.
    package let tailroom: Int
    /// Where the payload starts.
    package private(set) var headroom = 0
    /// Bytes of payload.
    package private(set) var byteCount = 0

    package init(limit: Int, tailroom: Int = 0) {
        precondition(limit > 0 && tailroom >= 0 && tailroom < limit, "a packet buffer holds something")
        self.limit = limit
        self.tailroom = tailroom
        unsafe storage = .allocate(byteCount: limit, alignment: 64)
    }

    deinit { unsafe storage.deallocate() }

    /// The largest payload that fits behind `headroom` bytes.
    package func largestPayload(_ headroom: Int) -> Int { limit - tailroom - headroom }

    /// Sets the place of the payload; traps if it does not fit.
    package mutating func place(headroom: Int, byteCount: Int) {
        let fits = headroom >= 0 && byteCount >= 0 && byteCount <= largestPayload(headroom)
        precondition(fits, "packet exceeds its buffer")
        self.headroom = headroom
        self.byteCount = byteCount
    }

    /// Passes the payload's first byte. `headroom` bytes before it, and `byteCount + tailroom` bytes from it on, are
    /// writable. The pointer is valid during the call.
    package mutating func withPayload<Result, Failure: Error>(
        _ body: (UnsafeMutableRawPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(storage + headroom)
    }
}
