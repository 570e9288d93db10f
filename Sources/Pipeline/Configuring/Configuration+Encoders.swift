package import Configuration
internal import Encoding

extension Configuration {
    /// The problems that the encoders report about this configuration, found by opening both. For `--check-config`; a
    /// broadcast would only find them when its client comes.
    ///
    /// - Parameter isWhole: false if refused keys have their defaults here. Then it reports only errors that a single
    ///   key causes.
    package func encoderProblems(places: ConfigurationPlaces, isWhole: Bool = true) -> [ConfigurationProblem] {
        // The error says what is wrong; libav's own messages add nothing.
        LibAVLog.install { _, _ in }
        var problems: [ConfigurationProblem] = []
        do throws(EncodingError) { _ = try VideoEncoder(videoEncoderSettings(memoryFit)) } catch {
            if isWhole || Self.isOfOneKey(error) { problems.append(problem(error, of: "video", places)) }
        }
        do throws(EncodingError) { _ = try AudioEncoder(audioEncoderSettings) } catch {
            if isWhole || Self.isOfOneKey(error) { problems.append(problem(error, of: "audio", places)) }
        }
        return problems
    }

    private static func isOfOneKey(_ error: EncodingError) -> Bool {
        switch error {
        case .encoderNotFound, .wrongCodec, .inputFormat, .option: true
        case .invalidSetting, .failed, .outOfMemory, .configuration, .timeDidNotRise, .finished: false
        }
    }

    private func problem(_ error: EncodingError, of section: String, _ places: ConfigurationPlaces)
        -> ConfigurationProblem
    {
        let (key, remedy) =
            switch error {
            case .option(_, let name, _, _):
                if video.encoderOptions[name] != nil {
                    ("encoder_options", "remove it, or see ffmpeg -h encoder=\(video.encoder) for what there is")
                } else {
                    (name, "see ffmpeg -h encoder=\(video.encoder) for what it takes")
                }
            case .encoderNotFound, .wrongCodec, .inputFormat:
                ("encoder", "write one that this machine has")
            default: ("encoder", "see ffmpeg -h encoder=\(video.encoder)")
            }
        let path = "\(section).\(key)"
        return ConfigurationProblem(place: places[path], key: path, what: "\(error)", remedy: remedy)
    }
}
