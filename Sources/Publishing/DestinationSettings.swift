package import Buffering

/// One place that a broadcast goes to.
package struct DestinationSettings: Sendable {
    package enum Kind: Sendable {
        case rtmp(RTMPDestinationSettings)
        case flvFile(FLVFileSettings)

        /// The only place that tells kinds apart.
        var sink: any SinkSettings {
            switch self {
            case .rtmp(let settings): settings
            case .flvFile(let settings): settings
            }
        }
    }

    /// How the operator calls it; shown in every message about it.
    package var name: String
    package var kind: Kind
    /// The largest encoded frame that is taken, in bytes; also the memory that the destination reserves for its copy.
    package var maximumPacketBytes: Int
    /// When frames are left out because the destination is slow; nothing is left out for files.
    package var cursorPolicy: CursorPolicy
    package var reconnect: ReconnectPolicy
    /// The destination has worked in an earlier broadcast: no certificate or refusal is final.
    package var hasWorked = false
    /// Whether the encoder's bitrate follows what this link carries.
    package var isAdaptedTo = false

    package init(
        name: String, kind: Kind, maximumPacketBytes: Int = 1 << 20, cursorPolicy: CursorPolicy? = nil,
        reconnect: ReconnectPolicy = ReconnectPolicy()
    ) {
        self.reconnect = reconnect
        self.name = name
        self.kind = kind
        self.maximumPacketBytes = maximumPacketBytes
        self.cursorPolicy = cursorPolicy ?? kind.sink.cursorPolicy
    }

    /// The URL without secrets, or the path.
    package var location: String { kind.sink.location }
}
