package import Buffering

package struct DestinationSettings: Sendable {
    /// The kind of the destination, with its settings. Other code sees it only as `SinkSettings`. A function beside
    /// each kind's settings makes it.
    package struct Kind: Sendable {
        let sink: any SinkSettings

        /// The most memory that the sink holds beside the packet.
        package var bufferedBytes: Int { sink.facts.bufferedBytes }
    }

    /// The operator's name for it, used in all messages.
    package var name: String
    package var kind: Kind
    /// The largest packet that is sent, in bytes. The destination reserves this much memory for its copy.
    package var maximumPacketBytes: Int
    /// When a late destination sheds packets. Files shed none.
    package var cursorPolicy: CursorPolicy
    package var reconnect: ReconnectPolicy
    /// Whether the destination worked in an earlier broadcast. If so, no certificate error or refusal is final.
    package var hasWorked = false
    /// Whether the encoder adapts its bitrate to this link.
    package var isAdaptedTo = false

    package init(
        name: String, kind: Kind, maximumPacketBytes: Int = 1 << 20, cursorPolicy: CursorPolicy? = nil,
        reconnect: ReconnectPolicy = ReconnectPolicy()
    ) {
        self.reconnect = reconnect
        self.name = name
        self.kind = kind
        self.maximumPacketBytes = maximumPacketBytes
        self.cursorPolicy = cursorPolicy ?? kind.sink.facts.cursorPolicy
    }

    /// The URL without secrets, or the path.
    package var location: String { kind.sink.facts.location }
}
