import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: menus and dialogs of a secret window are hidden with it; what a window manager makes is no menu; and a
/// window that is captured alone has its own menus and dialogs, and those of no other window.
@Suite struct WindowBelongingTests {
    private static let bounds = CaptureRectangle(x: 0, y: 0, width: 1000, height: 800)
    private static let manager: UInt32 = 0x20_0000
    private static func place(_ x: UInt32) -> CaptureRectangle {
        CaptureRectangle(x: Int(x), y: 10, width: 100, height: 50)
    }

    /// A window that its program draws as its icon, and that a manager puts into one of its own, is the program's.
    @Test(arguments: [false, true]) func icons(isInside: Bool) {
        var chosen = Self.window(1, process: 50, secure: 1)
        chosen.icon = 90
        var plain = Self.window(2, process: 51)
        plain.icon = 91
        var tile = Self.window(3, process: 9, maker: Self.manager, all: isInside ? [3, 90] : [])
        if !isInside { chosen.icon = 3 }
        tile.isOverrideRedirect = true
        let other = Self.window(4, process: 9, maker: Self.manager, all: [4, 91])
        #expect(Self.hidden(Self.model([1: chosen, 2: plain, 3: tile, 4: other])) == [1, 3])
    }

    /// No rule for a class can match picture-in-picture of Chromium.
    @Test(arguments: ["class=chrom*", "title=page"]) func windowsWithoutAClass(rule: String) throws {
        var rules = WindowRules()
        try rules.add(rule)
        var browser = Self.window(1, process: 50, className: "Chromium")
        browser.names[0].title = "page"
        var model = Self.model(
            [
                1: browser, 2: Self.window(2, process: 50), 3: Self.window(3, process: 50, className: "Other"),
                4: Self.window(4, process: 51), 5: Self.window(5, process: 50, maker: Self.manager),
            ], rules: rules)
        #expect(Self.hidden(model) == (rule.hasPrefix("class") ? [1, 2] : [1]))
        // The program ends, one window after the other.
        model.apply(WindowEvent(.went, 1, sequence: 9, destroyed: 1))
        model.read([:], manager: .client(Self.manager))
        #expect(Self.hidden(model) == (rule.hasPrefix("class") ? [2] : []))
    }

    /// A window at the place of its number.
    private static func window(
        _ number: UInt32, process: UInt32?, maker: UInt32 = 0, override: Bool = false, secure: UInt32 = 0,
        for parent: UInt32? = nil, group: UInt32? = nil, isForGroup: Bool = false, all: [UInt32] = [],
        className: String = ""
    ) -> WindowFacts {
        WindowFacts(
            place: place(number), isViewable: true, isOverrideRedirect: override,
            names: [WindowNames(window: number, className: className, process: process, maker: maker)], secure: secure,
            transientFor: parent, client: number, group: group, isTransientForGroup: isForGroup, inside: all)
    }

    /// A frame around a client, as i3 and icewm make it: an override-redirect window with a name.
    private static func frame(
        _ number: UInt32, of client: UInt32, process: UInt32, secure: UInt32 = 0, for parent: UInt32? = nil,
        hasState: Bool = true, maker: UInt32 = manager
    ) -> WindowFacts {
        WindowFacts(
            place: place(number), isViewable: true, isOverrideRedirect: true,
            names: [
                WindowNames(window: client, process: process, maker: process),
                WindowNames(window: number, className: "i3-frame", process: 9, maker: maker),
            ], secure: secure, transientFor: parent, client: client, maker: maker, hasFrame: hasState)
    }

    private static func model(
        _ all: [UInt32: WindowFacts], manager: WindowManager = .client(manager), rules: WindowRules = WindowRules()
    ) -> WindowModel {
        var model = WindowModel(rules, bounds: bounds)
        model.addAndRead(all, manager: manager)
        return model
    }

    private static func hidden(_ model: WindowModel) -> [Int] {
        model.secrets(hidesUnknown: false).places.map(\.x).sorted()
    }

    // MARK: Menus

    /// Frames of clients of others, frames of the secret window's process, and panels.
    @Test(arguments: [true, false]) func framesAndPanelsAreNoMenus(hasState: Bool) {
        var model = Self.model([
            1: Self.frame(1, of: 100, process: 50, secure: 1, hasState: hasState),
            2: Self.frame(2, of: 200, process: 60, hasState: hasState),
            3: Self.frame(3, of: 300, process: 50, hasState: hasState),
            4: Self.window(4, process: 9, maker: Self.manager, override: true),
            5: Self.window(5, process: 50, override: true),
        ])
        #expect(Self.hidden(model) == [1, 5])
        model.apply(WindowEvent(.went, 1, sequence: 11, destroyed: 1))
        #expect(Self.hidden(model) == [5])
        // What comes later is judged by owners that are remembered.
        model.addAndRead([
            6: Self.frame(6, of: 600, process: 60, hasState: hasState),
            7: Self.window(7, process: 9, maker: Self.manager, override: true),
            8: Self.window(8, process: 50, override: true),
        ])
        #expect(Self.hidden(model) == [5, 8])
    }

    /// twm does not say who it is; its frames do, by what is in them.
    @Test func anUnnamedManager() {
        let windows: [UInt32: WindowFacts] = [
            1: Self.frame(1, of: 100, process: 50, secure: 1), 2: Self.frame(2, of: 200, process: 60),
            3: Self.window(3, process: 9, maker: Self.manager, override: true),
            4: Self.window(4, process: 50, override: true),
        ]
        #expect(Self.hidden(Self.model(windows, manager: .unnamed)) == [1, 4])
        // Without a manager, nothing is a frame: nobody knows what such a window is.
        #expect(Self.hidden(Self.model(windows, manager: .none)) == [1, 2, 3, 4])
    }

    /// One process with two X clients: one manages windows, the other one has a secret window and a menu.
    @Test func aProcessThatIsTheManager() {
        let model = Self.model([
            1: Self.window(1, process: 9, maker: 0x40_0000, secure: 1),
            2: Self.window(2, process: 9, maker: 0x40_0000, override: true),
            3: Self.frame(3, of: 300, process: 60),
        ])
        #expect(Self.hidden(model) == [1, 2])
    }

    // MARK: Dialogs

    /// It names a window inside an embedded program, which has no name and no class.
    @Test func aDialogOfAnUnnamedWindow() {
        let model = Self.model([
            1: Self.window(1, process: 50, secure: 1, all: [1, 110, 111]),
            2: Self.window(2, process: 60, for: 111), 3: Self.window(3, process: 60, for: 112),
        ])
        #expect(Self.hidden(model) == [1, 2])
    }

    /// Its parent is destroyed: inside a frame, without one, as the window that it names, or as one of its group.
    @Test func aDialogWhoseParentIsGone() {
        var model = Self.model([
            1: Self.frame(1, of: 100, process: 50, secure: 1), 2: Self.window(2, process: 60, for: 100),
            3: Self.window(3, process: 61, for: 2), 4: Self.window(4, process: 62, secure: 1, group: 77),
            5: Self.window(5, process: 62, group: 77, isForGroup: true), 6: Self.window(6, process: 63),
        ])
        #expect(Self.hidden(model) == [1, 2, 3, 4, 5])
        model.apply(WindowEvent(.changed, 1, sequence: 11, destroyed: 100))
        model.read([1: Self.window(1, process: 9, maker: Self.manager, override: true)])
        model.apply(WindowEvent(.went, 1, sequence: 12, destroyed: 1))
        model.apply(WindowEvent(.went, 4, sequence: 13, destroyed: 4))
        model.read([6: Self.window(6, process: 63)])
        #expect(Self.hidden(model) == [2, 3, 5])
        // Into a frame and out again, it is the same dialog.
        model.apply(WindowEvent(.went, 2, sequence: 14))
        model.addAndRead([7: Self.frame(7, of: 2, process: 60, for: 100)])
        #expect(Self.hidden(model) == [3, 5, 7])
        model.apply(WindowEvent(.changed, 7, sequence: 15, destroyed: 2))
        model.read([7: Self.frame(7, of: 70, process: 60)])
        model.apply(WindowEvent(.went, 3, sequence: 16, destroyed: 3))
        #expect(Self.hidden(model) == [5], "another window may have its number")
        model.addAndRead([2: Self.window(2, process: 60), 3: Self.window(3, process: 60)])
        #expect(Self.hidden(model) == [5])
    }

    /// Its parent is destroyed before the dialog is read: as the window that it names, or as one of its group.
    @Test func aDialogThatIsReadWhenItsParentIsGone() {
        var model = Self.model([
            1: Self.frame(1, of: 100, process: 50, secure: 1),
            4: Self.window(4, process: 62, secure: 1, group: 77), 6: Self.window(6, process: 63, group: 88),
            77: Self.window(77, process: 62),
        ])
        for dialog: UInt32 in [2, 5, 7, 8] { model.apply(WindowEvent(.came(Self.place(dialog)), dialog, sequence: 11)) }
        for dialog: UInt32 in [2, 5, 7, 8] { model.apply(WindowEvent(.mapped, dialog, sequence: 11)) }
        model.apply(WindowEvent(.rearranged, 1, sequence: 12, destroyed: 100))
        for window: UInt32 in [1, 4, 6] { model.apply(WindowEvent(.went, window, sequence: 13, destroyed: window)) }
        let dialogs: [UInt32: WindowFacts] = [
            2: Self.window(2, process: 60, for: 100), 5: Self.window(5, process: 62, group: 77, isForGroup: true),
            7: Self.window(7, process: 61, for: 6), 8: Self.window(8, process: 61, group: 88, isForGroup: true),
        ]
        model.read(dialogs)
        #expect(Self.hidden(model) == [2, 5])
        // Another window has the number of one that is gone.
        model.addAndRead([100: Self.window(100, process: 70)])
        model.addAndRead([9: Self.window(9, process: 71, for: 100)])
        model.apply(WindowEvent(.changed, 2, sequence: 14))
        model.read(dialogs.filter { $0.key == 2 })
        #expect(Self.hidden(model) == [2, 5], "a dialog stays what it is")
    }

    /// A client comes into a frame that is known, or leaves the root window for one that is not, and ends: nobody has
    /// looked at it there. Its dialog may be that of a secret one.
    @Test(arguments: [true, false]) func aDialogOfAWindowThatNobodyHasSeen(isFrameKnown: Bool) {
        var model = Self.model([
            1: Self.window(1, process: 9, maker: Self.manager), 3: Self.window(3, process: 60, group: 77),
        ])
        if isFrameKnown {
            model.apply(WindowEvent(.cameInside(isStranger: true), 1, sequence: 11))
        } else {
            model.apply(WindowEvent(.came(Self.place(100)), 100, sequence: 11))
            model.apply(WindowEvent(.came(Self.place(4)), 4, sequence: 11))
            model.apply(WindowEvent(.went, 100, sequence: 12))
        }
        model.apply(WindowEvent(.came(Self.place(2)), 2, sequence: 13))
        model.apply(WindowEvent(.mapped, 2, sequence: 14))
        if isFrameKnown { model.apply(WindowEvent(.rearranged, 1, sequence: 15, destroyed: 100)) }
        let dialog = Self.window(2, process: 60, for: 100)
        var found = model
        model.read([
            1: Self.window(1, process: 9, maker: Self.manager), 2: dialog,
            4: Self.window(4, process: 9, maker: Self.manager),
        ])
        #expect(Self.hidden(model) == [2])
        if isFrameKnown { return }
        found.read([2: dialog, 4: Self.frame(4, of: 100, process: 60)])
        #expect(Self.hidden(found) == [], "it is in a frame, and harmless")
    }

    /// The only window of a group ends in its frame, which is still there.
    @Test func aDialogOfAGroupWhoseClientIsGone() {
        var frame = Self.frame(1, of: 100, process: 50, secure: 1)
        frame.group = 77
        var model = Self.model([1: frame])
        model.apply(WindowEvent(.came(Self.place(2)), 2, sequence: 11))
        model.apply(WindowEvent(.mapped, 2, sequence: 11))
        model.apply(WindowEvent(.rearranged, 1, sequence: 12, destroyed: 100))
        model.read([
            1: Self.window(1, process: 9, maker: Self.manager),
            2: Self.window(2, process: 51, group: 77, isForGroup: true),
        ])
        #expect(Self.hidden(model) == [2])
    }

    /// A harmless window gets another title and ends before it is read: its dialogs and menus stay harmless.
    @Test func dialogsOfAHarmlessWindowThatIsGone() {
        let dialogs = [
            2: Self.window(2, process: 50, group: 77, isForGroup: true), 3: Self.window(3, process: 50, for: 1),
        ] as [UInt32: WindowFacts]
        var model = Self.model([1: Self.window(1, process: 50, group: 77)].merging(dialogs) { $1 })
        model.apply(WindowEvent(.changed, 1, sequence: 11))
        model.apply(WindowEvent(.came(Self.place(4)), 4, sequence: 11))
        model.apply(WindowEvent(.mapped, 4, sequence: 11))
        model.apply(WindowEvent(.went, 1, sequence: 12, destroyed: 1))
        model.read([4: Self.window(4, process: 50, override: true, for: 1)])
        #expect(Self.hidden(model) == [])
        // Another window has the number of the one that is gone, and nobody looks at it.
        model.apply(WindowEvent(.came(Self.place(1)), 1, sequence: 13))
        model.apply(WindowEvent(.went, 1, sequence: 14, destroyed: 1))
        model.apply(WindowEvent(.changed, 4, sequence: 15))
        model.read([4: Self.window(4, process: 50, override: true)])
        #expect(Self.hidden(model) == [], "they were known before it came")
    }

    /// A window comes and goes, and another one gets its number: it leads the group of a dialog.
    @Test func aDialogOfANumberThatIsUsedAgain() {
        var model = Self.model([1: Self.window(1, process: 50)])
        model.apply(WindowEvent(.came(Self.place(9)), 9, sequence: 11))
        model.apply(WindowEvent(.went, 9, sequence: 12, destroyed: 9))
        for window: UInt32 in [9, 2] { model.apply(WindowEvent(.came(Self.place(window)), window, sequence: 13)) }
        model.apply(WindowEvent(.mapped, 2, sequence: 14))
        model.read([
            2: Self.window(2, process: 60, group: 9, isForGroup: true), 9: Self.window(9, process: 60),
        ])
        #expect(Self.hidden(model) == [])
    }

    /// A program makes a window a menu after it was read and before it is mapped.
    @Test func aWindowThatBecomesAMenu() {
        var model = Self.model([1: Self.window(1, process: 50, secure: 1), 2: Self.window(2, process: 50)])
        model.apply(WindowEvent(.mapped, 2, sequence: 11, isOverrideRedirect: false))
        #expect(!model.hasUnknown && Self.hidden(model) == [1])
        model.apply(WindowEvent(.mapped, 2, sequence: 12, isOverrideRedirect: true))
        #expect(model.unread.windows == [2])
        model.read([2: Self.window(2, process: 50, override: true)])
        #expect(Self.hidden(model) == [1, 2])
    }

    /// More windows are gone than anybody remembers: a dialog of one that is not there is hidden.
    @Test func dialogsOfManyWindows() {
        var dialogs = SecretDialogs()
        for window: UInt32 in 2..<4096 { dialogs.noteGone(window, group: nil) }
        #expect(!dialogs.wasSecret(1) && dialogs.wasSecret(4095))
        dialogs.noteGone(4096, group: 5000)
        dialogs.noteGone(4097, group: nil)
        #expect([1, 4097, 5000, 6000].allSatisfy(dialogs.wasSecret))
        // Those that are remembered no longer make room for those that are not.
        dialogs.came(2)
        #expect([1, 4097, 6000].allSatisfy(dialogs.wasSecret))
        dialogs.forgetGone()
        #expect(![1, 4097, 5000].contains(where: dialogs.wasSecret))
    }

    /// Its parent is there, and does not want to be hidden any more.
    @Test func aDialogOfAHarmlessWindow() {
        var model = Self.model([
            1: Self.window(1, process: 50, secure: 1, all: [1, 110]), 2: Self.window(2, process: 60, for: 110),
        ])
        model.apply(WindowEvent(.changed, 1, sequence: 11))
        #expect(Self.hidden(model) == [2])
        model.read([1: Self.window(1, process: 50, all: [1, 110])])
        #expect(Self.hidden(model) == [])
    }

    /// A secret program ends inside another one, which stays.
    @Test func aDialogOfAWindowThatIsGone() {
        var model = Self.model([
            1: Self.window(1, process: 50, secure: 1, all: [1, 110]), 2: Self.window(2, process: 60, for: 110),
        ])
        model.apply(WindowEvent(.changed, 1, sequence: 11, destroyed: 110))
        model.read([1: Self.window(1, process: 50, secure: 1, all: [1])])
        #expect(Self.hidden(model) == [1, 2])
        model.apply(WindowEvent(.changed, 1, sequence: 12))
        model.read([1: Self.window(1, process: 50, all: [1])])
        #expect(Self.hidden(model) == [2])
    }

    // MARK: A window that is captured alone

    private static func popups(_ all: [UInt32: WindowFacts], manager: WindowManager = .client(manager)) -> [UInt32] {
        model(all, manager: manager).popups(of: 1).map(\.top)
    }

    /// Two windows of one process in frames that look like menus.
    @Test func otherWindowsOfItsProcess() {
        #expect(
            Self.popups([
                1: Self.frame(1, of: 100, process: 50), 2: Self.frame(2, of: 200, process: 50),
                3: Self.frame(3, of: 300, process: 50, for: 100), 4: Self.frame(4, of: 400, process: 50, for: 200),
            ]) == [3])
        // Without a manager, they are no override-redirect windows.
        #expect(
            Self.popups([1: Self.window(1, process: 50), 2: Self.window(2, process: 50)], manager: .none) == [])
    }

    /// A menu says whose it is, also over a dialog or another menu; or nobody knows it if there are two windows.
    @Test func menusOfTwoWindows() {
        var windows: [UInt32: WindowFacts] = [
            1: Self.frame(1, of: 100, process: 50), 2: Self.frame(2, of: 200, process: 50),
            3: Self.window(3, process: 50, override: true, for: 100),
            4: Self.window(4, process: 50, override: true, for: 3),
            5: Self.window(5, process: 50, override: true, for: 200),
            6: Self.window(6, process: 50, override: true), 7: Self.window(7, process: 60, override: true),
            8: Self.window(8, process: 50, override: true, for: 999),
        ]
        #expect(Self.popups(windows) == [3, 4])
        windows[2] = nil
        windows[5] = nil
        #expect(Self.popups(windows) == [3, 4, 6, 8])
        // A dialog is no other window.
        windows[2] = Self.frame(2, of: 200, process: 50, for: 100)
        #expect(Self.popups(windows) == [2, 3, 4, 6, 8])
    }

    /// Windows that are dialogs of each other.
    @Test func aCircle() {
        #expect(
            Self.popups([
                1: Self.window(1, process: 50), 2: Self.window(2, process: 50, for: 3),
                3: Self.window(3, process: 50, for: 2),
            ]) == [])
    }
}
