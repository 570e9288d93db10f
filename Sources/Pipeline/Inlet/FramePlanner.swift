internal import FrameGeometry
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// Plans the place of a client's frames on the canvas. Plans again only if format or orientation change.
///
/// Ingest thread only, apart from `sourceDescription`.
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

    /// Any thread: the last frame's format, for messages; empty before the first frame.
    var sourceDescription: String { sourceText.withLock { $0 } }

    /// The last frame's plan; nil before the first frame.
    var latest: GeometryPlan? { planned?.plan }

    /// The transform that turns a frame upright. Counts missing and invalid tags; frames with these are not turned.
    func transform(of message: VideoMessage) -> UprightTransform {
        guard let tag = message.orientation else {
            (message.orientationRaw == 0 ? counters.orientationMissing : counters.orientationInvalid).add()
            return .identity
        }
        return convention.uprightTransform(for: tag)
    }

    /// Returns the plan for a frame, and makes it the latest.
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

    /// The latest plan if it also fits this frame; else nil.
    func latest(for message: VideoMessage) -> GeometryPlan? {
        guard let planned, planned.source == message.format, planned.transform == transform(of: message) else {
            return nil
        }
        return planned.plan
    }
}
