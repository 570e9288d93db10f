import FaultProxy
import MediaCore
import TestSupport

/// One thing that goes wrong with the network or a server, and how the broadcast is to come out of it.
struct FaultCase: Sendable {
    enum Server: Sendable { case nginx, ffmpeg }

    /// Longer and shorter spans of the same fault.
    struct Pace: Sendable {
        let isShort: Bool
        /// Seconds.
        func span(_ long: Double, _ short: Double) -> Double { isShort ? short : long }
    }

    let name: String
    /// What happens, for the table.
    let summary: String
    var server = Server.nginx
    /// More destinations than the one behind the proxy, by name and URL; configured before it.
    var otherDestinations: [(name: String, url: String)] = []
    /// What is set for the destination behind the proxy.
    var destinationFields: [String: String] = [:]
    /// The link is already faulty when the daemon starts.
    var before: LinkCommand?
    /// Recordings must decode: not where bytes were corrupted on a way that nothing protects.
    var mustDecode = true
    /// The broadcast reaches the server a second time.
    var mustReconnect = false
    /// The longest time without a frame.
    var maximumGap = MediaTime.seconds(600)
    /// Brings the fault about; the last thing that it does is to call `BenchStage.linkIsBack`.
    let run: @Sendable (BenchStage, Pace) throws -> Void
}
