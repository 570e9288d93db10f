package import MediaCore

/// How much a packet log holds; whichever bound is reached first makes the oldest packets go.
package struct PacketLogLimits: Equatable, Sendable {
    /// Payload bytes; the ring of this size is the log's largest cost.
    package var maxBytes: Int
    /// From the oldest packet's decode time to the newest's.
    package var maxDuration: MediaTime
    /// Packets of both tracks together.
    package var maxPackets: Int
    /// No cursor's delay is longer than this: what the log cannot hold cannot be held back.
    package var maxDelay = MediaTime(nanoseconds: .max)

    package init(maxBytes: Int, maxDuration: MediaTime, maxPackets: Int) {
        precondition(maxBytes > 0 && maxPackets > 0 && maxDuration > .zero, "a packet log holds something")
        self.maxBytes = maxBytes
        self.maxDuration = maxDuration
        self.maxPackets = maxPackets
    }

    /// Bytes of memory that a log of these limits reserves, for the memory plan.
    package var reservedBytes: Int { maxBytes + maxPackets * MemoryLayout<PacketLogEntry>.stride }
}
