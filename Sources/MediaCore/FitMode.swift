/// How an upright picture is placed on a canvas of another shape.
package enum FitMode: String, CaseIterable, Sendable {
    /// The whole picture, centred, with bars (letterbox or pillarbox).
    case fit
    /// The whole canvas, centred; what hangs over is cropped.
    case fill
    /// The whole picture on the whole canvas; the aspect ratio gives way.
    case stretch
}
