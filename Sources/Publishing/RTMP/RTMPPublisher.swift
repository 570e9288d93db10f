internal import Buffering
internal import Endpoints
internal import FLV
internal import LinuxSystem
internal import MediaCore

/// Publishes over one RTMP connection: metadata and sequence headers first, then packets.
final class RTMPPublisher: PublishingSink {
    private let settings: RTMPDestinationSettings
    private let format: BroadcastFormat
    private let clock: any TimeSource
    private let control: PublishControl
    private let files: FileReading?
    private let onNotice: (String) -> Void
    private var connection: RTMPConnection?
    private var hasSentHeaders = false
    private var framing: FLVFraming
    private var watch: RTMPLinkWatch

    /// The chunk header, and the FLV header of an access unit.
    static let headroom = RTMPHandle.headroom + FLVFraming.headroom
    private let location: String
    /// One packet may take this many send timeouts if its bytes keep moving.
    static let slowestSend: Int64 = 6

    /// - Parameter location: the endpoint's text for messages; nil for its description.
    init(
        settings: RTMPDestinationSettings, location: String? = nil, format: BroadcastFormat, clock: any TimeSource,
        control: PublishControl, files: FileReading? = nil, acknowledgements: AcknowledgementWatch? = nil,
        onNotice: @escaping (String) -> Void
    ) {
        self.settings = settings
        self.location = location ?? settings.endpoint.description
        self.format = format
        framing = FLVFraming(format)
        self.clock = clock
        self.control = control
        self.files = files
        watch = RTMPLinkWatch(
            settings, acknowledgements ?? AcknowledgementWatch(window: settings.acknowledgementWindow), at: clock.now())
        self.onNotice = onNotice
    }

    var progress: SinkProgress {
        guard let socket = connection?.socket else { return SinkProgress(location: location) }
        return SinkProgress(
            location: location, bytesSent: socket.bytesSent, bytesAcknowledged: acknowledgedBytes,
            tlsProtocol: socket.tlsProtocol)
    }

    /// Where the server redirects the publisher; nil if it does not, or if the redirect is refused.
    private(set) var redirect: RTMPEndpoint?
    var wantsReplacement: Bool { redirect != nil }

    var acknowledgements: AcknowledgementWatch { watch.acknowledgements }

    /// Limited to the bytes sent, because a server may acknowledge more.
    private var acknowledgedBytes: UInt64? {
        guard let connection, let acknowledged = connection.session.acknowledgedBytes else { return nil }
        return min(acknowledged, connection.socket.bytesSent)
    }

    var unsent: any UnsentMedia {
        if let connection { connection.socket.unsent } else { NothingUnsent() }
    }

    func open() throws(PublishError) {
        connection = try RTMPConnection(
            settings: settings, clock: clock, control: control, files: files, onNotice: onNotice)
        watch.begin(at: clock.now())
        noteRedirect()
    }

    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool {
        try connection?.socket.waitForRoom(until: deadline) ?? false
    }

    func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
        guard let connection, let streamID = connection.session.streamID else {
            throw PublishError(.system, "there is no connection to write to")
        }
        // A large keyframe on a slow link takes long, but must not stall for `sendTimeout`.
        connection.socket.limit(to: clock.now() + settings.sendTimeout * Self.slowestSend)
        defer { forgive(connection.socket.takeLost()) }
        if !hasSentHeaders {
            try sendHeaders(on: connection, streamID: streamID, at: FLVTimestamp.milliseconds(info.dts))
            hasSentHeaders = true
        }
        let byteCount = buffer.byteCount
        let framed = framing.frame(info, in: &buffer)
        let isSent = unsafe buffer.withPayload { payload in
            unsafe connection.handle.send(
                framed.type.message, on: framed.type.chunkStream, streamID: streamID, timestamp: framed.timestamp,
                body: payload - framed.headerBytes, byteCount: byteCount + framed.headerBytes)
        }
        guard isSent else { throw connection.socket.failure(during: "sending a packet") }
    }

    /// Headers carry the first packet's time. If a header were later than the next packet, servers would see a jump of
    /// 49 days.
    private func sendHeaders(
        on connection: RTMPConnection, streamID: UInt32, at timestamp: UInt32
    ) throws(PublishError) {
        for tag in FLVFraming.beginning(format, isForServer: true) {
            try connection.handle.send(
                tag.type.message, on: tag.type.chunkStream, streamID: streamID, timestamp: timestamp, body: tag.body)
        }
    }

    func service() throws(PublishError) {
        defer { noteRedirect() }
        try connection?.service()
    }

    private func noteRedirect() { if let connection { redirect = connection.redirect } }

    func measure(backlog: MediaTime) throws(PublishError) -> LinkMeasurement? {
        guard let socket = connection?.socket else { return nil }
        let (info, unacknowledged) = (socket.tcpInfo, socket.unacknowledgedBytes)
        // While a lost segment is sent again, the segments behind it have arrived: the path carries more than it
        // confirms.
        let outstanding = unacknowledged - (info?.selectivelyAcknowledgedBytes ?? 0)
        let look = RTMPLinkWatch.Look(
            bytesSent: socket.bytesSent, outstandingBytes: max(outstanding, min(unacknowledged, 1)),
            roundTrip: info?.minimumRoundTrip ?? .zero, bytesAcknowledged: acknowledgedBytes)
        return try watch.note(look, backlog: backlog, at: clock.now())
    }

    func forgive(_ lost: MediaTime) { watch.forgive(lost) }

    func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? {
        defer { noteRedirect() }
        return try connection?.unpublish(until: deadline, isCut: isCut)
    }

    func close() { connection = nil }
}

extension FLVTagType {
    fileprivate var message: RTMPMessageType {
        switch self {
        case .audio: .audio
        case .video: .video
        case .script: .dataAMF0
        }
    }

    fileprivate var chunkStream: RTMPHandle.ChunkStream {
        switch self {
        case .audio: .audio
        case .video: .video
        case .script: .data
        }
    }
}
