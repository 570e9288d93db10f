internal import Buffering
internal import FrameGeometry
internal import MediaCore
internal import Painting
internal import Privacy

/// What viewers are shown next: a client's picture or the curtain, with everything covered that is to stay hidden.
///
/// Video thread only. Owns the picture, and gives the one that it replaces back to the slot. Ingest may still be
/// comparing with what is shown, so it is painted on only where the slot has no other picture.
struct ShownPicture {
    private(set) var picture: Picture
    /// The standing regions' version that it hides.
    private(set) var regions: RegionsVersion = .first
    /// It is the curtain, or the background that opens a broadcast.
    private(set) var isCurtained = true
    /// How it came onto the canvas; nil for the curtain and the background.
    private var plan: GeometryPlan?

    private let slot: FrameSlot<VideoFrameTag>
    private let painter: CurtainPainter
    private let standing: StandingRegions
    private let secureColor: CanvasColor

    /// - Parameter background: one of the slot's pictures, for the beginning.
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

    /// Takes a client's picture. Until `reveal`, it counts as curtained.
    mutating func show(_ next: Picture, _ tag: VideoFrameTag) {
        replace(with: next)
        plan = tag.plan
        regions = tag.regions
    }

    /// It may be encoded: the curtain has not been raised since it came.
    mutating func reveal() { isCurtained = false }

    private mutating func replace(with next: Picture) {
        slot.recycle(picture)
        picture = next
    }

    // MARK: The curtain

    /// The curtain takes the picture's place.
    mutating func drawCurtain() {
        let curtain = slot.acquire() ?? picture
        painter.paint(curtain.planes, after: picture.planes)
        // The curtain is where the bars were.
        curtain.renewSerial()
        if curtain !== picture {
            replace(with: curtain)
            regions = standing.version
        }
        plan = nil
        isCurtained = true
    }

    /// What a curtain stands in for.
    struct Covered {
        fileprivate var picture: Picture
        fileprivate var plan: GeometryPlan?
        fileprivate var regions: RegionsVersion
    }

    /// A curtain through which nothing shows takes the picture's place until `uncover`; nil where no picture is free.
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

    /// Paints over what has been named since the picture was taken, on a screen that may stand still. What is not named
    /// any more comes back with the client's next picture. False where there is nothing to paint.
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
        if let copy = slot.acquire() {
            copy.copySamples(of: picture)
            replace(with: copy)
        }
        CanvasRedaction.paint(hidden, of: plan, on: picture.planes, secureColor)
        return true
    }

    /// A blurred picture cannot be covered by region, so the glass is painted anew, with nothing behind it.
    private func clearGlass() -> Bool {
        guard isCurtained, painter.showsThrough, !standing.all.isEmpty else { return false }
        painter.paint(picture.planes, after: nil)
        return true
    }
}
