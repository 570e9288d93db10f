internal import FrameGeometry
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// Plans how a client's frames come onto the canvas. While their format and orientation stay, nothing is planned again.
///
/// Ingest thread only, but for `sourceDescription`.
final class FramePlanner: @unchecked Sendable /* `planned` belongs to the ingest thread */ {
    private let canvas: CanvasFormat
    private let fit: FitMode
    private let convention: OrientationConvention
    private let counters: BroadcastCounters
    private var planned: (source: VideoSampleFormat, transform: UprightTransform, plan: GeometryPlan)?
    private let sourceText = Monitor("")

    init(canvas: CanvasFormat, fit: FitMode, convention: OrientationConvention, counters: BroadcastCounters) {
        (self.canvas, self.fit, self.convention, self.counters) = (canvas, fit, convention, counters)
    }

    /// Any thread: the last frame's format, for people; empty before the first.
    var sourceDescription: String { sourceText.withLock { $0 } }

    /// The last frame's plan; nil before the first.
    var latest: GeometryPlan? { planned?.plan }

    /// What turns a frame upright. Counts tags that are missing or invalid; such frames are not turned.
    func transform(of message: VideoMessage) -> UprightTransform {
        guard let tag = message.orientation else {
            (message.orientationRaw == 0 ? counters.orientationMissing : counters.orientationInvalid).add()
            return .identity
        }
        return convention.uprightTransform(for: tag)
    }

    /// The plan for a frame, which is the latest from now on.
    func plan(for message: VideoMessage) -> GeometryPlan {
        let (source, transform) = (message.format, transform(of: message))
        if let planned, planned.source == source, planned.transform == transform { return planned.plan }
        if planned != nil { counters.formatChanges.add() }
        let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: fit)
        planned = (source, transform, plan)
        let turn = transform == .identity ? "" : ", \(transform)"
        let text = "\(source.width)x\(source.height) \(source.pixelFormat.fourCC)\(turn)"
        sourceText.withLock { $0 = text }
        return plan
    }

    /// The latest plan, where it is that of this frame, too.
    func latest(for message: VideoMessage) -> GeometryPlan? {
        guard let planned, planned.source == message.format, planned.transform == transform(of: message) else {
            return nil
        }
        return planned.plan
    }
}
