/// A profile of H.264. The raw value is its name in the configuration and in libx264.
package enum H264Profile: String, CaseIterable, Sendable {
    case baseline, main, high
}
