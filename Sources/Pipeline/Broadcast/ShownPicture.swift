internal import Buffering
internal import FrameGeometry
internal import MediaCore
internal import Painting
internal import Privacy

/// The picture that viewers see next: a client's picture or the curtain, with all regions covered.
///
/// Video thread only. It owns the picture and gives a replaced one back to the slot. Ingest may still compare new
/// pictures with the shown one, so painting on it is the last resort when the slot has no other picture.
struct ShownPicture {
    private(set) var picture: Picture
    /// The version of the standing regions that the picture hides.
    private(set) var regions: RegionsVersion = .first
    /// The picture is the curtain, or the background that opens a broadcast.
    private(set) var isCurtained = true
    /// How the picture was placed on the canvas; nil for the curtain and the background.
    private var plan: GeometryPlan?

    private let slot: FrameSlot<VideoFrameTag>
    private var painter: CurtainPainter
    private let standing: StandingRegions
    private let secureColor: CanvasColor

    /// - Parameter background: one of the slot's pictures, shown at the beginning.
    init(
        _ background: Picture, slot: FrameSlot<VideoFrameTag>, painter: CurtainPainter, standing: StandingRegions,
        secureColor: CanvasColor
    ) {
        picture = background
        self.slot = slot
        self.painter = painter
        self.standing = standing
        self.secureColor = secureColor
    }

    /// Takes a client's picture. It counts as curtained until `reveal`.
    mutating func show(_ next: Picture, _ tag: VideoFrameTag) {
        replace(with: next)
        plan = tag.plan
        regions = tag.regions
    }

    /// Marks the picture as free to be encoded: the curtain has not been raised since it came.
    mutating func reveal() { isCurtained = false }

    private mutating func replace(with next: Picture) {
        slot.recycle(picture)
        picture = next
    }

    // MARK: The curtain

    /// Uses another painter from now on. A curtain that is drawn is painted again, and nothing shows through it then.
    ///
    /// - Parameter isDrawn: the curtain is up, and has been drawn.
    mutating func use(_ painter: CurtainPainter, isDrawn: Bool) {
        self.painter = painter
        guard isDrawn, isCurtained else { return }
        slot.forgetNewest()
        if let copy = slot.acquireFree() { replace(with: copy) }
        painter.paint(picture.planes, after: nil)
        picture.renewSerial()
    }

    /// Replaces the picture with the curtain. A waiting picture stays in the slot, because the client may send no
    /// other. Cover the standing regions first: the curtain may let the picture show through.
    mutating func drawCurtain() {
        let curtain = slot.acquireFree() ?? picture
        painter.paint(curtain.planes, after: picture.planes)
        // The curtain also covers the bars.
        curtain.renewSerial()
        if curtain !== picture { replace(with: curtain) }
        plan = nil
        isCurtained = true
    }

    /// The picture that a temporary curtain has replaced.
    struct Covered {
        fileprivate var picture: Picture
        fileprivate var plan: GeometryPlan?
        fileprivate var regions: RegionsVersion
    }

    /// Replaces the picture with an opaque curtain until `uncover`. Returns nil if no picture is free.
    mutating func coverForNow() -> Covered? {
        guard let curtain = slot.acquireFree() else { return nil }
        painter.paint(curtain.planes, after: nil)
        curtain.renewSerial()
        let covered = Covered(picture: picture, plan: plan, regions: regions)
        (picture, plan) = (curtain, nil)
        return covered
    }

    mutating func uncover(_ covered: Covered) {
        slot.recycle(picture)
        (picture, plan, regions) = (covered.picture, covered.plan, covered.regions)
    }

    // MARK: Standing regions

    /// Covers standing regions that were added since the picture was taken, because the screen may stand still. A
    /// removed region becomes visible with the client's next picture. Returns false if there is nothing to paint.
    @discardableResult
    mutating func coverStandingRegions() -> Bool {
        guard standing.version != regions else { return false }
        regions = standing.version
        guard let plan else { return clearGlass() }
        var hidden = SecureRegions()
        standing.hide(
            in: &hidden, width: plan.source.width, height: plan.source.height, transform: plan.transform)
        guard !hidden.isEmpty else { return false }
        slot.forgetNewest()
        if let copy = slot.acquireFree() {
            copy.copySamples(of: picture)
            replace(with: copy)
        }
        CanvasRedaction.paint(hidden, of: plan, on: picture.planes, secureColor)
        return true
    }

    /// Repaints a frosted curtain without the picture behind it, because a blurred picture cannot be covered by
    /// region.
    private func clearGlass() -> Bool {
        guard isCurtained, painter.showsThrough, !standing.all.isEmpty else { return false }
        painter.paint(picture.planes, after: nil)
        return true
    }
}
