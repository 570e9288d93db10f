import Grabbing
import MediaCore
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: what a window manager that composites shows of secret windows beside their places, and what input methods
/// show of them, is hidden, too.
@Suite struct PainterTests {
    private static let bounds = CaptureRectangle(x: 0, y: 0, width: 1000, height: 800)
    private static let taskbar = CaptureRectangle(x: 600, y: 780, width: 100, height: 20)
    /// The window manager, as an X client.
    private static let manager: UInt32 = 9

    private static func facts(
        _ window: UInt32, x: Int, secure: UInt32 = 0, override: Bool = false, className: String = "",
        title: String = "", transientFor: UInt32? = nil
    ) -> WindowFacts {
        WindowFacts(
            place: CaptureRectangle(x: x, y: 10, width: 100, height: 50), isViewable: true,
            isOverrideRedirect: override,
            names: [WindowNames(window: window, className: className, title: title, maker: window)],
            secure: secure, transientFor: transientFor, client: window)
    }

    /// Takes all input of the screen.
    private static func taker(_ window: UInt32, title: String = "", maker: UInt32 = manager) -> WindowFacts {
        WindowFacts(
            place: bounds, isViewable: true, isOverrideRedirect: true,
            names: [WindowNames(window: window, title: title, maker: maker)], client: window, isInputOnly: true)
    }

    /// A desktop on mutter: its guard window is below all others.
    private static func mutter(_ window: WindowFacts) -> WindowModel {
        model([1: taker(1, title: "mutter guard window"), 2: window])
    }

    /// The lowest window has the lowest number.
    private static func model(_ all: [UInt32: WindowFacts], isComposited: Bool = true) -> WindowModel {
        var model = WindowModel(WindowRules(), bounds: bounds, resourceMask: 0, showsScreen: true)
        model.add(all.sorted { $0.key < $1.key }.map { FoundWindow(window: $0, place: $1.place, isViewable: true) })
        model.isComposited = isComposited
        model.read(all, manager: .client(manager), compositor: isComposited ? manager : nil)
        return model
    }

    /// Another manager comes, and is not read yet.
    private static func loseManager(_ model: inout WindowModel) {
        model.hasUnreadManagers = true
        model.read([:], manager: .client(7), compositor: manager)
        model.hasUnreadManagers = true
    }

    /// Where secret windows pass since the last call.
    private static func areas(_ model: inout WindowModel) -> [CaptureRectangle] {
        paths(&model).map(\.place)
    }

    private static func paths(_ model: inout WindowModel) -> [AnimationPaths.Path] {
        model.takeLeft().compactMap { if case .path(let path) = $0 { path } else { nil } }
    }

    private static func hidden(_ model: WindowModel) -> [Int] {
        let regions = model.secrets(hidesUnknown: false).regions(in: bounds)
        return regions.coversAll ? [-1] : regions.rectangles.map(\.x)
    }

    struct Taker: Sendable {
        var window: UInt32 = 3
        var title = ""
        var maker = PainterTests.manager
        var secure: UInt32 = 1
        var isComposited = true
    }

    private static func mark(_ window: UInt32, x: Int = 0, y: Int = 0) -> WindowFacts {
        let place = CaptureRectangle(x: x, y: y, width: ReferenceMark.side, height: ReferenceMark.side)
        return WindowFacts(
            place: place, isViewable: true, isOverrideRedirect: true, names: [WindowNames(window: window, maker: 8)],
            client: window)
    }

    /// Windows above a mark displace it, but the mark of another capture in the same place looks the same.
    @Test func displacedMarks() {
        let mark = MarkWatch.Mark(window: 2, place: CaptureRectangle(x: 0, y: 0, width: 8, height: 8))
        func isDisplaced(by other: WindowFacts, at own: WindowFacts = Self.mark(2)) -> Bool {
            Self.model([1: Self.facts(1, x: 0), 2: own, 3: other]).isDisplaced(mark)
        }
        #expect(!isDisplaced(by: Self.mark(3)))
        #expect(!isDisplaced(by: Self.taker(3)), "it shows nothing")
        var cover = Self.facts(3, x: 0)
        cover.place = CaptureRectangle(x: 8, y: 0, width: 100, height: 100)
        #expect(!isDisplaced(by: cover))
        cover.place = CaptureRectangle(x: 7, y: 7, width: 100, height: 100)
        #expect(isDisplaced(by: cover))
        #expect(isDisplaced(by: Self.mark(3, x: 4)))
        #expect(isDisplaced(by: Self.mark(3), at: Self.mark(2, x: 1)))
        // The mark is not known yet.
        #expect(!Self.model([1: Self.facts(1, x: 0)]).isDisplaced(mark))
    }

    /// The overlay window of the server comes when a manager begins to composite, and stays above all windows.
    @Test func theOverlayWindow() {
        let (client, overlay): (UInt32, UInt32) = (0x100, 0x3f)
        let (window, takesInput) = (client | 1, client | 2)
        var model = WindowModel(WindowRules(), bounds: Self.bounds, resourceMask: 0xff, showsScreen: true)
        let secret = Self.facts(window, x: 5, secure: 1)
        model.add([FoundWindow(window: window, place: secret.place, isViewable: true)])
        model.isComposited = true
        model.apply(WindowEvent(.came(Self.bounds), overlay, sequence: 1, level: .highest))
        model.apply(WindowEvent(.mapped, overlay, sequence: 2))
        model.apply(WindowEvent(.came(Self.bounds), takesInput, sequence: 3))
        model.apply(WindowEvent(.mapped, takesInput, sequence: 4))
        // The server puts it below the overlay window.
        model.apply(WindowEvent(.restacked, takesInput, sequence: 5, level: .above(window)))
        let facts = WindowFacts(
            place: Self.bounds, isViewable: true, isOverrideRedirect: true,
            names: [WindowNames(window: overlay, maker: 0)], client: overlay)
        let all = [window: secret, takesInput: Self.taker(takesInput, maker: client), overlay: facts]
        model.read(all, manager: .client(client), compositor: client)
        #expect(Self.hidden(model) == [-1])
    }

    /// The windows of this program are not read, and no rule makes them secret. Ended ones are no lost secrets.
    @Test func ownWindows() throws {
        let (own, other): (UInt32, UInt32) = (0x101, 0x201)
        var rules = WindowRules()
        try rules.add("title=*")
        var model = WindowModel(rules, bounds: Self.bounds, resourceMask: 0xff, own: 0x100, showsScreen: true)
        for (window, x) in [(own, 0), (other, 5)] {
            model.apply(WindowEvent(.came(Self.facts(window, x: x).place), window, sequence: 1))
            model.apply(WindowEvent(.mapped, window, sequence: 2, isOverrideRedirect: true))
        }
        #expect(model.unread.windows == [other])
        model.read([other: Self.facts(other, x: 5, override: true, title: "secret")])
        #expect(Self.hidden(model) == [5])
        #expect(!model.menuOwners.isMenu(try #require(model.windows[own]?.facts)))
        #expect(model.isOwn(own) && !model.isOwn(other))
        model.apply(WindowEvent(.went, own, sequence: 3, destroyed: own))
        #expect(!model.hasUnread)
    }

    /// Marks, also of other captures, do not count. A window that is not on the screen is not on top.
    @Test func theWindowOnTop() {
        var model = Self.model([1: Self.facts(1, x: 0), 2: Self.facts(2, x: 0), 4: Self.mark(4), 5: Self.mark(5)])
        #expect([1, 2, 3].map(model.isOnTop) == [false, true, false])
        model.apply(WindowEvent(.restacked, 1, sequence: 1, level: .above(4)))
        #expect([1, 2].map(model.isOnTop) == [true, false])
        model.apply(WindowEvent(.unmapped, 1, sequence: 2))
        #expect([1, 2].map(model.isOnTop) == [false, true])
    }

    /// Marks are shown above a window that takes all input, too.
    @Test func marksAboveAManagerThatTakesAllInput() {
        let model = Self.model([
            1: Self.facts(1, x: 5, secure: 1), 3: Self.taker(3), 4: Self.mark(4), 5: Self.mark(5, x: 992, y: 792),
        ])
        #expect(Self.hidden(model) == [-1])
    }

    /// KWin takes all input while it shows windows to choose from, also those that are not mapped. xfwm4 does so for
    /// its menus, which are above.
    @Test(arguments: [
        Taker(), Taker(window: 0), Taker(title: "mutter guard window"), Taker(maker: 7), Taker(secure: 0),
        Taker(isComposited: false),
    ])
    func aManagerThatTakesAllInput(_ test: Taker) {
        let taker = Self.taker(test.window, title: test.title, maker: test.maker)
        var model = Self.model(
            [1: Self.facts(1, x: 5, secure: test.secure), 2: Self.facts(2, x: 300), test.window: taker],
            isComposited: test.isComposited)
        let isHidden =
            test.window == 3 && test.title.isEmpty && test.maker == Self.manager && test.secure > 0 && test.isComposited
        let others = test.secure > 0 ? [5] : []
        #expect(Self.hidden(model) == (isHidden ? [-1] : others))
        #expect(model.isOfMutter == !test.title.isEmpty)
        model.apply(WindowEvent(.changed, test.window, sequence: 8))
        #expect(Self.hidden(model) == (isHidden ? [-1] : others), "it is what it was")
        model.apply(WindowEvent(.unmapped, test.window, sequence: 9))
        #expect(Self.hidden(model) == others)
        #expect(Self.areas(&model) == (isHidden ? [Self.bounds] : []), "windows go back to their places")
        // Without a compositing manager, windows leave pixels.
        guard test.isComposited else { return }
        model.apply(WindowEvent(.mapped, test.window, sequence: 10, isOverrideRedirect: true))
        model.apply(WindowEvent(.unmapped, 1, sequence: 11))
        #expect(Self.hidden(model) == (isHidden ? [-1] : []))
        model.apply(WindowEvent(.went, 1, sequence: 12))
        let last = Self.areas(&model)
        #expect(Self.hidden(model) == [] && last == (isHidden ? [Self.bounds] : []), "\(last) \(test)")
    }

    /// Windows move across the screen, and some stay at its edges while it shows the desktop.
    @Test(arguments: [(UInt32(1), true), (0, true), (1, false)])
    func otherDesktops(secure: UInt32, isComposited: Bool) {
        var model = Self.model([1: Self.facts(1, x: 5, secure: secure)], isComposited: isComposited)
        model.desktopChanged()
        #expect(model.hasUnread == isComposited && model.hasUnknown == isComposited)
        #expect(model.secrets(hidesUnknown: true).isEverywhere == isComposited, "if nothing can be read")
        model.read([:], compositor: isComposited ? Self.manager : nil, showsDesktop: true)
        let moves = secure > 0 && isComposited
        #expect(Self.areas(&model) == (moves ? [Self.bounds] : []) && !model.hasUnread)
        #expect(Self.hidden(model) == (moves ? [-1] : secure > 0 ? [5] : []))
        guard isComposited else { return }
        // Other managers unmap it.
        model.apply(WindowEvent(.unmapped, 1, sequence: 9))
        #expect(Self.hidden(model) == [])
    }

    /// Managers show a window, and its dialogs, on its way to the taskbar and back.
    @Test(arguments: [(UInt32(1), true), (0, true), (1, false)])
    func theWayToTheTaskbar(secure: UInt32, hasPlace: Bool) {
        var window = Self.facts(1, x: 5, secure: secure)
        window.iconPlace = hasPlace ? Self.taskbar : nil
        let dialog = Self.facts(2, x: 900, transientFor: 1)
        var model = Self.model([1: window, 2: dialog])
        let path = CaptureRectangle(x: 5, y: 10, width: 695, height: 790)
        let dialogs = CaptureRectangle(x: 600, y: 10, width: 400, height: 790)
        for kind in [WindowEvent.Kind.unmapped, .mapped] {
            // A manager says that the window is an icon before it unmaps it; mutter does not unmap it.
            model.apply(WindowEvent(.stateChanged, 1, sequence: 9))
            #expect(Self.areas(&model) == (secure == 0 ? [] : hasPlace ? [path] : [Self.bounds]), "or to the pointer")
            if kind == .mapped { model.read([1: window], compositor: Self.manager) }
            for id in [UInt32(1), 2] { model.apply(WindowEvent(kind, id, sequence: 10)) }
            #expect(Self.areas(&model) == (secure > 0 && hasPlace ? [path, dialogs] : []), "\(kind)")
        }
    }

    /// Managers show a window between its old and its new size. It may go on from there, but a move alone is not shown.
    @Test(arguments: [UInt32(0), 1]) func anotherSize(secure: UInt32) {
        var model = Self.model([1: Self.facts(1, x: 5, secure: secure)])
        var paths = AnimationPaths()
        func move(_ x: Int, _ width: Int, now: MediaTime) -> [CaptureRectangle] {
            let place = CaptureRectangle(x: x, y: 10, width: width, height: 50)
            model.apply(WindowEvent(.moved(place), 1, sequence: 9))
            for path in Self.paths(&model) { paths.note(path, for: .seconds(1), now: now) }
            return paths.all.map(\.place)
        }
        func path(_ x: Int, _ width: Int) -> [CaptureRectangle] {
            secure == 0 ? [] : [CaptureRectangle(x: x, y: 10, width: width, height: 50)]
        }
        #expect(move(300, 100, now: .zero) == [])
        #expect(move(300, 200, now: .zero) == path(300, 200))
        #expect(move(100, 200, now: .milliseconds(900)) == path(100, 400))
        #expect(move(700, 100, now: .milliseconds(1800)) == path(100, 700))
        #expect(move(0, 100, now: .seconds(9)) == [], "it is long over")
    }

    /// What is drawn over itself: not what the server shows above all windows, and nothing of this program.
    @Test func whatIsRedrawn() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds, resourceMask: 0xff, own: 0x100, showsScreen: true)
        for window in [UInt32(0x101), 0x201, 0x202, 0x3f] {
            model.apply(WindowEvent(.came(Self.facts(window, x: window == 0x202 ? 500 : 5).place), window, sequence: 1))
            model.apply(WindowEvent(.mapped, window, sequence: 2))
        }
        #expect(model.shown(in: CaptureRectangle(x: 0, y: 0, width: 200, height: 200)).map(\.window) == [0x201])
    }

    /// GNOME Shell is asked whether it shows windows to choose from.
    @Test(arguments: [(UInt32(1), true), (0, true), (1, false)])
    func windowsToChooseFrom(secure: UInt32, isMutter: Bool) {
        let window = Self.facts(2, x: 5, secure: secure)
        var model = isMutter ? Self.mutter(window) : Self.model([2: window])
        let (isHidden, own) = (secure > 0 && isMutter, secure > 0 ? [5] : [])
        for _ in 0..<2 {
            model.note(showsChoice: true)
            #expect(Self.hidden(model) == (isHidden ? [-1] : own))
            #expect(Self.areas(&model) == [])
            model.note(showsChoice: false)
            #expect(Self.hidden(model) == own)
            #expect(Self.areas(&model) == (isHidden ? [Self.bounds] : []), "windows go back, or fade out")
        }
    }

    /// The last secret window is closed while others can be chosen: it fades out.
    @Test(arguments: [true, false]) func windowsToChooseFromWithoutSecrets(isRead: Bool) {
        var model = Self.mutter(Self.facts(2, x: 5, secure: 1))
        model.note(showsChoice: true)
        if isRead {
            model.apply(WindowEvent(.changed, 2, sequence: 8))
            model.read([2: Self.facts(2, x: 5)], compositor: Self.manager)
        } else {
            model.apply(WindowEvent(.went, 2, sequence: 8))
        }
        #expect(Self.hidden(model) == [])
        #expect(Self.areas(&model) == [Self.bounds])
        model.note(showsChoice: false)
        #expect(Self.areas(&model) == [])
    }

    /// The manager takes the keyboard, or gives it back, between two questions.
    @Test(arguments: [(UInt32(1), true), (0, true), (1, false)]) func theKeyboard(secure: UInt32, isMutter: Bool) {
        let window = Self.facts(2, x: 5, secure: secure)
        var model = isMutter ? Self.mutter(window) : Self.model([2: window])
        model.passEverywhere()
        #expect(Self.areas(&model) == (secure > 0 && isMutter ? [Self.bounds] : []))
    }

    /// Another window that calls itself so is not mutter's, and its end changes nothing.
    @Test func otherGuards() {
        let title = "mutter guard window"
        var model = Self.model([
            1: Self.taker(1, title: title), 2: Self.facts(2, x: 5, secure: 1), 3: Self.taker(3, title: title, maker: 7),
        ])
        model.apply(WindowEvent(.went, 3, sequence: 8))
        #expect(model.isOfMutter)
        model.apply(WindowEvent(.went, 1, sequence: 9))
        #expect(!model.isOfMutter)
        #expect(!Self.model([3: Self.taker(3, title: title, maker: 7)]).isOfMutter)
    }

    /// Without a place in the taskbar, GNOME Shell lets a window shrink to an upper corner of its monitor.
    @Test(arguments: [true, false], [true, false]) func theWayToTheCorner(isMutter: Bool, isKnown: Bool) {
        let window = Self.facts(2, x: 5, secure: 1)
        var model = isMutter ? Self.mutter(window) : Self.model([2: window])
        if !isKnown { Self.loseManager(&model) }
        model.apply(WindowEvent(.stateChanged, 2, sequence: 9))
        let path = CaptureRectangle(x: 0, y: 0, width: 1000, height: 60)
        let anywhere = isMutter && isKnown ? [] : [Self.bounds]
        #expect(Self.areas(&model) == anywhere + (isMutter || !isKnown ? [path] : []), "others may move it anywhere")
        model.apply(WindowEvent(.rearranged, 2, sequence: 10, destroyed: 9))
        #expect(Self.areas(&model) == [], "a window in it has ended")
    }

    /// A window that opens may be secret until it is read. If it is harmless, its way is shown at once.
    @Test(arguments: [UInt32(0), 1]) func theWayOfANewWindow(secure: UInt32) {
        var window = Self.facts(1, x: 5, secure: 1)
        window.iconPlace = Self.taskbar
        var model = Self.model([1: window])
        let new = Self.facts(2, x: 300, secure: secure)
        model.apply(WindowEvent(.came(new.place), 2, sequence: 9))
        model.apply(WindowEvent(.mapped, 2, sequence: 10))
        let path = AnimationPaths.Path(place: new.place.joined(with: Self.taskbar), kind: .passing(2), isGuess: true)
        #expect(model.takeLeft() == [.path(path)])
        model.read([2: new], compositor: Self.manager)
        #expect(model.takeLeft() == (secure > 0 ? [] : [.harmless(2)]))
        var paths = AnimationPaths()
        paths.note(path, for: .seconds(1), now: .zero)
        paths.note(.init(place: Self.taskbar, kind: .passing(1)), for: .seconds(1), now: .zero)
        paths.forgetGuesses(of: 1)
        #expect(paths.all.count == 2, "it was secret")
        paths.forgetGuesses(of: 2)
        #expect(paths.all.map(\.window) == [1])
    }

    /// A window may go before it is read, and the next one, which has its number, may be harmless.
    @Test func theWayOfAWindowThatWasNeverRead() {
        var window = Self.facts(1, x: 5, secure: 1)
        window.iconPlace = Self.taskbar
        var model = Self.model([1: window])
        let new = Self.facts(2, x: 300)
        model.apply(WindowEvent(.came(new.place), 2, sequence: 9))
        model.apply(WindowEvent(.mapped, 2, sequence: 10))
        let path = AnimationPaths.Path(place: new.place.joined(with: Self.taskbar), kind: .passing(2), isGuess: true)
        #expect(model.takeLeft() == [.path(path)])
        model.apply(WindowEvent(.went, 2, sequence: 11, destroyed: 2))
        #expect(model.takeLeft().last == .unread(2))
        model.apply(WindowEvent(.came(new.place), 2, sequence: 12))
        model.read([2: new], compositor: Self.manager)
        #expect(model.takeLeft() == [.harmless(2)])
        var paths = AnimationPaths()
        paths.note(path, for: .seconds(1), now: .zero)
        paths.keepGuesses(of: 2)
        paths.forgetGuesses(of: 2)
        #expect(paths.all.map(\.place) == [path.place])
    }

    /// The manager's window for previews may have shown secret windows on its way.
    @Test func theWayOfANewPreview() {
        var model = Self.model([1: Self.facts(1, x: 5, secure: 1)])
        var preview = Self.facts(2, x: 300, override: true)
        preview.maker = Self.manager
        model.apply(WindowEvent(.came(preview.place), 2, sequence: 9))
        model.apply(WindowEvent(.mapped, 2, sequence: 10, isOverrideRedirect: true))
        model.read([2: preview], compositor: Self.manager)
        #expect(Self.hidden(model) == [5, 300] && !model.takeLeft().contains(.harmless(2)))
    }

    /// Only a dialog uses another window's place in the taskbar: that of its parent, secret or not.
    @Test func placesOfOthers() {
        var (secret, parent) = (Self.facts(1, x: 5, secure: 1), Self.facts(3, x: 200))
        (secret.iconPlace, parent.iconPlace) = (Self.taskbar, CaptureRectangle(x: 0, y: 780, width: 100, height: 20))
        var model = Self.model([
            1: secret, 2: Self.facts(2, x: 300, secure: 1), 3: parent,
            4: Self.facts(4, x: 400, secure: 1, transientFor: 3), 5: Self.facts(5, x: 500, secure: 1, transientFor: 4),
        ])
        model.apply(WindowEvent(.stateChanged, 2, sequence: 9))
        #expect(Self.areas(&model) == [Self.bounds], "it may come from the pointer")
        for dialog in [4, 5] as [UInt32] {
            model.apply(WindowEvent(.unmapped, dialog, sequence: 10))
            let path = CaptureRectangle(x: 0, y: 10, width: Int(dialog) * 100 + 100, height: 790)
            #expect(Self.areas(&model) == [path])
        }
        model.apply(WindowEvent(.renamed, 3, sequence: 11))
        model.apply(WindowEvent(.stateChanged, 5, sequence: 12))
        #expect(Self.areas(&model) == [CaptureRectangle(x: 0, y: 10, width: 600, height: 790)])
        model.read([3: parent], compositor: Self.manager)
        model.apply(WindowEvent(.iconMoved, 3, sequence: 13))
        #expect(!model.unread.windows.contains(3), "harmless windows are not read again for that")
        model.apply(WindowEvent(.mapped, 5, sequence: 14))
        #expect(Self.areas(&model) == [Self.bounds] && model.unread.windows.contains(3), "until it is needed")
        model.read([3: parent], compositor: Self.manager)
        model.apply(WindowEvent(.went, 3, sequence: 15, destroyed: 3))
        model.apply(WindowEvent(.stateChanged, 5, sequence: 16))
        #expect(Self.areas(&model).contains(Self.bounds), "its parent's parent is gone")
    }

    /// A dialog for the whole screen, without a group, is no dialog of other windows without a group.
    @Test func aDialogOfTheScreen() {
        var (other, dialog) = (Self.facts(1, x: 5), Self.facts(2, x: 300, secure: 1))
        (other.iconPlace, dialog.isTransientForGroup) = (Self.taskbar, true)
        var model = Self.model([1: other, 2: dialog])
        model.apply(WindowEvent(.stateChanged, 2, sequence: 9))
        #expect(Self.areas(&model) == [Self.bounds])
        (other.group, dialog.group) = (7, 7)
        model = Self.model([1: other, 2: dialog])
        model.apply(WindowEvent(.stateChanged, 2, sequence: 9))
        #expect(Self.areas(&model) == [CaptureRectangle(x: 300, y: 10, width: 400, height: 790)])
    }

    /// A window in it that moves out makes no window an icon.
    @Test func aWindowInItThatGoes() {
        var model = Self.model([1: Self.facts(1, x: 5, secure: 1)])
        model.apply(WindowEvent(.rearranged, 1, sequence: 9))
        #expect(Self.areas(&model) == [])
    }

    /// mutter shrinks a window beside its place in the taskbar. A manager that is not read yet may be mutter.
    @Test(arguments: [true, false], [true, false]) func theWayPastTheTaskbar(isMutter: Bool, isKnown: Bool) {
        var window = Self.facts(2, x: 5, secure: 1)
        window.iconPlace = CaptureRectangle(x: 600, y: 700, width: 20, height: 20)
        var model = isMutter ? Self.mutter(window) : Self.model([2: window])
        if !isKnown { Self.loseManager(&model) }
        model.apply(WindowEvent(.stateChanged, 2, sequence: 9))
        let isPast = isMutter || !isKnown
        let path = CaptureRectangle(x: 5, y: 10, width: isPast ? 695 : 615, height: isPast ? 740 : 710)
        #expect(Self.areas(&model) == [path])
    }

    /// A place where something passes is hidden for a time, and until the manager has painted it since, whatever else
    /// hides it.
    @Test(arguments: [false, true], [false, true]) func places(areHidden: Bool, paints: Bool) {
        var lingering = LingeringSecrets()
        lingering.animates(along: .init(place: Self.taskbar, kind: .passed), now: .seconds(5))
        for milliseconds in [5000, 5900, 6001, 6050, 6449, 6450, 9999, 10_000] as [Int64] {
            let now = MediaTime.milliseconds(milliseconds)
            var secrets = WindowSecrets()
            if areHidden, milliseconds == 5000 { secrets.hide(Self.taskbar) }
            lingering.beginPicture()
            lingering.painted(paints && milliseconds == 6050 ? [Self.taskbar] : [], now: now)
            let request = lingering.takeRequest(now: now)
            lingering.extend(&secrets, now: now)
            // A manager that goes on with an effect would paint again.
            let isHidden = milliseconds < (paints ? 6450 : 10_000)
            #expect(secrets.places == (isHidden ? [Self.taskbar] : []), "\(milliseconds)")
            #expect((request == Self.taskbar) == (isHidden && [6001, 9999].contains(milliseconds)), "\(milliseconds)")
        }
    }

    /// A busy manager begins late. One that paints nothing does not hide the place for ever.
    @Test(arguments: [false, true]) func aBusyManager(paints: Bool) {
        var paths = AnimationPaths()
        paths.note(.init(place: Self.taskbar, kind: .passing(nil)), for: .seconds(1), now: .zero)
        func end(_ now: MediaTime, _ areas: [CaptureRectangle]) -> MediaTime? {
            var secrets = WindowSecrets()
            paths.painted(PaintedAreas(areas), now: now)
            let end = paths.hide(in: &secrets, now: now)
            #expect(secrets.places == (end == nil ? [] : [Self.taskbar]))
            return end
        }
        #expect(end(.milliseconds(10), [Self.bounds]) == .seconds(5), "that may be of before")
        #expect(end(.seconds(3), [CaptureRectangle(x: 0, y: 0, width: 9, height: 9)]) == .seconds(5), "elsewhere")
        #expect(end(.seconds(4), paints ? [Self.bounds] : []) == .seconds(5))
        #expect(end(.milliseconds(4500), [Self.bounds]) == (paints ? .seconds(5) : .milliseconds(5500)))
        #expect(paths.takeRequest(now: .seconds(5)) == (paints ? Self.taskbar : nil))
        #expect(end(.milliseconds(5010), [Self.bounds]) == .milliseconds(paints ? 5410 : 5500))
        #expect(end(.milliseconds(9500), []) == nil)
    }

    /// A slow animation, or a busy manager, paints for longer than is usual. A program may paint there for ever. When
    /// the manager seems to be done, it is asked to paint. One that has hung goes on late, and is asked again.
    @Test(arguments: [(AnimationPaths.Path.Kind.passed, 0), (.passing(nil), 50)] as [(AnimationPaths.Path.Kind, Int64)])
    func aSlowAnimation(kind: AnimationPaths.Path.Kind, first: Int64) {
        /// When the place is shown, if something is painted every 50 ms until a time, and after a pause. The manager
        /// paints 100 ms after it was asked to, but nothing in the pause.
        func end(paintedUntil last: Int64, resumedAt resumed: Int64 = 0, until lastOfAll: Int64 = 0) -> MediaTime? {
            var paths = AnimationPaths()
            var answer: Int64?
            paths.note(.init(place: Self.taskbar, kind: kind), for: .seconds(1), now: .zero)
            for milliseconds in stride(from: Int64(0), to: 9000, by: 50) {
                let now = MediaTime.milliseconds(milliseconds)
                let hangs = last < milliseconds && milliseconds < resumed
                let isPainted = milliseconds <= last || resumed <= milliseconds && milliseconds <= lastOfAll
                let answers = !hangs && answer.map { $0 <= milliseconds } ?? false
                if answers { answer = nil }
                paths.painted(isPainted || answers ? [Self.bounds] : [], now: now)
                if paths.takeRequest(now: now) != nil { answer = milliseconds + 100 }
                var secrets = WindowSecrets()
                if paths.hide(in: &secrets, now: now) == nil { return now }
            }
            return nil
        }
        #expect(end(paintedUntil: 500) == .milliseconds(first + 1500))
        #expect(end(paintedUntil: 900) == .milliseconds(1800))
        #expect(end(paintedUntil: 2500) == .milliseconds(3400))
        #expect(end(paintedUntil: 2500, resumedAt: 2850, until: 2850) == .milliseconds(3750))
        for resumed in [1600, 2000, 2100, 2300] as [Int64] {
            // It was asked again 1 s after the first time. Its next paint is no answer to that.
            let end = end(paintedUntil: 600, resumedAt: resumed, until: 2500)
            #expect(end == .milliseconds(3400), "it has hung until \(resumed)")
        }
        for resumed in [1100, 1200, 1400] as [Int64] {
            // It answers promptly, but paints on.
            let end = end(paintedUntil: 600, resumedAt: resumed, until: 2500)
            #expect(end == .milliseconds(2900), "it has hung until \(resumed)")
        }
        #expect(end(paintedUntil: 9000) == .milliseconds(first + 5000))
    }

    /// A place is not asked for when its time is over. A place beyond the edges of a smaller screen is never painted.
    @Test func placesThatNobodyPaints() {
        var paths = AnimationPaths()
        paths.note(.init(place: Self.bounds, kind: .passed), for: .seconds(1), now: .zero)
        paths.note(.init(place: Self.taskbar, kind: .passed), for: .seconds(1), now: .zero)
        paths.painted([], now: .milliseconds(10))
        let small = CaptureRectangle(x: 0, y: 0, width: 500, height: 500)
        paths.resize(to: small)
        #expect(paths.all.map(\.place) == [small])
        #expect(paths.takeRequest(now: .milliseconds(1500)) == small)
        paths.painted([small], now: .milliseconds(1600))
        #expect(paths.all.map(\.end) == [MediaTime.seconds(2)])
        paths.note(.init(place: Self.bounds, kind: .passed), for: .seconds(1), now: .seconds(3))
        #expect(paths.all.map(\.place) == [small, Self.bounds], "no picture has told what was painted since")
        #expect(paths.takeRequest(now: .seconds(3600)) == nil)
    }

    /// Programs may draw more than the server lists. What is not listed may have been painted, or not.
    @Test func paintedWithoutAList() {
        var (paths, left) = (AnimationPaths(), LeftPlaces())
        paths.note(.init(place: Self.taskbar, kind: .passed), for: .seconds(1), now: .zero)
        left.note(Self.taskbar, of: 1, isGone: true, now: .zero, for: .seconds(1))
        let corner = CaptureRectangle(x: 0, y: 0, width: 9, height: 9)
        for (milliseconds, areas) in [
            (10, []), (100, [Self.taskbar]), (900, PaintedAreas([corner], bounds: Self.bounds)),
        ] as [(Int64, PaintedAreas)] {
            paths.painted(areas, now: .milliseconds(milliseconds))
            left.painted(areas, now: .milliseconds(milliseconds))
        }
        var secrets = WindowSecrets()
        #expect(left.hide(in: &secrets, now: .milliseconds(1200)) == .milliseconds(1300))
        #expect(paths.takeRequest(now: .milliseconds(1200)) == nil)
        #expect(paths.takeRequest(now: .milliseconds(1300)) == Self.taskbar)
        paths.painted(PaintedAreas([corner], bounds: Self.bounds), now: .milliseconds(1400))
        #expect(paths.all.map(\.isDone) == [false], "it may not have been painted")
    }

    /// Two windows change between the same sizes. Then only one of them moves on.
    @Test func twoWindowsOnOneWay() {
        var paths = AnimationPaths()
        let bar = CaptureRectangle(x: 0, y: 700, width: 1000, height: 20)
        for window in [1, 2] as [UInt32] {
            paths.note(.init(place: Self.taskbar, kind: .passing(window)), for: .seconds(1), now: .zero)
        }
        paths.note(.init(place: bar, kind: .moved(2)), for: .seconds(1), now: .milliseconds(900))
        func places(_ now: MediaTime) -> [CaptureRectangle] {
            var secrets = WindowSecrets()
            _ = paths.hide(in: &secrets, now: now)
            return secrets.places
        }
        let patience = EffectEnd.patience
        #expect(places(patience + .milliseconds(900)) == [Self.taskbar, Self.taskbar.joined(with: bar)])
        #expect(places(patience + .milliseconds(1800)) == [Self.taskbar.joined(with: bar)])
        #expect(places(patience + .milliseconds(1900)) == [])
    }

    /// All windows move to another desktop, and one of them goes on across the same place.
    @Test(arguments: [true, false]) func aWayOfSeveralWindows(isSame: Bool) {
        var paths = AnimationPaths()
        paths.note(.init(place: Self.bounds, kind: .passed), for: .seconds(1), now: .zero)
        let place = isSame ? Self.bounds : Self.taskbar
        paths.note(.init(place: place, kind: .moved(1)), for: .seconds(1), now: .milliseconds(900))
        #expect(paths.all.map(\.place) == [Self.bounds])
        #expect(paths.all.map(\.end) == [EffectEnd.patience + (isSame ? .milliseconds(1900) : .seconds(1))])
    }

    /// Programs cause places, also while no pictures are made.
    @Test func manyPlaces() {
        var paths = AnimationPaths()
        let bar = CaptureRectangle(x: 0, y: 780, width: 1000, height: 20)
        for second in 0..<100 as Range<Int64> {
            paths.note(.init(place: bar, kind: .passed), for: .seconds(2), now: .seconds(second))
        }
        #expect(paths.all.count == 1 && paths.all[0].effect.until == .seconds(101), "the same place is there once")
        for x in 0..<AnimationPaths.capacity {
            let place = CaptureRectangle(x: x, y: 0, width: 1, height: 9)
            paths.note(.init(place: place, kind: .passed), for: .seconds(2), now: .seconds(100))
        }
        var secrets = WindowSecrets()
        #expect(paths.hide(in: &secrets, now: .milliseconds(100_999)) == .seconds(102))
        #expect(secrets.places == [CaptureRectangle(x: 0, y: 0, width: 1000, height: 800)], "too many become one")
        paths.note(.init(place: Self.taskbar, kind: .passed), for: .seconds(2), now: .seconds(106))
        #expect(paths.all.map(\.place) == [Self.taskbar], "what is over is forgotten")
    }

    /// Taskbars move all their icons when one comes.
    @Test(arguments: [UInt32(0), 1], [true, false]) func iconsThatMove(secure: UInt32, isManaged: Bool) {
        var frame = Self.facts(1, x: 5, secure: secure)
        frame.inside = [1, 7]
        var model = Self.model([1: frame], isComposited: isManaged)
        model.apply(WindowEvent(.iconMoved, 7, sequence: 9))
        #expect(model.hasUnread == (secure > 0 && isManaged))
        // A compositing manager comes, which may be the window manager.
        model.hasUnreadManagers = true
        model.apply(WindowEvent(.iconMoved, 7, sequence: 10))
        #expect(model.unread.windows == (secure > 0 ? [1] : []))
    }

    /// A taskbar names the place of a window, or of its dialog's parent, and the manager moves it there before that is
    /// read.
    @Test(arguments: [UInt32(1), 2]) func anIconThatMovesMeanwhile(moves: UInt32) {
        var window = Self.facts(1, x: 5, secure: 1)
        var model = Self.model([1: window, 2: Self.facts(2, x: 900, transientFor: 1)])
        model.apply(WindowEvent(.iconMoved, 1, sequence: 9))
        model.apply(WindowEvent(.stateChanged, moves, sequence: 10))
        model.apply(WindowEvent(.unmapped, moves, sequence: 11))
        #expect(Self.areas(&model) == [Self.bounds, Self.bounds])
        window.iconPlace = Self.taskbar
        model.read([1: window], compositor: Self.manager)
        model.apply(WindowEvent(.mapped, moves, sequence: 12))
        let place = moves == 1 ? window.place : Self.facts(2, x: 900).place
        #expect(Self.areas(&model) == [place.joined(with: Self.taskbar)])
    }

    /// A harmless window's place moves. Then the window becomes secret, and at once an icon.
    @Test func anIconThatMovedBefore() {
        var window = Self.facts(1, x: 5)
        window.iconPlace = Self.taskbar
        var model = Self.model([1: window])
        model.apply(WindowEvent(.iconMoved, 1, sequence: 8))
        #expect(!model.hasUnread)
        model.apply(WindowEvent(.changed, 1, sequence: 9))
        model.apply(WindowEvent(.stateChanged, 1, sequence: 10))
        #expect(Self.areas(&model) == [Self.bounds])
    }

    /// A new window may turn out to be harmless, also while a place in the taskbar is unread.
    @Test func aNewWindowWhileIconsMove() {
        var model = Self.model([1: Self.facts(1, x: 5, secure: 1)])
        model.apply(WindowEvent(.iconMoved, 1, sequence: 8))
        model.apply(WindowEvent(.came(Self.facts(2, x: 300).place), 2, sequence: 9))
        model.apply(WindowEvent(.mapped, 2, sequence: 10))
        #expect(Self.paths(&model) == [.init(place: Self.bounds, kind: .passing(2), isGuess: true)])
    }

    /// What is typed into a secret window stays in the window of the input method until that is unmapped.
    @Test(arguments: [
        ("ibus-ui-gtk3", "", true), ("Fcitx", "", true), ("uim-candwin-gtk3", "", true), ("fc", "", false),
        ("", "Fcitx Input Window", true), ("Browser", "Fcitx Input Window", false),
    ], [true, false])
    func inputMethods(names: (String, String, Bool), isComposited: Bool) {
        let (name, title, isHidden) = names
        let all: [UInt32: WindowFacts] = [
            1: Self.facts(1, x: 5, secure: 1),
            2: Self.facts(2, x: 300, override: true, className: name, title: title),
        ]
        var model = Self.model(all, isComposited: isComposited)
        #expect(Self.hidden(model) == (isHidden ? [5, 300] : [5]))
        model.apply(WindowEvent(.unmapped, 1, sequence: 9))
        model.apply(WindowEvent(.went, 1, sequence: 10))
        #expect(Self.hidden(model).contains(300) == isHidden)
        model.apply(WindowEvent(.unmapped, 2, sequence: 11))
        let left = isComposited ? model.takeLeft().compactMap(\.place) : model.leftBehind
        #expect(left.contains { $0.x == 300 } == isHidden)
        model.apply(WindowEvent(.mapped, 2, sequence: 12))
        #expect(!model.isSecure(2), "nothing is secret any more")
    }

    /// What is read while the window of an input method is not on the screen does not count.
    @Test func inputMethodsThatAreUnmapped() {
        let all: [UInt32: WindowFacts] = [
            1: Self.facts(1, x: 5, secure: 1), 2: Self.facts(2, x: 300, override: true, className: "fcitx"),
        ]
        var model = Self.model(all)
        model.apply(WindowEvent(.unmapped, 2, sequence: 9))
        model.read([:], compositor: Self.manager)
        model.apply(WindowEvent(.went, 1, sequence: 10))
        model.apply(WindowEvent(.mapped, 2, sequence: 11))
        #expect(Self.hidden(model) == [])
    }

    /// Panels have icons of input methods in them, which are windows of other programs.
    @Test func panelsWithInputMethods() {
        var panel = Self.facts(2, x: 300, override: true, className: "panel")
        panel.names.append(WindowNames(window: 7, className: "fcitx"))
        #expect(Self.hidden(Self.model([1: Self.facts(1, x: 5, secure: 1), 2: panel])) == [5])
    }

    private static func panel(_ window: UInt32, maker: UInt32, inside: [UInt32]) -> WindowFacts {
        var panel = facts(window, x: 600)
        (panel.types, panel.maker, panel.inside, panel.hasFrame) = ([.dock], maker, inside, maker == manager)
        return panel
    }

    /// Popups of a panel, and of programs that have an applet or an icon in it, may show previews of secret windows.
    @Test(arguments: [(2, true), (7, true), (8, false)] as [(UInt32, Bool)], [true, false])
    func previewsOfPanels(popup: (maker: UInt32, isHidden: Bool), isComposited: Bool) {
        var preview = Self.facts(3, x: 300, override: true)
        preview.maker = popup.maker
        let panel = Self.panel(2, maker: 2, inside: [2, 7])
        let all: [UInt32: WindowFacts] = [1: Self.facts(1, x: 5, secure: 1), 2: panel, 3: preview]
        var model = Self.model(all, isComposited: isComposited)
        #expect(Self.hidden(model) == (popup.isHidden ? [5, 300] : [5]))
        model.apply(WindowEvent(.went, 1, sequence: 9))
        #expect(Self.hidden(model).contains(300) == popup.isHidden)
        model.apply(WindowEvent(.unmapped, 3, sequence: 10))
        model.apply(WindowEvent(.mapped, 3, sequence: 11))
        #expect(!model.isSecure(3), "nothing is secret any more")
    }

    /// A panel that has gone shows no previews.
    @Test func previewsOfAPanelThatHasGone() {
        let popup = Self.facts(3, x: 300, override: true)
        var model = Self.model([1: Self.facts(1, x: 5, secure: 1), 2: Self.panel(2, maker: 3, inside: [2, 3])])
        model.apply(WindowEvent(.went, 2, sequence: 9))
        model.apply(WindowEvent(.came(popup.place), 3, sequence: 10))
        model.apply(WindowEvent(.mapped, 3, sequence: 11))
        model.read([3: popup], compositor: Self.manager)
        #expect(Self.hidden(model) == [5])
    }

    /// The frame of a panel does not make its window manager one that shows previews.
    @Test func menusOfTheManagerOfAPanel() {
        var (menu, applet) = (Self.facts(3, x: 300, override: true), Self.facts(4, x: 500, override: true))
        (menu.maker, applet.maker) = (Self.manager, 7)
        let panel = Self.panel(Self.manager, maker: Self.manager, inside: [Self.manager, 7])
        let all: [UInt32: WindowFacts] = [1: Self.facts(1, x: 5, secure: 1), Self.manager: panel, 3: menu, 4: applet]
        #expect(Self.hidden(Self.model(all, isComposited: false)) == [5, 500])
    }
}
