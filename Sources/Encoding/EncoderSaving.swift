/// What an encoder can do without when memory runs short, the cheapest for viewers first.
package enum EncoderSaving: CaseIterable, Sendable {
    /// A frame takes longer; it takes no more bits.
    case oneThread
    /// The picture gets worse by what `VideoEncoder.subpixelMotionPercent` less bits would make it.
    case noSubpixelMotion
}
