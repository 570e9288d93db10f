package import Configuration
internal import Encoding

extension Configuration {
    /// What an encoder refuses of this configuration, as a sentence, found by opening both; nil when they take it. For
    /// `--check-config`: a broadcast would only find out when its client comes.
    package var encoderProblem: String? {
        // What is wrong is said by the error; what libav says beside it is no use here.
        LibAVLog.install { _, _ in }
        do {
            _ = try VideoEncoder(videoEncoderSettings)
            _ = try AudioEncoder(audioEncoderSettings)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
