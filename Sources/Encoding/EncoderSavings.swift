/// What an encoder can do without when memory runs short.
package struct EncoderSavings: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A frame takes longer; it takes no more bits.
    package static let oneThread = EncoderSavings(rawValue: 1)
    /// The same picture takes `VideoEncoder.subpixelMotionPercent` more bits.
    package static let noSubpixelMotion = EncoderSavings(rawValue: 2)

    /// One at a time, the cheapest for viewers first.
    package static let each: [EncoderSavings] = [.oneThread, .noSubpixelMotion]
}
