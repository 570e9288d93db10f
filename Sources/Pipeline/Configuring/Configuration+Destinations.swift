internal import Adaptation
internal import Buffering
internal import Configuration
internal import ControlProtocol
internal import Endpoints
internal import MediaCore
internal import Publishing

extension DestinationConfiguration {
    /// Whether this destination refuses samples of this source kind.
    func refuses(_ source: SourceKind) -> Bool { refusedSources.sources.contains(source) }
}

extension Configuration {
    /// The settings of a destination. The destination itself reads stream key and login before each connection.
    ///
    /// - Parameter hasWorked: whether it worked in an earlier broadcast.
    func settings(
        of destination: DestinationConfiguration, environment: [String: String], hasWorked: Bool = false
    ) -> DestinationSettings {
        guard let kind = kind(of: destination, environment: environment) else {
            preconditionFailure("a loaded configuration has a URL for each destination")
        }
        let isServer = destination.url.isServer
        var settings = DestinationSettings(
            name: destination.name, kind: kind, maximumPacketBytes: maximumPacketBytes,
            reconnect: reconnectPolicy(destination))
        if isServer {
            settings.cursorPolicy = CursorPolicy(
                softLimit: buffer.dropDisposable, hardLimit: buffer.dropToKeyframe, audioLimit: buffer.duration)
        }
        settings.cursorPolicy.delay = buffer.delay
        settings.cursorPolicy.interleaving =
            switch buffer.interleave {
            case .strict: .strict
            case .lowLatency: .lowLatency
            }
        settings.hasWorked = hasWorked
        settings.isAdaptedTo = isServer && video.adaptive && video.changesBitrate && destination.adaptive
        return settings
    }

    /// The kind of sink and its settings; nil without a URL.
    private func kind(
        of destination: DestinationConfiguration, environment: [String: String]
    ) -> DestinationSettings.Kind? {
        switch destination.url {
        case .none: nil
        case .rtmp(let url): .rtmp(rtmp(destination, url, environment: environment))
        case .flvFile(let file): .flvFile(self.file(destination, file.path))
        }
    }

    /// The limits of bitrate adaptation.
    var bitrateLimits: BitrateController.Limits {
        BitrateController.Limits(ceiling: video.bitrate, floor: video.minBitrate, audio: audio.bitrate)
    }

    /// The memory of all destinations: for each, a copy of one packet and what its sink buffers. Without a destination,
    /// a server is assumed.
    var sendBufferBytes: Int {
        (destinations.isEmpty ? [DestinationConfiguration()] : destinations).reduce(0) { sum, destination in
            let kind = kind(of: destination, environment: [:])
            return sum + maximumPacketBytes + (kind?.bufferedBytes ?? RTMPDestinationSettings.bufferedBytes)
        }
    }

    private func reconnectPolicy(_ destination: DestinationConfiguration) -> ReconnectPolicy {
        guard destination.reconnect else { return .never }
        var policy = ReconnectPolicy()
        policy.firstDelay = destination.reconnectFirst
        policy.longestDelay = destination.reconnectLongest
        policy.maximumAttempts = destination.reconnectAttempts == 0 ? nil : destination.reconnectAttempts
        return policy
    }

    /// A keyframe can fill the whole VBV at once. The encoder can exceed that by half.
    var maximumPacketBytes: Int {
        max(256 * 1024, Int(Double(video.bitrate) / 8 * video.vbv.secondsAsDouble * 1.5))
    }

    /// A quarter of a second of the broadcast, or at least the size of a small broadcast's keyframe.
    private var quarterSecondBytes: Int { max(32 * 1024, (video.bitrate + audio.bitrate) / 8 / 4) }

    private func file(_ destination: DestinationConfiguration, _ path: String) -> FLVFileSettings {
        var file = FLVFileSettings(path: path)
        file.rotateBytes = destination.rotateBytes == 0 ? nil : destination.rotateBytes
        file.rotateAfter = destination.rotateAfter == .zero ? nil : destination.rotateAfter
        file.sync =
            switch destination.sync {
            case .never: .never
            case .atEnd: .atSegmentEnd
            case .periodic: .every(destination.syncPeriod)
            }
        return file
    }

    private func rtmp(
        _ destination: DestinationConfiguration, _ url: RTMPEndpoint, environment: [String: String]
    ) -> RTMPDestinationSettings {
        // A separate key is read before each connection. A configuration without any key does not load.
        let (endpoint, key) =
            destination.hasSeparateKey ? (url, Secret("")) : (try? url.splittingKey()) ?? (url, Secret(""))
        var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: key)
        rtmp.secretFiles = destination.secretFiles
        rtmp.readSecrets = { () throws(PublishError) in
            do {
                let login = try destination.login(environment: environment)
                return RTMPSecrets(
                    key: try destination.streamKey(environment: environment),
                    credentials: login.map { RTMPCredentials(user: $0.user, password: $0.password) })
            } catch {
                throw PublishError(.secret, "\(error)")
            }
        }
        rtmp.addressTimeout = destination.addressTimeout
        rtmp.allowsRedirect = destination.allowRedirect
        rtmp.connectTimeout = destination.connectTimeout
        rtmp.handshakeTimeout = destination.handshakeTimeout
        rtmp.sendTimeout = destination.sendTimeout
        rtmp.acknowledgementTimeout = destination.acknowledgementTimeout
        rtmp.acknowledgementWindow = UInt32(clamping: quarterSecondBytes)
        // `waitForRoom` waits for half of it.
        rtmp.sendAheadBytes = 2 * quarterSecondBytes
        rtmp.caFile = destination.caFile
        rtmp.caFolder = destination.secretsFolder
        rtmp.verifiesCertificate = destination.verifyTLS
        rtmp.chunkSize = destination.chunkSize
        return rtmp
    }
}
