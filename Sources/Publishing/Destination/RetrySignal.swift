internal import LinuxSystem

/// Wakes a destination that waits for its next attempt: for "retry now", or when the machine's network comes back.
///
/// Any thread may call `signal`; the rest belongs to the destination's thread.
final class RetrySignal: Sendable {
    private let command: EventDescriptor
    /// Nil if a sandbox forbids it. Then only time and commands trigger attempts.
    private let network: NetworkWatch?
    private let both: DescriptorSet

    init() throws(Errno) {
        command = try EventDescriptor()
        network = try? NetworkWatch()
        both = try DescriptorSet([command.raw] + (network.map { [$0.raw] } ?? []))
    }

    /// Readable when `take` has something to return.
    var descriptor: CInt { both.raw }

    func signal() { command.signal() }

    enum Reason {
        case asked
        /// The machine has a new address or route.
        case network
    }

    /// The reason since the last call; nil for none.
    func take() -> Reason? {
        let networkCame = network?.take() ?? false
        return command.clear() ? .asked : networkCame ? .network : nil
    }
}
