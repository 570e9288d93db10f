/// How an upright picture is placed on a canvas of another shape.
package enum FitMode: String, CaseIterable, Sendable {
    /// The whole picture, centred, with bars (letterbox or pillarbox).
    case fit
    /// The whole canvas is filled; the picture is centred, and its overhang is cropped.
    case fill
    /// The whole picture is stretched to the whole canvas; the aspect ratio changes.
    case stretch
}
