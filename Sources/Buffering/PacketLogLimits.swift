package import MediaCore

/// The limits of a packet log. When one is reached, the oldest packets are removed.
package struct PacketLogLimits: Equatable, Sendable {
    /// Payload bytes: the size of the ring, which is most of the log's memory.
    package var maxBytes: Int
    /// From the oldest packet's decode time to the newest's.
    package var maxDuration: MediaTime
    /// Packets of both tracks together.
    package var maxPackets: Int
    /// The maximum delay of a cursor. The log must hold delayed packets.
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
