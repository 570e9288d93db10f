internal import Buffering
internal import Configuration
internal import MediaCore
internal import Publishing

extension Configuration {
    /// What each destination needs, stream keys included: read now, so that a key that was replaced is used.
    func destinationSettings(environment: [String: String]) throws(WorkerFailure) -> [DestinationSettings] {
        var settings: [DestinationSettings] = []
        for destination in destinations {
            do {
                settings.append(
                    DestinationSettings(
                        name: destination.name, kind: try kind(of: destination, environment),
                        maximumPacketBytes: maximumPacketBytes, cursorPolicy: cursorPolicy(destination)))
            } catch {
                throw WorkerFailure(sentence: "destination \(destination): \(error)")
            }
        }
        return settings
    }

    /// A keyframe can take the whole VBV at once, and half as much again where the encoder overshoots.
    var maximumPacketBytes: Int {
        max(256 * 1024, Int(Double(video.bitrate) / 8 * video.vbv.secondsAsDouble * 1.5))
    }

    private func cursorPolicy(_ destination: DestinationConfiguration) -> CursorPolicy? {
        guard case .rtmp = destination.url else { return nil }
        return CursorPolicy(softLimit: buffer.dropDisposable, hardLimit: buffer.dropToKeyframe)
    }

    private func kind(of destination: DestinationConfiguration, _ environment: [String: String]) throws
        -> DestinationSettings.Kind
    {
        switch destination.url {
        case .none: preconditionFailure("a loaded configuration has a URL for each destination")
        case .flvFile(let path): return .flvFile(FLVFileSettings(path: path))
        case .rtmp(let whole):
            let separate = try destination.streamKey(environment: environment)
            let (endpoint, key) = try separate.map { (whole, $0) } ?? whole.splittingKey()
            var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: key)
            rtmp.connectTimeout = destination.connectTimeout
            rtmp.handshakeTimeout = destination.handshakeTimeout
            rtmp.sendTimeout = destination.sendTimeout
            rtmp.caFile = destination.caFile
            rtmp.verifiesCertificate = destination.verifyTLS
            rtmp.chunkSize = destination.chunkSize
            return .rtmp(rtmp)
        }
    }
}
