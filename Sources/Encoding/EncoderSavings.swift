/// Changes of an encoder that save memory.
package struct EncoderSavings: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Encoding takes longer, at the same quality.
    package static let oneThread = EncoderSavings(rawValue: 1)
    /// The same picture takes `VideoEncoder.subpixelMotionPercent` more bits.
    package static let noSubpixelMotion = EncoderSavings(rawValue: 2)

    /// In the order of their cost for viewers, lowest first.
    package static let each: [EncoderSavings] = [.oneThread, .noSubpixelMotion]
}
