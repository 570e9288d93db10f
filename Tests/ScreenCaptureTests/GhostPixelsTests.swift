import Grabbing
import MediaCore
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: what a secure window leaves on the screen is hidden until it is painted over, also where other windows take
/// it.
@Suite struct GhostPixelsTests {
    private static let bounds = rectangle(0, 0, 1000, 800)
    private static let place = rectangle(0, 0, 100, 100)

    private static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> CaptureRectangle {
        CaptureRectangle(x: x, y: y, width: width, height: height)
    }

    private static func facts(
        _ window: UInt32, _ place: CaptureRectangle = place, secure: UInt32 = 0,
        isEmptyFrame: Bool = false, inside: [UInt32] = []
    ) -> WindowFacts {
        WindowFacts(
            place: place, isViewable: true, secure: secure, client: window,
            isEmptyFrame: isEmptyFrame, inside: inside)
    }

    /// Two windows at one place, the first of which may be secure. The second one is above it.
    private static func model(secure: UInt32 = 1, inside: [UInt32] = []) -> WindowModel {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.addAndRead([1: facts(1, secure: secure), 2: facts(2, inside: inside)])
        return model
    }

    /// A client has come into a frame on the screen and ended, all before the first look at the frame.
    private static func frameFoundEmpty(isComposited: Bool = false) -> WindowModel {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.isComposited = isComposited
        model.apply(WindowEvent(.came(Self.place), 2, sequence: 11))
        model.apply(WindowEvent(.came(Self.place), 1, sequence: 11))
        model.apply(WindowEvent(.went, 2, sequence: 11))
        model.apply(WindowEvent(.mapped, 1, sequence: 12))
        model.read([1: Self.facts(1, isEmptyFrame: true)])
        return model
    }

    private static func hidden(_ model: WindowModel) -> Set<String> {
        Set(model.secrets(hidesUnknown: true).places.map(\.name))
    }

    private static func left(_ model: WindowModel) -> [String] { model.leftBehind.map(\.name) }

    @Test(arguments: [WindowEvent.Kind.unmapped, .went]) func untilItIsPaintedOver(kind: WindowEvent.Kind) {
        var model = Self.model()
        #expect(Self.left(model) == [])
        model.apply(WindowEvent(kind, 1, sequence: 11))
        #expect(Self.hidden(model) == ["100x100+0+0"] && Self.left(model) == ["100x100+0+0"])
        model.erase([Self.rectangle(0, 0, 100, 60)], sequence: 20)
        #expect(Self.hidden(model) == ["100x100+0+0"] && model.isErasing, "no picture was made since")
        model.endPicture()
        #expect(Self.hidden(model) == ["100x40+0+60"] && !model.isErasing)
        model.erase([Self.rectangle(0, 60, 100, 40)], sequence: 21)
        model.endPicture()
        #expect(Self.hidden(model) == [])
    }

    /// Nothing has to be painted over where hidden windows cover what is left, also together.
    @Test func coveredByHiddenWindows() {
        var model = Self.model()
        model.addAndRead([3: Self.facts(3, secure: 1)])
        model.read([2: Self.facts(2, secure: 1)])
        model.apply(WindowEvent(.moved(Self.rectangle(40, 0, 100, 100)), 2, sequence: 11))
        model.apply(WindowEvent(.moved(Self.rectangle(-60, 0, 100, 100)), 3, sequence: 12))
        model.apply(WindowEvent(.unmapped, 1, sequence: 13))
        #expect(Self.left(model) == [])
        model.apply(WindowEvent(.unmapped, 3, sequence: 14))
        #expect(Set(Self.left(model)) == ["40x100+0+0"])
    }

    /// What happens before the request is painted over, although it is told afterwards; what happens later is not.
    @Test(arguments: [(UInt32(0xffff_ffff), true), (0, false), (1, false)])
    func inTheOrderOfTheServer(sequence: UInt32, isErased: Bool) {
        var model = Self.model(secure: 0)
        model.erase([Self.place], sequence: 0)
        for kind in [WindowEvent.Kind.came(Self.place), .mapped, .went] {
            model.apply(WindowEvent(kind, 3, sequence: sequence))
        }
        model.endPicture()
        #expect(Self.hidden(model).isEmpty == isErased)
    }

    @Test func aMoveLeavesTheOldPlace() {
        var model = Self.model()
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 11))
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 12, level: .highest))
        #expect(Self.hidden(model).count == 2 && Self.left(model) == ["100x100+0+0"], "it was raised")
        // Another window takes the pixels along.
        model.apply(WindowEvent(.moved(Self.rectangle(0, 200, 100, 100)), 2, sequence: 13))
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0", "100x100+0+200"])
    }

    /// A window without a background shows what is below it, and takes that along.
    @Test(arguments: ["mapped", "raised", "lowered", "grown", "from outside"])
    func aWindowAboveASecureOne(how: String) {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        let above = Self.rectangle(50, 50, 100, 100)
        model.addAndRead([1: Self.facts(1, secure: 1), 2: Self.facts(2, above)])
        if how == "raised" || how == "lowered" {
            model.apply(WindowEvent(.restacked, 1, sequence: 11, level: .highest))
        }
        switch how {
        case "mapped":
            model.apply(WindowEvent(.unmapped, 2, sequence: 12))
            model.apply(WindowEvent(.mapped, 2, sequence: 13))
        case "raised": model.apply(WindowEvent(.moved(above), 2, sequence: 13, level: .above(1)))
        case "lowered": model.apply(WindowEvent(.moved(Self.place), 1, sequence: 13, level: .lowest))
        case "grown":
            model.apply(WindowEvent(.moved(Self.rectangle(300, 300, 50, 50)), 2, sequence: 12))
            model.apply(WindowEvent(.moved(above), 2, sequence: 13))
        default:
            model.apply(WindowEvent(.moved(Self.rectangle(-50, 300, 100, 100)), 2, sequence: 12))
            model.apply(WindowEvent(.moved(above), 2, sequence: 13))
        }
        #expect(Self.left(model) == [], "the secure window hides it")
        model.apply(WindowEvent(.moved(Self.rectangle(450, 50, 100, 100)), 2, sequence: 14))
        #expect(Self.left(model) == ["50x50+450+50"])
    }

    /// A window that nothing covers has drawn all that it shows.
    @Test func aWindowThatIsDraggedOverASecureOne() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.addAndRead([1: Self.facts(1, secure: 1), 2: Self.facts(2, Self.rectangle(300, 0, 100, 100))])
        for x in stride(from: 300, through: 0, by: -20) {
            model.apply(WindowEvent(.moved(Self.rectangle(x, 0, 100, 100)), 2, sequence: 11, level: .above(1)))
        }
        model.apply(WindowEvent(.moved(Self.rectangle(0, 300, 100, 100)), 2, sequence: 12))
        #expect(Self.hidden(model) == ["100x100+0+0"] && Self.left(model) == [])
    }

    /// Nobody knows where in a window its pixels go when windows in it move, or when it gets another size.
    @Test(arguments: [WindowEvent.Kind.movedInside, .moved(rectangle(40, 0, 80, 100))])
    func whatMovesInside(kind: WindowEvent.Kind) {
        var model = Self.model(inside: [2, 21])
        model.apply(WindowEvent(.moved(Self.rectangle(40, 0, 100, 100)), 2, sequence: 11))
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        #expect(Self.hidden(model) == ["100x100+0+0"])
        model.apply(WindowEvent(kind, kind == .movedInside ? 21 : 2, sequence: 13))
        #expect(Self.hidden(model) == ["100x100+0+0", kind == .movedInside ? "100x100+40+0" : "80x100+40+0"])
    }

    /// What moves in a window that was not looked at has no events: by the time of the request, and until it is read.
    @Test(arguments: [true, false]) func anUnknownWindow(isRead: Bool) {
        var model = Self.model()
        model.apply(WindowEvent(.unmapped, 1, sequence: 20))
        model.apply(WindowEvent(.came(Self.rectangle(40, 0, 100, 100)), 3, sequence: 21))
        model.apply(WindowEvent(.mapped, 3, sequence: 22))
        if isRead {
            model.read([3: Self.facts(3, Self.rectangle(40, 0, 100, 100))])
            #expect(Self.hidden(model) == ["100x100+0+0", "100x100+40+0"])
        }
        model.erase([Self.place], sequence: 40)
        model.endPicture()
        #expect(Self.left(model) == (isRead ? ["40x100+100+0"] : []), "the unknown window is hidden itself")
        model.read([3: Self.facts(3, Self.rectangle(40, 0, 100, 100))])
        let rest = ["40x100+100+0"] + (isRead ? [] : ["100x100+40+0"])
        #expect(Self.left(model) == rest, "what was inside may have moved since")
        // A window comes into it, which nobody has looked at.
        model.erase([Self.rectangle(40, 0, 80, 100)], sequence: 60)
        model.apply(WindowEvent(.cameInside(isStranger: false), 3, sequence: 55))
        model.endPicture()
        model.read([3: Self.facts(3, Self.rectangle(40, 0, 100, 100))])
        #expect(Self.left(model).contains("100x100+40+0"))
        model.erase([Self.rectangle(40, 0, 100, 100)], sequence: 80)
        model.endPicture()
        #expect(Self.left(model) == [])
    }

    /// A window that has moved before anything is known of it.
    @Test(arguments: [true, false]) func unknownWindows(isFoundEmpty: Bool) {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(.cameInside(isStranger: true), 1, sequence: 11))
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 12))
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
        let place = Self.rectangle(300, 0, 100, 100)
        if isFoundEmpty {
            model.read([1: Self.facts(1, place, isEmptyFrame: true)])
            #expect(
                Self.hidden(model) == ["100x100+0+0", "100x100+300+0"], "an empty frame does not tell whose it was")
        }
        // What is in it later is another one.
        model.read([1: Self.facts(1, place)])
        #expect(Self.hidden(model) == (isFoundEmpty ? ["100x100+0+0", "100x100+300+0"] : []))
    }

    /// What a window shows of its time as a secure one stays hidden until it is painted over, however often it changes.
    @Test func aWindowThatIsSecureNoMore() {
        var model = Self.model()
        for sequence in [20, 30, 40] as [UInt32] {
            model.apply(WindowEvent(.changed, 1, sequence: sequence))
            model.read([1: Self.facts(1)])
            #expect(Self.hidden(model) == ["100x100+0+0"] && Self.left(model) == ["100x100+0+0"], "\(sequence)")
        }
        model.erase([Self.place], sequence: 50)
        model.endPicture()
        #expect(Self.hidden(model) == [])
    }

    /// What it left while nobody knew it is secret if it is secure then, whatever it is later.
    @Test func aWindowThatTurnsOutToBeSecure() {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(.changed, 1, sequence: 11))
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 12))
        let place = Self.rectangle(300, 0, 100, 100)
        model.read([1: Self.facts(1, place, secure: 1)])
        model.apply(WindowEvent(.changed, 1, sequence: 21))
        model.read([1: Self.facts(1, place)])
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
    }

    /// A client ends inside its frame, which the manager removes later.
    @Test func aFrameWithoutItsClient() {
        var model = Self.model()
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 11))
        model.apply(WindowEvent(.changed, 1, sequence: 12))
        model.read([1: Self.facts(1, Self.rectangle(300, 0, 100, 100))])
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"], "its pixels are still there")
    }

    /// A secure client ends, and its frame moves, with its pixels, before it is looked at again.
    @Test(arguments: [true, false]) func aFrameThatMovesBeforeItIsFoundEmpty(isComposited: Bool) {
        var model = Self.model()
        model.isComposited = isComposited
        model.apply(WindowEvent(.rearranged, 1, sequence: 11, destroyed: 100))
        for x in [300, 600] { model.apply(WindowEvent(.moved(Self.rectangle(x, 0, 100, 100)), 1, sequence: 12)) }
        let places: Set = ["100x100+0+0", "100x100+300+0", "100x100+600+0"]
        _ = model.takeLeft()
        model.read([1: Self.facts(1, isEmptyFrame: true)])
        #expect(!model.hasUnknown)
        #expect(Self.hidden(model) == (isComposited ? ["100x100+600+0"] : places))
        #expect(model.takeLeft().compactMap(\.place?.name) == (isComposited ? ["100x100+600+0"] : []))
        model.apply(WindowEvent(.moved(Self.rectangle(900, 0, 100, 100)), 1, sequence: 13))
        #expect(Self.hidden(model).contains("100x100+900+0"), "it takes them along")
    }

    /// A window wants to be hidden no more, and moves before it is looked at.
    @Test func aWindowThatMovesWhileItIsSecureNoMore() {
        var model = Self.model()
        model.apply(WindowEvent(.changed, 1, sequence: 11))
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 12))
        model.read([1: Self.facts(1)])
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
    }

    /// Nobody looks at a window before it is gone, and another one gets its number.
    @Test func aNumberThatIsUsedAgain() {
        var model = Self.model(secure: 0)
        let place = Self.rectangle(500, 0, 100, 100)
        for kind in [WindowEvent.Kind.came(place), .mapped] { model.apply(WindowEvent(kind, 3, sequence: 11)) }
        model.apply(WindowEvent(.went, 3, sequence: 12, destroyed: 3))
        model.apply(WindowEvent(.came(Self.place), 3, sequence: 13))
        model.read([3: Self.facts(3)])
        #expect(Self.hidden(model) == ["100x100+500+0"])
        // It was inside a harmless one, which nobody has looked at since.
        model = Self.model(secure: 0, inside: [2, 21])
        model.apply(WindowEvent(.rearranged, 2, sequence: 11, destroyed: 21))
        for kind in [WindowEvent.Kind.came(place), .mapped, .moved(Self.place)] {
            model.apply(WindowEvent(kind, 21, sequence: 12))
        }
        #expect(Self.hidden(model).contains("100x100+500+0"))
    }

    /// A client leaves its frame for the root window, as when a manager ends: its size is not in the event.
    @Test(arguments: [UInt32(0), 1]) func aClientThatComesBack(secure: UInt32) {
        var model = Self.model(secure: secure, inside: [2, 21])
        let frame: UInt32 = secure == 0 ? 2 : 1
        if secure == 1 {
            model.apply(WindowEvent(.changed, 1, sequence: 11))
            model.read([1: Self.facts(1, secure: 1, inside: [1, 21])])
        }
        model.apply(WindowEvent(.rearranged, frame, sequence: 11))
        for kind in [WindowEvent.Kind.came(nil), .mapped, .moved(Self.place)] {
            model.apply(WindowEvent(kind, 21, sequence: 12))
        }
        #expect(Self.hidden(model).contains("1000x800+0+0") == (secure == 1))
    }

    /// An empty frame whose place is told by its facts only.
    @Test func anEmptyFrameOfUnknownPlace() {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(.came(Self.place), 4, sequence: 11))
        model.apply(WindowEvent(.went, 4, sequence: 12))
        model.apply(WindowEvent(.came(nil), 3, sequence: 13))
        model.apply(WindowEvent(.mapped, 3, sequence: 14))
        model.read([3: Self.facts(3, Self.rectangle(40, 0, 50, 50), isEmptyFrame: true)])
        #expect(Self.left(model) == ["50x50+40+0"])
    }

    /// A secure window that cannot be read is what it was.
    @Test func aReadingThatLacksAWindow() {
        var model = Self.model()
        model.apply(WindowEvent(.rearranged, 1, sequence: 11))
        model.erase([Self.place], sequence: 12)
        model.read([2: Self.facts(2)])
        #expect(model.unread.windows == [1] && Self.hidden(model) == ["100x100+0+0"])
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 13))
        #expect(Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
    }

    /// What a reading finds on the screen was drawn after the last request to paint it over.
    @Test func aFrameThatIsFoundEmptyDuringAnErasure() {
        var model = Self.model(secure: 0)
        model.erase([Self.place], sequence: 20)
        model.apply(WindowEvent(.cameInside(isStranger: true), 2, sequence: 19))
        model.read([2: Self.facts(2, isEmptyFrame: true)])
        #expect(!model.isErasing)
        model.endPicture()
        #expect(Self.left(model) == ["100x100+0+0"])
    }

    /// A client comes into its frame and ends before anything is known of it. What the manager makes in it is no
    /// client, and a client that was known is no secret.
    @Test(arguments: [WindowEvent.Kind.cameInside(isStranger: true), .cameInside(isStranger: false), .changed])
    func aFrameWhoseClientNobodyKnew(kind: WindowEvent.Kind) {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(kind, 1, sequence: 11))
        #expect(Self.left(model) == [])
        model.apply(WindowEvent(.changed, 1, sequence: 12))
        model.read([1: Self.facts(1, isEmptyFrame: true)])
        #expect(Self.hidden(model) == (kind == .cameInside(isStranger: true) ? ["100x100+0+0"] : []))
    }

    /// A harmless client ends, and the manager removes its frame before anybody looks: nothing of it is hidden.
    @Test(arguments: [WindowEvent.Kind.rearranged, .changed]) func aFrameThatIsRemoved(kind: WindowEvent.Kind) {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(kind, 1, sequence: 11, destroyed: 100))
        model.apply(WindowEvent(.rearranged, 1, sequence: 11))
        #expect(model.hasUnknown)
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        model.apply(WindowEvent(.went, 1, sequence: 13, destroyed: 1))
        #expect(Self.left(model) == (kind == .changed ? ["100x100+0+0"] : []), "it may have become secure")
    }

    /// The first look at a frame on the screen finds no client: one may have been there, if one is missing.
    @Test(arguments: [true, false]) func aFrameThatIsFoundEmpty(isOneMissing: Bool) {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.apply(WindowEvent(.came(Self.place), 1, sequence: 11))
        model.apply(WindowEvent(.came(Self.place), 2, sequence: 11))
        model.apply(WindowEvent(.mapped, 1, sequence: 12))
        if isOneMissing { model.apply(WindowEvent(.went, 2, sequence: 13)) }
        let facts = Self.facts(1, isEmptyFrame: true)
        model.read([1: facts])
        #expect(Self.left(model) == (isOneMissing ? ["100x100+0+0"] : []))
        // Others that come later are known.
        model.read([2: Self.facts(2)])
        model.apply(WindowEvent(.came(Self.rectangle(500, 0, 10, 10)), 3, sequence: 21))
        model.apply(WindowEvent(.mapped, 3, sequence: 22))
        model.read([3: Self.facts(3, Self.rectangle(500, 0, 10, 10), isEmptyFrame: true)])
        #expect(!Self.left(model).contains("10x10+500+0"))
    }

    /// A client comes into its frame, is seen there and ends, all before the first look at the frame.
    @Test(arguments: [true, false]) func aFrameThatWasSeenBeforeItIsFoundEmpty(isUnmapped: Bool) {
        let place = Self.rectangle(300, 0, 100, 100)
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.apply(WindowEvent(.came(Self.place), 2, sequence: 11))
        model.apply(WindowEvent(.came(Self.rectangle(0, 0, 1, 1)), 1, sequence: 11))
        model.apply(WindowEvent(.went, 2, sequence: 11))
        model.apply(WindowEvent(.moved(Self.place), 1, sequence: 12))
        model.apply(WindowEvent(.mapped, 1, sequence: 13))
        model.apply(WindowEvent(.moved(place), 1, sequence: 14))
        if isUnmapped { model.apply(WindowEvent(.unmapped, 1, sequence: 15)) }
        #expect(model.hasUnknown && Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
        model.read([1: Self.facts(1, place, isEmptyFrame: true)])
        #expect(!model.hasUnknown && Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
    }

    /// A harmless client comes into a frame that may still show one that is gone, and has not drawn yet.
    @Test(arguments: [true, false]) func aClientInAFrameThatWasFoundEmpty(isComposited: Bool) {
        var model = Self.frameFoundEmpty(isComposited: isComposited)
        _ = model.takeLeft()
        model.apply(WindowEvent(.cameInside(isStranger: true), 1, sequence: 13))
        model.read([1: Self.facts(1, inside: [3])])
        let left = model.takeLeft().compactMap(\.place?.name)
        #expect(isComposited ? left == ["100x100+0+0"] : Self.left(model) == ["100x100+0+0"])
        #expect(isComposited || Self.hidden(model) == ["100x100+0+0"])
        // It is hidden until it is painted over, and no longer.
        model.erase(model.leftBehind, sequence: 20)
        model.endPicture()
        #expect(Self.hidden(model) == [])
    }

    /// A client that nobody knew comes and ends, and another one comes, all before anybody looks.
    @Test(arguments: [true, false], [true, false]) func aClientAfterOneThatNobodyKnew(ends: Bool, isNew: Bool) {
        let places = [0, 150, 300, 450].map { Self.rectangle($0, 0, 100, 100) }
        var model = Self.model(secure: 0)
        if isNew {
            model.apply(WindowEvent(.came(Self.place), 3, sequence: 10))
            model.apply(WindowEvent(.mapped, 3, sequence: 10))
        } else {
            model.apply(WindowEvent(.cameInside(isStranger: true), 1, sequence: 10))
        }
        let frame: UInt32 = isNew ? 3 : 1
        model.apply(WindowEvent(.moved(places[1]), frame, sequence: 11))
        // Without an end, this is the manager's word that the client is managed now.
        model.apply(WindowEvent(.rearranged, frame, sequence: 12, destroyed: ends ? 33 : nil))
        model.apply(WindowEvent(.moved(places[2]), frame, sequence: 13))
        model.apply(WindowEvent(.cameInside(isStranger: true), frame, sequence: 14))
        model.apply(WindowEvent(.moved(places[3]), frame, sequence: 15))
        model.apply(WindowEvent(.changed, frame, sequence: 16))
        model.read([frame: Self.facts(frame, places[3], inside: [4])])
        #expect(Set(Self.left(model)) == (ends ? Set(places.map(\.name)) : []))
        // From here on, it is an ordinary window.
        model.erase(model.leftBehind, sequence: 20)
        model.endPicture()
        model.apply(WindowEvent(.cameInside(isStranger: true), frame, sequence: 21))
        model.read([frame: Self.facts(frame, places[3], inside: [4, 5])])
        #expect(Self.left(model) == [])
    }

    /// The same with a compositing manager, which keeps the pixels of the frame while it is on the screen.
    @Test(arguments: [true, false]) func aNewFrameWhoseClientNobodyKnew(isMappedAgain: Bool) {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.isComposited = true
        model.apply(WindowEvent(.came(Self.place), 1, sequence: 11))
        model.apply(WindowEvent(.cameInside(isStranger: true), 1, sequence: 12))
        model.apply(WindowEvent(.mapped, 1, sequence: 13))
        model.apply(WindowEvent(.rearranged, 1, sequence: 14, destroyed: 3))
        model.read([1: Self.facts(1, isEmptyFrame: true)])
        #expect(Self.hidden(model) == ["100x100+0+0"])
        if isMappedAgain {
            model.apply(WindowEvent(.unmapped, 1, sequence: 15))
            model.apply(WindowEvent(.mapped, 1, sequence: 16))
        }
        #expect(Self.hidden(model) == (isMappedAgain ? [] : ["100x100+0+0"]))
    }

    /// A client ends before the first look at its frame, which is looked at again later.
    @Test func aFrameThatIsFoundEmptyTwice() {
        let place = Self.rectangle(300, 0, 100, 100)
        var model = Self.frameFoundEmpty()
        model.apply(WindowEvent(.moved(place), 1, sequence: 13))
        model.apply(WindowEvent(.rearranged, 1, sequence: 14))
        model.read([1: Self.facts(1, place, isEmptyFrame: true)])
        #expect(!model.hasUnknown && Self.hidden(model) == ["100x100+0+0", "100x100+300+0"])
    }

    /// A compositing manager shows what an empty frame has of its client, wherever it moves.
    @Test(arguments: [true, false]) func anEmptyFrameWithACompositingManager(endIsTold: Bool) {
        var model = Self.frameFoundEmpty(isComposited: true)
        #expect(Self.hidden(model) == ["100x100+0+0"])
        if endIsTold { model.apply(WindowEvent(.rearranged, 1, sequence: 13, destroyed: 2)) }
        model.apply(WindowEvent(.moved(Self.rectangle(300, 0, 100, 100)), 1, sequence: 14))
        model.apply(WindowEvent(.moved(Self.rectangle(600, 0, 100, 100)), 1, sequence: 15))
        #expect(Self.hidden(model) == ["100x100+600+0"])
        model.apply(WindowEvent(.unmapped, 1, sequence: 16))
        let left = Set(model.takeLeft().compactMap(\.place?.name))
        #expect(left == ["100x100+0+0", "100x100+300+0", "100x100+600+0"])
    }

    /// When it ends, what it has painted last stays on the screen.
    @Test func theEndOfACompositingManager() {
        var model = Self.model()
        model.isComposited = true
        model.leaveEverywhere()
        #expect(Self.left(model) == [], "the manager paints it")
        model.apply(WindowEvent(.unmapped, 1, sequence: 11))
        model.isComposited = false
        model.leaveEverywhere()
        #expect(Self.left(model) == ["1000x800+0+0"])
    }

    /// What a manager has from the start is hidden once.
    @Test func panelsOfACompositingManager() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.isComposited = true
        model.addAndRead([1: Self.facts(1, isEmptyFrame: true)])
        #expect(model.takeLeft().compactMap(\.place?.name) == ["100x100+0+0"] && Self.hidden(model) == [])
    }

    /// A frame that was never on the screen shows nothing.
    @Test(arguments: [true, false]) func aFrameThatStaysUnmapped(isComposited: Bool) {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.isComposited = isComposited
        model.apply(WindowEvent(.came(Self.place), 2, sequence: 11))
        model.apply(WindowEvent(.came(Self.place), 1, sequence: 11))
        model.apply(WindowEvent(.went, 2, sequence: 11))
        #expect(model.unread.windows == [1])
        model.read([1: Self.facts(1, isEmptyFrame: true)])
        #expect(model.unread.windows == [])
        model.apply(WindowEvent(.mapped, 1, sequence: 31))
        #expect(Self.hidden(model) == [])
    }

    /// At the start, a frame without a client may be left from one that has just ended.
    @Test func aFrameThatIsThereAtTheStart() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, showsScreen: true)
        model.addAndRead([1: Self.facts(1, isEmptyFrame: true)])
        #expect(Self.left(model) == ["100x100+0+0"])
    }

    /// With another size of the screen, servers may show its pixels anywhere.
    @Test(arguments: [UInt32(0), 1]) func aScreenThatGetsAnotherSize(secure: UInt32) {
        var model = Self.model(secure: secure)
        model.resize(to: Self.rectangle(0, 0, 640, 480), showsSecrets: false)
        #expect(Self.hidden(model) == (secure == 0 ? [] : ["100x100+0+0", "640x480+0+0"]))
        model.erase(model.leftBehind, sequence: 20)
        model.endPicture()
        #expect(Self.left(model) == [])
        // What is beyond the edges is not painted over.
        model.apply(WindowEvent(.went, 1, sequence: 21))
        model.erase(model.leftBehind, sequence: 22)
        model.endPicture()
        model.resize(to: Self.bounds, showsSecrets: false)
        #expect(Self.hidden(model) == (secure == 0 ? [] : ["1000x800+0+0"]))
    }

    /// A compositing manager paints a screen of another size after the first picture of it.
    @Test(arguments: [(UInt32(0), false), (1, false), (0, true)])
    func aCompositedScreenThatGetsAnotherSize(secure: UInt32, showsSecrets: Bool) {
        var model = Self.model(secure: secure)
        model.isComposited = true
        _ = model.takeLeft()
        let size = Self.rectangle(0, 0, 640, 480)
        model.resize(to: size, showsSecrets: showsSecrets)
        #expect(model.takeLeft().compactMap(\.place) == (secure == 0 && !showsSecrets ? [] : [size]))
    }

    /// A window that comes, is seen and leaves between two pictures.
    @Test func betweenTwoPictures() {
        var model = Self.model(secure: 0)
        model.apply(WindowEvent(.came(Self.rectangle(500, 500, 60, 60)), 3, sequence: 11))
        model.apply(WindowEvent(.mapped, 3, sequence: 11))
        model.apply(WindowEvent(.moved(Self.rectangle(980, 500, 60, 60)), 3, sequence: 11))
        model.apply(WindowEvent(.went, 3, sequence: 11))
        #expect(Self.hidden(model) == ["60x60+500+500", "20x60+980+500"], "nothing is seen outside of the display")
        model.apply(WindowEvent(.came(nil), 4, sequence: 12))
        model.apply(WindowEvent(.mapped, 4, sequence: 12))
        model.apply(WindowEvent(.unmapped, 4, sequence: 12))
        #expect(Self.hidden(model).contains("1000x800+0+0"), "nobody knows where it was")
    }

    /// Where one window is captured, nothing is seen of what others leave.
    @Test func whereOneWindowIsCaptured() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds)
        model.addAndRead([1: Self.facts(1, secure: 1)])
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        #expect(Self.hidden(model) == [])
    }

    /// A compositing manager may show any place that a window has left, also one between two pictures.
    @Test func withACompositingManager() {
        var model = Self.model()
        model.apply(WindowEvent(.moved(Self.rectangle(50, 0, 100, 100)), 1, sequence: 11, level: .highest))
        model.isComposited = true
        #expect(model.takeLeft().compactMap(\.place?.name) == ["100x100+0+0"], "what was left is its own from here on")
        model.apply(WindowEvent(.moved(Self.rectangle(950, 0, 100, 100)), 1, sequence: 12))
        model.apply(WindowEvent(.moved(Self.rectangle(50, 0, 100, 100)), 2, sequence: 12))
        model.apply(WindowEvent(.moved(Self.rectangle(90, 0, 100, 100)), 1, sequence: 13))
        model.apply(WindowEvent(.unmapped, 1, sequence: 14))
        #expect(model.takeLeft().compactMap(\.place?.name) == ["100x100+50+0", "50x100+950+0", "100x100+90+0"])
        #expect(Self.hidden(model) == [] && Self.left(model) == [])
        // A window that is gone before anybody has looked.
        model.apply(WindowEvent(.came(Self.rectangle(200, 0, 9, 9)), 3, sequence: 15))
        model.apply(WindowEvent(.mapped, 3, sequence: 15))
        model.apply(WindowEvent(.went, 3, sequence: 15))
        #expect(model.takeLeft().compactMap(\.place?.name) == ["9x9+200+0"])
        model.isComposited = false
        model.apply(WindowEvent(.mapped, 1, sequence: 16))
        model.apply(WindowEvent(.unmapped, 1, sequence: 17))
        #expect(model.takeLeft().isEmpty && Self.hidden(model) == ["100x100+90+0"])
    }

    /// A window that is dragged: what it leaves is bounded, and nothing of it is lost.
    @Test func aLongDrag() {
        var model = Self.model()
        model.apply(WindowEvent(.went, 2, sequence: 11))
        for x in 1...400 {
            model.apply(WindowEvent(.moved(Self.rectangle(x, x, 100, 100)), 1, sequence: UInt32(11 + x)))
        }
        let places = model.secrets(hidesUnknown: true).places
        #expect(places.count < 40)
        for x in stride(from: 0, to: 400, by: 7) {
            let place = Self.rectangle(x, x, 100, 100)
            #expect(places.reduce([place]) { left, hidden in left.flatMap { $0.without(hidden) } }.isEmpty, "\(x)")
        }
    }

    @Test func whatIsLeft() {
        let a = Self.rectangle(0, 0, 10, 10)
        #expect(a.without(Self.rectangle(20, 0, 5, 5)) == [a])
        #expect(a.without(Self.rectangle(-5, -5, 50, 50)) == [])
        #expect(
            a.without(Self.rectangle(2, 3, 4, 5)).map(\.name) == ["10x3+0+0", "10x2+0+8", "2x5+0+3", "4x5+6+3"])
        var ghosts = GhostPixels()
        ghosts.note(Self.rectangle(0, 0, 200, 200), of: 1, in: Self.bounds)
        for x in 0..<30 { ghosts.erased([Self.rectangle(x * 6, x * 6, 3, 3)]) }
        #expect(ghosts.places.count <= 16 && !ghosts.isEmpty)
    }
}

/// Promise: it is known which windows are above which.
@Suite struct WindowStackTests {
    @Test func levels() {
        var stack = WindowStack()
        stack.add([1, 2, 3])
        #expect(stack.above(1) == [2, 3] && stack.below(3) == [1, 2] && stack.above(3).isEmpty)
        stack.put(1, .above(2))
        #expect(Array(stack.below(3)) == [2, 1])
        stack.put(3, .lowest)
        #expect(Array(stack.above(3)) == [2, 1])
        stack.put(2, .highest)
        stack.remove(1)
        #expect(Array(stack.above(3)) == [2])
        stack.put(4, .above(99))
        #expect(Array(stack.below(4)) == [3, 2], "above all where nobody knows")
        #expect(stack.above(98).count == 3 && stack.below(98).count == 3)
    }
}

/// Promise: what is left is painted over when windows are calm, soon, and not all the time.
@Suite struct EraseScheduleTests {
    private static func time(_ milliseconds: Int64) -> MediaTime { .milliseconds(milliseconds) }

    @Test func calmFirst() {
        var schedule = EraseSchedule()
        schedule.windowsChanged(now: Self.time(5000))
        #expect(schedule.due == nil)
        schedule.note(leavesAny: true, now: Self.time(5010))
        #expect(schedule.due == Self.time(5000) + EraseSchedule.calm)
        schedule.windowsChanged(now: Self.time(5090))
        #expect(schedule.due == Self.time(5090) + EraseSchedule.calm)
        schedule.note(leavesAny: false, now: Self.time(5100))
        #expect(schedule.due == nil)
    }

    @Test func windowsThatAreNeverCalm() {
        var (schedule, erased) = (EraseSchedule(), [Int64]())
        for now in stride(from: Int64(10_000), through: 12_000, by: 10) {
            schedule.windowsChanged(now: Self.time(now))
            schedule.note(leavesAny: true, now: Self.time(now))
            guard let due = schedule.due, due <= Self.time(now) else { continue }
            erased.append(now)
            schedule.erased(now: Self.time(now))
            schedule.note(leavesAny: false, now: Self.time(now))
        }
        #expect(erased.count == 9 && erased.first == 10_200, "\(erased)")
    }
}
