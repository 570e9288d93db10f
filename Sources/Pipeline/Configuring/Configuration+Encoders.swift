package import Configuration
internal import Encoding

extension Configuration {
    /// What the encoders refuse of this configuration, found by opening both. For `--check-config`: a broadcast would
    /// only find out when its client comes.
    package func encoderProblems(places: ConfigurationPlaces) -> [ConfigurationProblem] {
        // What is wrong is said by the error; what libav says beside it is no use here.
        LibAVLog.install { _, _ in }
        var problems: [ConfigurationProblem] = []
        do throws(EncodingError) { _ = try VideoEncoder(videoEncoderSettings(memoryFit)) } catch {
            problems.append(problem(error, of: "video", places))
        }
        do throws(EncodingError) { _ = try AudioEncoder(audioEncoderSettings) } catch {
            problems.append(problem(error, of: "audio", places))
        }
        return problems
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
