import Grabbing
import MediaCore
import Synchronization
import Testing
import UpcastClient

@testable import ScreenCapture

/// Promise: what is hidden is where the secure windows are in the picture: not before, not after, and not less.
@Suite struct WindowModelTests {
    private static let area = CaptureRectangle(x: 0, y: 0, width: 1000, height: 800)
    private static let bounds = area

    private static func place(_ x: Int) -> CaptureRectangle { CaptureRectangle(x: x, y: 10, width: 100, height: 50) }

    /// - Parameter maker: an X client, whose process has its number by default.
    private static func facts(
        _ window: UInt32, x: Int = 0, viewable: Bool = true, override: Bool = false,
        className: String = "", secure: UInt32 = 0, transientFor: UInt32? = nil, client: UInt32? = nil,
        process: UInt32? = nil, maker: UInt32? = nil, title: String = "", isTitleCut: Bool = false,
        types: WindowFacts.Types = [], group: UInt32? = nil, isForGroup: Bool = false, inside: [WindowNames] = [],
        all: [UInt32] = [], inputOnly: Bool = false
    ) -> WindowFacts {
        WindowFacts(
            place: place(x), isViewable: viewable, isOverrideRedirect: override,
            names: [
                WindowNames(
                    window: client ?? window, className: className, title: title, isTitleCut: isTitleCut,
                    process: process ?? maker, maker: maker ?? window)
            ] + inside, types: types, secure: secure, transientFor: transientFor, client: client ?? window,
            group: group, isTransientForGroup: isForGroup, isInputOnly: inputOnly, inside: all)
    }

    private static func model(_ all: [UInt32: WindowFacts], rules: [String] = []) throws -> WindowModel {
        var list = WindowRules()
        for rule in rules { try list.add(rule) }
        var model = WindowModel(list, bounds: area)
        model.addAndRead(all)
        return model
    }

    private static func hidden(_ model: WindowModel) -> [Int] {
        model.secrets(hidesUnknown: false).regions(in: area).rectangles.map(\.x)
    }

    @Test func theWindowsWish() throws {
        var model = try Self.model([1: Self.facts(1, x: 5, secure: 1), 2: Self.facts(2, x: 300)])
        #expect(Self.hidden(model) == [5] && !model.hasUnknown)
        model.apply(WindowEvent(.moved(Self.place(40)), 1, sequence: 11))
        #expect(Self.hidden(model) == [40])
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        #expect(Self.hidden(model) == [])
        model.apply(WindowEvent(.mapped, 1, sequence: 13))
        #expect(Self.hidden(model) == [40] && !model.hasUnknown, "what is known stays so")
        model.apply(WindowEvent(.went, 1, sequence: 14))
        #expect(Self.hidden(model) == [])
    }

    /// A menu is read before the secure window whose it is: what it left before anybody knew is secret, too.
    @Test func whatAMenuLeftBeforeItIsRead() {
        var model = WindowModel(WindowRules(), bounds: Self.area, showsScreen: true)
        model.apply(WindowEvent(.came(Self.place(700)), 2, sequence: 3))
        model.apply(WindowEvent(.came(Self.place(40)), 1, sequence: 4))
        model.apply(WindowEvent(.mapped, 1, sequence: 5))
        model.apply(WindowEvent(.moved(Self.place(500)), 1, sequence: 6))
        model.read([
            1: Self.facts(1, x: 500, override: true, process: 77),
            2: Self.facts(2, x: 700, viewable: false, secure: 1, process: 77),
        ])
        #expect(Set(Self.hidden(model)) == [40, 500])
    }

    /// A manager that composites shows pictures of windows in its own ones, such as those to switch to.
    @Test(arguments: [
        (WindowManager.client(9), UInt32?.some(9), UInt32(1), [5, 300]), (.client(9), 9, 0, []),
        (.client(9), 8, 1, [5]), (.client(9), nil, 1, [5]), (.unnamed, 9, 1, [5]), (.none, 9, 1, [5]),
    ])
    func windowsWithPictures(manager: WindowManager, compositor: UInt32?, secure: UInt32, hidden: [Int]) throws {
        var frame = Self.facts(3, x: 600, override: true, client: 4, maker: 9)
        frame.hasFrame = true
        let all: [UInt32: WindowFacts] = [
            1: Self.facts(1, x: 5, secure: secure), 2: Self.facts(2, x: 300, override: true, maker: 9), 3: frame,
            5: Self.facts(5, x: 800, maker: 9),
        ]
        var model = try Self.model(all)
        model.isComposited = compositor != nil
        model.read(all, manager: manager, compositor: compositor)
        #expect(Self.hidden(model) == hidden)
    }

    /// A window manager that composites from some moment on: its windows are unknown until it was asked for.
    @Test func windowsOfANewCompositor() throws {
        let all: [UInt32: WindowFacts] = [
            1: Self.facts(1, x: 5, secure: 1), 2: Self.facts(2, x: 300, override: true, maker: 9),
        ]
        var model = try Self.model(all)
        model.read(all, manager: .client(9))
        #expect(Self.hidden(model) == [5] && !model.hasUnknown && !model.hasUnread && !model.isSecure(2))
        model.isComposited = true
        model.hasUnreadManagers = true
        #expect(model.hasUnknown && model.hasUnread && model.unread.windows.isEmpty)
        model.read([:], manager: .client(9), compositor: 9)
        #expect(Self.hidden(model) == [5, 300] && !model.hasUnknown && !model.hasUnread && model.isSecure(2))
    }

    /// The pictures stay when the secret window is gone. The manager's windows beside the screen, and those that cover
    /// all of it, are no such ones.
    @Test func windowsThatKeepPictures() throws {
        var windows: [UInt32: WindowFacts] = [
            1: Self.facts(1, x: 5, secure: 1), 2: Self.facts(2, x: 300, override: true, maker: 9),
            3: Self.facts(3, override: true, maker: 9), 4: Self.facts(4, override: true, maker: 9),
            5: Self.facts(5, x: 700, override: true, maker: 9, types: .desktop),
        ]
        windows[3]?.place = CaptureRectangle(x: -1000, y: -1000, width: 5, height: 5)
        windows[4]?.place = Self.bounds
        var model = try Self.model(windows)
        model.isComposited = true
        model.read(windows, manager: .client(9), compositor: 9)
        #expect(Self.hidden(model) == [5, 300] && model.showsSecret)
        model.apply(WindowEvent(.unmapped, 2, sequence: 9))
        #expect(Self.hidden(model) == [5])
        model.apply(WindowEvent(.mapped, 2, sequence: 10))
        #expect(Self.hidden(model) == [5, 300])
        model.apply(WindowEvent(.went, 1, sequence: 11))
        model.read([6: Self.facts(6, x: 500)], compositor: 9)
        #expect(Self.hidden(model) == [300] && !model.showsSecret)
        _ = model.takeLeft()
        model.apply(WindowEvent(.unmapped, 2, sequence: 12))
        #expect(Self.hidden(model) == [] && model.takeLeft() == [.place(Self.place(300), of: 2)])
        model.apply(WindowEvent(.mapped, 2, sequence: 13))
        #expect(Self.hidden(model) == [])
    }

    /// A window of which nothing is known holds the picture back, and is hidden where that does not help.
    @Test func unknownWindows() throws {
        var model = try Self.model([1: Self.facts(1, x: 5)])
        model.apply(WindowEvent(.came(nil), 2, sequence: 11))
        #expect(model.hasUnknown && model.unread.windows == [2], "others may belong to it")
        model.apply(WindowEvent(.mapped, 2, sequence: 12))
        #expect(model.hasUnknown && model.unread.windows == [2])
        #expect(model.secrets(hidesUnknown: true).regions(in: Self.area) == .wholeFrame, "nobody knows where it is")
        model.read([:])
        #expect(model.hasUnknown && model.unread.windows == [2])
        model.read([2: Self.facts(2, x: 9)])
        #expect(!model.hasUnknown && Self.hidden(model) == [])
        // It may have moved since it was read: an event tells.
        model.read([2: Self.facts(2, x: 700)])
        model.apply(WindowEvent(.changed, 2, sequence: 21))
        #expect(model.hasUnknown && model.unread.windows == [2])
        #expect(model.secrets(hidesUnknown: true).places == [Self.place(9)])
    }

    /// Programs change WM_NAME and _NET_WM_NAME at once. With a compositing manager, the place of a harmless window
    /// must not be hidden each time, unless a rule reads titles.
    @Test(arguments: [[], ["title=*Private*"]]) func titlesThatChange(rules: [String]) throws {
        var list = WindowRules()
        for rule in rules { try list.add(rule) }
        var model = WindowModel(list, bounds: Self.area, showsScreen: true)
        model.isComposited = true
        model.addAndRead([1: Self.facts(1, x: 5)])
        for step in 0..<2 { model.apply(WindowEvent(.renamed, 1, sequence: UInt32(11 + step))) }
        #expect(model.unread.windows == [1])
        #expect(model.takeLeft().compactMap(\.place) == (rules.isEmpty ? [] : [Self.place(5)]))
        // One that is not on the screen, and harmless, keeps no picture back.
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        #expect(model.hasUnknown == !rules.isEmpty)
        model.apply(WindowEvent(.mapped, 1, sequence: 12))
        // It may have become secure before the title changed.
        model.apply(WindowEvent(.changed, 1, sequence: 13))
        _ = model.takeLeft()
        model.apply(WindowEvent(.renamed, 1, sequence: 14))
        #expect(model.takeLeft().compactMap(\.place) == [Self.place(5)])
    }

    /// Windows that only take input show nothing, whatever rule they match and whenever they are mapped.
    @Test func windowsWithoutPixels() throws {
        var model = try Self.model([1: Self.facts(1, x: 5, viewable: false, className: "kiosk", inputOnly: true)],
            rules: ["class=kiosk"])
        model.apply(WindowEvent(.mapped, 1, sequence: 11))
        #expect(Self.hidden(model) == [])
        model.apply(WindowEvent(.came(Self.place(9)), 2, sequence: 12))
        model.apply(WindowEvent(.mapped, 2, sequence: 13))
        #expect(model.secrets(hidesUnknown: true).places == [Self.place(9)], "nobody knows yet")
        model.read([2: Self.facts(2, x: 9, viewable: false, className: "kiosk", inputOnly: true)])
        #expect(Self.hidden(model) == [] && !model.hasUnknown)
        // One that wants everything to be hidden does not speak of its own pixels.
        model.read([1: Self.facts(1, x: 5, viewable: false, secure: 2, inputOnly: true)])
        model.apply(WindowEvent(.mapped, 1, sequence: 14))
        #expect(model.secrets(hidesUnknown: true).isEverywhere)
        // It may also say so when it has long been mapped, and take it back.
        model.apply(WindowEvent(.changed, 2, sequence: 15))
        model.read([2: Self.facts(2, x: 9, viewable: true, inputOnly: true)])
        model.apply(WindowEvent(.unmapped, 1, sequence: 16))
        #expect(!model.secrets(hidesUnknown: true).isEverywhere)
        for secure in [2, 0] as [UInt32] {
            model.apply(WindowEvent(.changed, 2, sequence: 17))
            model.read([2: Self.facts(2, x: 9, viewable: true, secure: secure, inputOnly: true)])
            #expect(model.secrets(hidesUnknown: true).isEverywhere == (secure == 2))
        }
        // It goes just after it was read, and is not on the screen when that is noted.
        model.apply(WindowEvent(.changed, 2, sequence: 18))
        model.apply(WindowEvent(.unmapped, 2, sequence: 19))
        model.read([2: Self.facts(2, x: 9, viewable: true, secure: 2, inputOnly: true)])
        #expect(!model.secrets(hidesUnknown: true).isEverywhere)
    }

    /// They are mapped at the start, where a window manager's look like frames of clients that are gone.
    @Test func windowsWithoutPixelsFromTheStart() {
        var facts = Self.facts(1, x: 5, inputOnly: true)
        facts.isEmptyFrame = true
        var model = WindowModel(WindowRules(), bounds: Self.area, showsScreen: true)
        model.addAndRead([1: facts])
        #expect(Self.hidden(model) == [] && !model.hasUnknown)
        // One that hides everything is no picture that could be captured alone.
        model.apply(WindowEvent(.changed, 1, sequence: 11))
        model.read([1: Self.facts(1, x: 5, secure: 2, inputOnly: true)])
        #expect(model.secrets(hidesUnknown: true).isEverywhere)
        #expect(model.window(chosenBy: .number(1))?.top == nil)
    }

    /// A menu is on the screen before the secure window of its process, which a window manager maps later.
    @Test func aMenuThatIsFirst() throws {
        var model = try Self.model([:])
        model.apply(WindowEvent(.came(Self.place(5)), 1, sequence: 11))
        model.apply(WindowEvent(.came(Self.place(9)), 2, sequence: 12))
        model.apply(WindowEvent(.mapped, 2, sequence: 13))
        #expect(model.hasUnknown && model.unread.windows == [1, 2])
        model.read([
            1: Self.facts(1, x: 5, viewable: false, secure: 1, process: 77),
            2: Self.facts(2, x: 9, override: true, process: 77),
        ])
        #expect(Self.hidden(model) == [9])
    }

    /// At the start, what is there may be seen.
    @Test func theFirstPictureWaits() {
        var model = WindowModel(WindowRules(), bounds: Self.bounds)
        model.add(7, 3, at: Self.place(20))
        #expect(model.hasUnknown && model.unread.windows == [3, 7])
        #expect(model.secrets(hidesUnknown: true).places == [Self.place(20)])
    }

    /// A change of any window that was looked at concerns the child of the root window around it, and no other.
    @Test func windowsInsideFrames() throws {
        var model = try Self.model([
            1: Self.facts(1, client: 100, all: [1, 150, 100, 101]), 2: Self.facts(2, client: 200), 3: Self.facts(3),
        ])
        model.apply(WindowEvent(.changed, 200, sequence: 11))
        #expect(model.hasUnknown && model.unread.windows == [2])
        // A client that makes and destroys windows without a name inside.
        for step in 12..<1000 { model.apply(WindowEvent(.changed, step % 2 == 0 ? 101 : 150, sequence: UInt32(step))) }
        #expect(model.unread.windows == [1, 2])
        #expect(model.secrets(hidesUnknown: true).places == [Self.place(0)])
        // It has left 1, and is in no other one that was looked at.
        model.read([1: Self.facts(1, client: 100, all: [1, 100])])
        model.read([2: Self.facts(2, client: 200)])
        for window: UInt32 in [101, 150, 999] { model.apply(WindowEvent(.changed, window, sequence: 1001)) }
        #expect(model.unread.windows == [])
    }

    /// A window inside a frame goes to another one, whichever of the two is read first.
    @Test(arguments: [[UInt32(1), 2], [2, 1]]) func windowsThatChangeFrames(order: [UInt32]) throws {
        var model = try Self.model([
            1: Self.facts(1, client: 100, all: [1, 100, 101]), 2: Self.facts(2, client: 200, all: [2, 200]),
        ])
        for window: UInt32 in [100, 200] { model.apply(WindowEvent(.changed, window, sequence: 11)) }
        let facts: [UInt32: WindowFacts] = [
            1: Self.facts(1, client: 100, all: [1, 100]), 2: Self.facts(2, client: 200, all: [2, 200, 101]),
        ]
        for window in order { model.read(facts.filter { $0.key == window }) }
        model.apply(WindowEvent(.changed, 101, sequence: 12))
        #expect(model.unread.windows == [2])
        model.apply(WindowEvent(.went, 2, sequence: 13))
        model.apply(WindowEvent(.changed, 101, sequence: 14))
        #expect(model.unread.windows == [])
    }

    /// Over a network, the server does not know processes: the X client counts.
    @Test func menusOverANetwork() throws {
        let model = try Self.model([
            1: Self.overNetwork(Self.facts(1, x: 1, secure: 1, maker: 0x40_0000)),
            2: Self.overNetwork(Self.facts(2, x: 2, override: true, maker: 0x40_0000)),
            3: Self.overNetwork(Self.facts(3, x: 3, override: true, maker: 0x60_0000)),
        ])
        #expect(Self.hidden(model) == [1, 2])
    }

    private static func overNetwork(_ facts: WindowFacts) -> WindowFacts {
        var facts = facts
        facts.names[0].owner = .client(facts.maker)
        return facts
    }

    /// A dialog of the whole group; and one of another group.
    @Test func dialogsOfAGroup() throws {
        let model = try Self.model([
            1: Self.facts(1, x: 1, secure: 1, group: 100), 2: Self.facts(2, x: 2, group: 100, isForGroup: true),
            3: Self.facts(3, x: 3, group: 1, isForGroup: true), 4: Self.facts(4, x: 4, group: 200, isForGroup: true),
            5: Self.facts(5, x: 5, group: 100),
        ])
        #expect(Self.hidden(model) == [1, 2, 3], "3 has the secure window as its group's leader")
    }

    /// A window of another program, embedded in one that is not secret; and its menu.
    @Test func windowsInsideAClient() throws {
        let inside = WindowNames(window: 900, className: "SecretTerm", process: 60)
        var model = try Self.model(
            [
                1: Self.facts(1, x: 1, className: "Tabs", process: 50, inside: [inside]),
                2: Self.facts(2, x: 2, override: true, process: 60), 3: Self.facts(3, x: 3),
            ], rules: ["class=SecretTerm"])
        #expect(Self.hidden(model) == [1, 2])
        model.apply(WindowEvent(.changed, 900, sequence: 11))
        #expect(model.unread.windows == [1])
    }

    /// A tab, or a program inside another one, is the parent of a dialog.
    @Test func aDialogOfAWindowInsideAClient() throws {
        let inside = WindowNames(window: 900, className: "SecretTerm", process: 60)
        let model = try Self.model(
            [
                1: Self.facts(1, x: 1, className: "Tabs", process: 50, inside: [inside]),
                2: Self.facts(2, x: 2, transientFor: 900), 3: Self.facts(3, x: 3, transientFor: 901),
            ], rules: ["class=SecretTerm"])
        #expect(Self.hidden(model) == [1, 2])
    }

    /// Nobody knows what the rest of a name is.
    @Test func namesThatAreCut() throws {
        var rules = WindowRules()
        try rules.add("title=*Private Browsing")
        #expect(!rules.match(Self.facts(1, title: "A page")))
        #expect(rules.match(Self.facts(1, title: "A page", isTitleCut: true)))
    }

    /// A long title says nothing of the class, and the other way round.
    @Test func whichNameIsCut() throws {
        var classes = WindowRules(), titles = WindowRules()
        try classes.add("class=firefox")
        try titles.add("title=*Bank*")
        let browser = Self.facts(1, className: "firefox", title: "A page", isTitleCut: true)
        #expect(classes.match(browser) && classes.choose(browser))
        #expect(titles.match(browser) && !titles.choose(browser))
        let other = Self.facts(1, className: "xterm", title: "Bank", isTitleCut: true)
        #expect(!classes.match(other) && !classes.choose(other))
        var cut = Self.facts(1, className: "firefox", title: "A page")
        cut.names[0].isClassCut = true
        #expect(classes.match(cut) && !classes.choose(cut))
        #expect(!titles.match(cut))
        cut.names[0].title = "A Bank"
        #expect(titles.choose(cut))
    }

    /// A rule that chooses what viewers see takes nothing for a match that nobody knows.
    @Test func whatIsChosenIsKnown() throws {
        var titles = WindowRules()
        try titles.add("title=A page*")
        #expect(titles.choose(Self.facts(1, title: "A page")))
        // What is cut off does not matter to a star.
        for (title, isChosen) in [("A page", true), ("A pag", false), ("", false)] {
            #expect(titles.choose(Self.facts(1, title: title, isTitleCut: true)) == isChosen)
        }
        var whole = WindowRules()
        try whole.add("title=*page")
        #expect(whole.choose(Self.facts(1, title: "A page")))
        #expect(!whole.choose(Self.facts(1, title: "A page", isTitleCut: true)))
        for rule in ["process=game", "user=alice"] {
            var rules = WindowRules { $0 == 8 ? WindowRules.Process(name: "game", user: "alice") : nil }
            try rules.add(rule)
            #expect(rules.choose(Self.facts(1, process: 8)) && rules.match(Self.facts(1, process: 8)))
            #expect(!rules.choose(Self.facts(1)) && rules.match(Self.facts(1)))
            let choice = WindowChoice.rule(rules)
            var lookup = choice.lookup
            let meansUnknown = choice.means(1, Self.facts(1), &lookup)
            let meansKnown = choice.means(1, Self.facts(1, process: 8), &lookup)
            #expect(!meansUnknown && meansKnown)
        }
    }

    /// The chosen window may have changed or be gone. Another one is chosen only if it is gone.
    @Test func whetherTheChosenWindowIsThere() throws {
        var model = try Self.model([1: Self.facts(1, client: 100)])
        #expect(model.shows(100, in: 1) == true)
        model.apply(WindowEvent(.changed, 100, sequence: 11))
        #expect(model.shows(100, in: 1) == nil)
        model.read([1: Self.facts(1, client: 101)])
        #expect(model.shows(100, in: 1) == false && model.shows(101, in: 1) == true)
        model.apply(WindowEvent(.unmapped, 1, sequence: 12))
        #expect(model.shows(101, in: 1) == false && model.shows(100, in: 2) == false)
    }

    /// There are more windows in it than anybody has looked at. Its menu is hidden with it.
    @Test func unseenWindows() throws {
        var crowd = Self.facts(1, x: 1, process: 50)
        crowd.hasUnseen = true
        let model = try Self.model([1: crowd, 2: Self.facts(2, x: 2, override: true, process: 50), 3: Self.facts(3)])
        #expect(Self.hidden(model) == [1, 2])
    }

    /// The application that has to be in front: its windows, also by their client; not those of which nothing is known.
    @Test func windowsOfTheApplicationInFront() throws {
        var front = WindowRules()
        try front.add("class=Game")
        var model = WindowModel(WindowRules(), bounds: Self.bounds, front: front)
        model.add(1, 2, 3, 4, at: Self.place(0))
        #expect(!model.isOfFront(1))
        model.read([1: Self.facts(1, className: "Game", client: 100, process: 50)])
        model.read([2: Self.facts(2, override: true, process: 50)])
        model.read([3: Self.facts(3, client: 300, process: 60)])
        #expect([1, 2, 3, 4, 100, 300].map(model.isOfFront) == [true, true, false, false, true, false])
        model.apply(WindowEvent(.changed, 100, sequence: 11))
        #expect([1, 2, 100].map(model.isOfFront) == [false, false, false], "nobody knows what the window is now")
        model.read([1: Self.facts(1, className: "Other", client: 101, process: 50)])
        #expect([1, 2, 100, 101].map(model.isOfFront) == [false, false, false, false])
        model.read([3: Self.facts(3, className: "Game", client: 300, process: 50)])
        #expect([1, 2, 3, 300].map(model.isOfFront) == [true, true, true, true])
        // A window manager unmaps a window before it says that another one is active.
        #expect(model.isOfFrontAndViewable(3))
        model.apply(WindowEvent(.unmapped, 3, sequence: 12))
        #expect(model.isOfFront(3) && !model.isOfFrontAndViewable(3))
        model.apply(WindowEvent(.went, 3, sequence: 13))
        #expect([1, 2, 3, 300].map(model.isOfFront) == [false, false, false, false])
    }

    /// Dialogs, menus and what opens from them.
    @Test func whatBelongsToASecureWindow() throws {
        let model = try Self.model([
            1: Self.facts(1, x: 1, secure: 1, client: 100, process: 50),
            2: Self.facts(2, x: 2, override: true, process: 50),
            3: Self.facts(3, x: 3, transientFor: 100, process: 60),
            4: Self.facts(4, x: 4, override: true, process: 60),
            5: Self.facts(5, x: 5, process: 50),
            6: Self.facts(6, x: 6, override: true, process: 70),
            7: Self.facts(7, x: 7, override: true),
        ])
        #expect(Self.hidden(model) == [1, 2, 3, 4])
    }

    /// Managers reparent a window that is unmapped: nothing of it is known then.
    @Test func menusOfAWindowThatIsGone() throws {
        var model = try Self.model([1: Self.facts(1, secure: 1, process: 50), 2: Self.facts(2, x: 2)])
        model.apply(WindowEvent(.went, 1, sequence: 11))
        model.apply(WindowEvent(.came(Self.place(7)), 3, sequence: 12))
        model.apply(WindowEvent(.mapped, 3, sequence: 13))
        model.read([3: Self.facts(3, x: 7, override: true, process: 50)])
        #expect(Self.hidden(model) == [7])
    }

    /// X clients 0x100 and 0x200; the low byte is the window.
    private static func unread() throws -> WindowModel {
        var model = WindowModel(WindowRules(), bounds: area, resourceMask: 0xff, showsScreen: false)
        model.read([:])
        return model
    }

    private static func bring(_ window: UInt32, x: Int, isMenu: Bool = false, to model: inout WindowModel) {
        model.apply(WindowEvent(.came(place(x)), window, sequence: 1))
        model.apply(WindowEvent(.mapped, window, sequence: 1, isOverrideRedirect: isMenu))
    }

    private static func end(_ window: UInt32, in model: inout WindowModel) {
        model.apply(WindowEvent(.unmapped, window, sequence: 1))
        model.apply(WindowEvent(.went, window, sequence: 1, destroyed: window))
    }

    private static func menu(_ window: UInt32, x: Int) -> WindowFacts {
        facts(window, x: x, override: true, maker: window & 0xff00)
    }

    /// A window ends before it was read: menus of its X client are secret, those that come later too.
    @Test func menusOfAWindowThatNobodySaw() throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, to: &model)
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        Self.bring(0x202, x: 3, isMenu: true, to: &model)
        Self.end(0x101, in: &model)
        #expect(model.hasUnknown)
        model.read([0x102: Self.menu(0x102, x: 2), 0x202: Self.menu(0x202, x: 3)])
        #expect(Self.hidden(model) == [2], "and not those of others")
        Self.bring(0x103, x: 4, isMenu: true, to: &model)
        model.read([0x103: Self.menu(0x103, x: 4)])
        #expect(Set(Self.hidden(model)) == [2, 4])
    }

    /// A menu that was read is decided again.
    @Test func menusThatWereThereBefore() throws {
        var model = try Self.unread()
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(Self.hidden(model) == [])
        Self.bring(0x101, x: 1, to: &model)
        Self.end(0x101, in: &model)
        #expect(model.hasUnknown && model.unread.windows == [0x102])
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(Self.hidden(model) == [2])
    }

    /// What was never on the screen, and a menu that ends at once, make no menu of a known program secret.
    @Test func whatNobodySawAndIsHarmless() throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, to: &model)
        model.read([0x101: Self.facts(0x101, x: 1, maker: 0x100)])
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        Self.end(0x102, in: &model)
        model.apply(WindowEvent(.came(Self.place(3)), 0x103, sequence: 1))
        model.apply(WindowEvent(.went, 0x103, sequence: 1, destroyed: 0x103))
        Self.bring(0x104, x: 4, isMenu: true, to: &model)
        model.read([0x104: Self.menu(0x104, x: 4)])
        #expect(Self.hidden(model) == [])
        // It may have become secure since it was read.
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        Self.end(0x101, in: &model)
        model.read([0x104: Self.menu(0x104, x: 4)])
        #expect(Self.hidden(model) == [4])
    }

    /// A manager puts a window into a frame, where it ends, or is found.
    @Test(arguments: [false, true]) func windowsInFramesThatNobodySaw(isFound: Bool) throws {
        var model = try Self.unread()
        model.apply(WindowEvent(.came(Self.place(1)), 0x101, sequence: 1))
        Self.bring(0x201, x: 1, isMenu: true, to: &model)
        model.apply(WindowEvent(.went, 0x101, sequence: 1))
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        // While it may still be found, nothing is known.
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(Self.hidden(model) == [2])
        let frame = Self.facts(0x201, x: 1, client: isFound ? 0x101 : nil, maker: isFound ? 0x100 : 0x200)
        model.read([0x201: frame], manager: .client(0x200))
        #expect(Self.hidden(model) == (isFound ? [] : [2]))
    }

    /// It was read, then became secure, and has ended before it was read again.
    @Test(arguments: [false, true]) func clientsThatBecameSecret(isUnframed: Bool) throws {
        var model = try Self.unread()
        Self.bring(0x201, x: 1, to: &model)
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        let frame = Self.facts(0x201, x: 1, client: 0x101, maker: 0x100)
        model.read([0x201: frame, 0x102: Self.menu(0x102, x: 2)], manager: .client(0x200))
        #expect(Self.hidden(model) == [])
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        if isUnframed {
            model.apply(WindowEvent(.came(nil), 0x101, sequence: 1))
            model.apply(WindowEvent(.went, 0x101, sequence: 1, destroyed: 0x101))
        } else {
            model.apply(WindowEvent(.rearranged, 0x201, sequence: 1, destroyed: 0x101))
        }
        Self.end(0x201, in: &model)
        #expect(model.unread.windows == [0x102])
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(Self.hidden(model) == [2])
    }

    /// Its menu was read before, and all of the frame is gone before the next reading.
    @Test func aFrameThatEndsAtOnce() throws {
        var model = try Self.unread()
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        Self.bring(0x202, x: 3, to: &model)
        model.read([0x102: Self.menu(0x102, x: 2), 0x202: Self.facts(0x202, x: 3, maker: 0x200)])
        model.apply(WindowEvent(.came(Self.place(1)), 0x101, sequence: 1))
        Self.bring(0x201, x: 1, isMenu: true, to: &model)
        model.apply(WindowEvent(.went, 0x101, sequence: 1))
        Self.end(0x201, in: &model)
        #expect(model.unread.windows == [0x102])
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(Self.hidden(model) == [2])
    }

    /// A harmless window that changes its title and ends is what shells do.
    @Test func titlesThatChangeAtTheEnd() throws {
        var rules = WindowRules()
        try rules.add("title=*Private*")
        var model = WindowModel(rules, bounds: Self.area, resourceMask: 0xff)
        Self.bring(0x101, x: 1, to: &model)
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        model.read([0x101: Self.facts(0x101, x: 1, maker: 0x100), 0x102: Self.menu(0x102, x: 2)])
        model.apply(WindowEvent(.renamed, 0x101, sequence: 1))
        Self.end(0x101, in: &model)
        #expect(model.unread.windows == [] && Self.hidden(model) == [])
    }

    /// It was read before it got a frame, then became secret, and has ended before the frame was read.
    @Test func aClientThatBecomesSecretInANewFrame() throws {
        var model = try Self.unread()
        model.apply(WindowEvent(.came(Self.place(1)), 0x101, sequence: 1))
        model.read([0x101: Self.facts(0x101, x: 1, viewable: false, maker: 0x100)])
        Self.bring(0x201, x: 1, isMenu: true, to: &model)
        model.apply(WindowEvent(.went, 0x101, sequence: 1))
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        Self.end(0x201, in: &model)
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        model.read([0x102: Self.menu(0x102, x: 2)])
        model.read([:])
        #expect(Self.hidden(model) == [2])
    }

    /// It was read before it got a frame, and changes there: its menu is decided again.
    @Test func aMenuOfAClientThatChangesInANewFrame() throws {
        var model = try Self.unread()
        model.apply(WindowEvent(.came(Self.place(1)), 0x101, sequence: 1))
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        model.read([0x101: Self.facts(0x101, x: 1, viewable: false, maker: 0x100), 0x102: Self.menu(0x102, x: 2)])
        model.apply(WindowEvent(.went, 0x101, sequence: 1))
        #expect(model.unread.windows == [])
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        #expect(model.hasUnknown && model.unread.windows == [0x102])
        model.read([0x102: Self.menu(0x102, x: 2)])
        #expect(!model.hasUnread && Self.hidden(model) == [2])
    }

    /// The process is suspect, and not its X client: another X client of it is, and a later one with its number is not.
    @Test(arguments: [false, true]) func otherClientsOfASuspect(hasEnded: Bool) throws {
        var model = try Self.unread()
        func menu(_ window: UInt32, x: Int, process: UInt32) -> WindowFacts {
            Self.facts(window, x: x, override: true, process: process, maker: window & 0xff00)
        }
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        model.read([0x202: menu(0x202, x: 2, process: 0x100)])
        #expect(Self.hidden(model) == [])
        Self.bring(0x101, x: 1, to: &model)
        model.read([:])
        Self.end(0x101, in: &model)
        #expect(model.hasUnknown && model.unread == WindowRequest(clients: [0x100]), "no picture until it is asked")
        let places = model.secrets(hidesUnknown: true).places
        #expect(places == [Self.place(2)], "a picture that cannot wait shows no menu")
        model.read([:], owner: { hasEnded ? nil : .process($0) })
        #expect(!model.hasUnknown && !model.hasUnread)
        #expect(Self.hidden(model) == (hasEnded ? [] : [2]))
        Self.bring(0x103, x: 3, isMenu: true, to: &model)
        model.read([0x103: menu(0x103, x: 3, process: 9)])
        #expect(Self.hidden(model) == (hasEnded ? [] : [2]))
    }

    /// The process of an X client is known by another window: it is not asked, and may have ended.
    @Test func aSuspectWhoseProcessIsKnown() throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, to: &model)
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        let menu = Self.facts(0x202, x: 2, override: true, process: 9, maker: 0x200)
        model.read([0x101: Self.facts(0x101, x: 1, process: 9, maker: 0x100), 0x202: menu])
        #expect(Self.hidden(model) == [])
        Self.bring(0x103, x: 3, to: &model)
        Self.end(0x103, in: &model)
        #expect(model.unread == WindowRequest(windows: [0x202]))
        model.read([0x202: menu])
        #expect(Self.hidden(model) == [2])
    }

    /// An X client ends with its window, which was read before: its process is remembered.
    @Test(arguments: [false, true]) func aSuspectThatEndsAtOnce(isInFrame: Bool) throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, to: &model)
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        let menu = Self.facts(0x202, x: 2, override: true, process: 9, maker: 0x200)
        model.read([0x101: Self.facts(0x101, x: 1, process: 9, maker: 0x100), 0x202: menu])
        if isInFrame {
            Self.bring(0x301, x: 3, to: &model)
            model.apply(WindowEvent(.came(Self.place(3)), 0x103, sequence: 1))
            model.apply(WindowEvent(.went, 0x103, sequence: 1))
        } else {
            model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        }
        Self.end(0x101, in: &model)
        #expect(model.unread.windows.contains(0x202))
        model.read([0x202: menu, 0x301: Self.facts(0x301, x: 3)], owner: { _ in nil })
        #expect(Self.hidden(model) == [2])
    }

    /// Windows of a suspect that come and go keep no picture waiting.
    @Test func aSuspectThatGoesOn() throws {
        var model = try Self.unread()
        for step in 0..<2 {
            Self.bring(0x101, x: 1, to: &model)
            Self.end(0x101, in: &model)
            #expect(model.hasUnknown == (step == 0) && model.hasUnread)
            model.apply(WindowEvent(.changed, 0x102, sequence: 1))
            #expect(model.hasUnknown == (step == 0) && model.hasUnread)
            model.read([:])
            #expect(!model.hasUnknown && !model.hasUnread)
        }
    }

    /// Another X client gets the number of a suspect: it is asked again.
    @Test func aSuspectsNumberIsUsedAgain() throws {
        var model = try Self.unread()
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        model.read([0x202: Self.facts(0x202, x: 2, override: true, process: 9, maker: 0x200)])
        for process in [8, 9] as [UInt32] {
            #expect(Self.hidden(model) == [])
            Self.bring(0x101, x: 1, to: &model)
            Self.end(0x101, in: &model)
            #expect(model.hasUnread)
            model.read([:], owner: { _ in .process(process) })
        }
        #expect(Self.hidden(model) == [2])
    }

    /// An X client was asked before because of a window that was found then, and ends with a later one.
    @Test func aSuspectThatWasAskedBefore() throws {
        var model = try Self.unread()
        Self.bring(0x301, x: 1, to: &model)
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        model.read(
            [0x301: Self.facts(0x301, x: 1, process: 3, all: [0x101]),
             0x202: Self.facts(0x202, x: 2, override: true, process: 9, maker: 0x200)],
            owner: { _ in .process(9) })
        #expect(Self.hidden(model) == [])
        Self.bring(0x103, x: 3, to: &model)
        Self.end(0x103, in: &model)
        model.read([:], owner: { _ in nil })
        #expect(Self.hidden(model) == [2])
    }

    /// With more programs than can be remembered, everybody is one of them.
    @Test func theLimitOfPrograms() {
        var programs = MenuSuspects()
        for number in 1...UInt32(MenuSuspects.limit) {
            #expect(!programs.contains(.process(0)))
            programs.insert(.process(number))
        }
        #expect(programs.contains(.process(0)) && programs.contains(.client(1)))
    }

    /// Beyond the limit, a lost window counts as ended.
    @Test func theLimitOfLostWindows() throws {
        var model = try Self.unread()
        let limit = UInt32(UnseenWindows.maxLost)
        for number in 1...limit + 1 { model.apply(WindowEvent(.changed, number << 8, sequence: 1)) }
        #expect(model.unseen.lost.count == Int(limit) && model.unread.clients.count == Int(limit) + 1)
        model.read([:])
        #expect(!model.hasUnread && !model.hasUnknown)
    }

    /// A menu that moves while it is not known whether its process is suspect leaves its pixels as a secret one does.
    @Test func aMenuThatMovesMeanwhile() throws {
        var model = WindowModel(WindowRules(), bounds: Self.area, resourceMask: 0xff, showsScreen: true)
        Self.bring(0x202, x: 2, isMenu: true, to: &model)
        model.read([0x202: Self.facts(0x202, x: 2, override: true, process: 0x100, maker: 0x200)])
        Self.bring(0x101, x: 100, to: &model)
        Self.end(0x101, in: &model)
        model.apply(WindowEvent(.moved(Self.place(300)), 0x202, sequence: 2))
        model.read([:])
        #expect(Set(Self.hidden(model)).isSuperset(of: [2, 300]))
    }

    /// Without its process, an X client is suspect by its number.
    @Test func aSuspectWhoseProcessNobodyKnows() throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, to: &model)
        Self.end(0x101, in: &model)
        model.read([:], owner: { .client($0) })
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        Self.bring(0x202, x: 3, isMenu: true, to: &model)
        func menu(_ window: UInt32, x: Int) -> WindowFacts { Self.overNetwork(Self.menu(window, x: x)) }
        model.read([0x102: menu(0x102, x: 2), 0x202: menu(0x202, x: 3)])
        #expect(Self.hidden(model) == [2])
    }

    /// A window of the server itself, such as a compositing manager's overlay, makes nobody suspect.
    @Test func windowsOfTheServer() throws {
        var model = try Self.unread()
        Self.bring(0x01, x: 1, to: &model)
        Self.end(0x01, in: &model)
        Self.bring(0x02, x: 1, to: &model)
        model.apply(WindowEvent(.went, 0x02, sequence: 1))
        #expect(!model.hasUnread && !model.hasUnknown)
    }

    /// A window that is somewhere makes pictures wait until all windows were read.
    @Test func aLostWindow() throws {
        var model = try Self.unread()
        model.apply(WindowEvent(.changed, 0x101, sequence: 1))
        #expect(model.hasUnknown && model.unread == WindowRequest(clients: [0x100]))
        model.apply(WindowEvent(.came(Self.place(2)), 0x202, sequence: 1))
        model.read([:])
        #expect(model.unread == WindowRequest(windows: [0x202], clients: [0x100]))
        model.read([0x202: Self.facts(0x202, x: 2, viewable: false, maker: 0x200)])
        #expect(!model.hasUnread && !model.hasUnknown)
        // The X client is suspect now: another lost window of it keeps no picture back, and is asked for.
        model.apply(WindowEvent(.changed, 0x102, sequence: 2))
        #expect(!model.hasUnknown && model.hasUnread && model.unread == WindowRequest(clients: [0x100]))
    }

    /// With more suspects than can be remembered, everybody is one.
    @Test func theLimitOfSuspects() throws {
        var model = try Self.unread()
        Self.bring(0x101, x: 1, isMenu: true, to: &model)
        model.read([0x101: Self.menu(0x101, x: 1)])
        for number in 2...UInt32(MenuSuspects.limit + 1) {
            #expect(Self.hidden(model) == [], "\(number)")
            Self.bring(number << 8, x: 2, to: &model)
            Self.end(number << 8, in: &model)
            model.read([:])
        }
        #expect(Self.hidden(model) == [1])
    }

    /// A menu that is secret by itself makes its process one that has had a secret window, also while a window of its
    /// X client is lost.
    @Test func secretMenusOfASuspect() throws {
        var model = try Self.unread()
        Self.bring(0x301, x: 1, to: &model)
        model.apply(WindowEvent(.came(Self.place(1)), 0x101, sequence: 1))
        model.apply(WindowEvent(.went, 0x101, sequence: 1))
        Self.bring(0x102, x: 2, isMenu: true, to: &model)
        model.read([0x102: Self.facts(0x102, x: 2, override: true, secure: 1, process: 7, maker: 0x100)])
        Self.end(0x102, in: &model)
        model.read([0x301: Self.facts(0x301, x: 1, client: 0x101, process: 7, maker: 0x100)])
        Self.bring(0x202, x: 3, isMenu: true, to: &model)
        model.read([0x202: Self.facts(0x202, x: 3, override: true, process: 7, maker: 0x200)])
        #expect(Self.hidden(model) == [3])
    }

    @Test func everythingWhileAWindowIsViewable() throws {
        var model = try Self.model([1: Self.facts(1, secure: 2), 2: Self.facts(2)])
        #expect(model.secrets(hidesUnknown: false).regions(in: Self.area) == .wholeFrame && model.hidesEverything)
        model.apply(WindowEvent(.unmapped, 1, sequence: 11))
        #expect(model.secrets(hidesUnknown: false).regions(in: Self.area) == .none && !model.hidesEverything)
    }

    /// A picture that does not wait any longer hides what is unread as it was: everything, if the window hid that.
    @Test(arguments: [WindowEvent.Kind.renamed, .changed, .rearranged])
    func everythingWhileAWindowIsReadAgain(kind: WindowEvent.Kind) throws {
        var model = try Self.model([1: Self.facts(1, x: 5, secure: 2), 2: Self.facts(2)])
        for secure in [2, 1] as [UInt32] {
            model.apply(WindowEvent(kind, 1, sequence: 11))
            #expect(model.hasUnread && model.secrets(hidesUnknown: true).isEverywhere)
            model.read([1: Self.facts(1, x: 5, secure: secure)])
        }
        model.apply(WindowEvent(kind, 1, sequence: 12))
        let secrets = model.secrets(hidesUnknown: true)
        #expect(!secrets.isEverywhere && secrets.places == [Self.place(5)])
        // Another window with its number is another one.
        model.read([1: Self.facts(1, x: 5, secure: 2)])
        model.apply(WindowEvent(.went, 1, sequence: 13, destroyed: 1))
        model.apply(WindowEvent(.came(Self.place(7)), 1, sequence: 14))
        model.apply(WindowEvent(.mapped, 1, sequence: 15))
        #expect(!model.secrets(hidesUnknown: true).isEverywhere)
    }

    @Test func regionsAreThoseOfTheArea() throws {
        var secrets = WindowSecrets()
        secrets.hide(.init(x: 50, y: 50, width: 100, height: 100))
        secrets.hide(.init(x: 50, y: 50, width: 100, height: 100))
        secrets.hide(.init(x: 900, y: 50, width: 10, height: 10))
        let area = CaptureRectangle(x: 100, y: 100, width: 200, height: 200)
        #expect(secrets.regions(in: area).rectangles == [.init(x: 0, y: 0, width: 50, height: 50)])
        // More than a frame has.
        for x in 0..<70 { secrets.hide(.init(x: 100 + 2 * x, y: 100 + x, width: 5, height: 5)) }
        let joined = secrets.regions(in: area).rectangles
        #expect(joined.count == CaptureSecureRegions.capacity && joined.allSatisfy { $0.width <= 50 })
        for x in 0..<70 {
            let place = CaptureRectangle(x: 2 * x, y: x, width: 5, height: 5)
            #expect(joined.contains { $0.contains(place) }, "\(x)")
        }
    }

    @Test func rulesMatch() throws {
        var rules = WindowRules { $0 == 8 ? WindowRules.Process(name: "signal-desktop", user: "alice") : nil }
        for rule in ["class=KeePassXC", "title=*Private*", "type=notification", "process=signal*"] {
            try rules.add(rule)
        }
        #expect(rules.match(Self.facts(1, className: "keepassxc", process: 9)))
        #expect(!rules.match(Self.facts(1, className: "keepassxc2", process: 8)) == false, "process 8 is Signal")
        #expect(rules.match(Self.facts(1, title: "Mail - private window")), "in both cases")
        #expect(rules.match(Self.facts(1, types: [.notification, .dock])))
        #expect(rules.match(Self.facts(1)), "a process that nobody knows may be the one")
        var others = WindowRules { _ in WindowRules.Process(name: "bash", user: "bob") }
        try others.add("process=signal*")
        try others.add("user=alice")
        #expect(!others.match(Self.facts(1, process: 8)))
    }

    /// Looking up takes time: a process once for all windows of a reading, and a user only for rules that need it.
    @Test(arguments: [
        (["process=a", "process=b*"], 1, 0), (["process=a", "user=x", "user=y"], 1, 1), (["user=alice"], 1, 1),
        (["class=a", "title=b"], 0, 0),
    ]) func lookups(rules: [String], perProcess: Int, perUser: Int) throws {
        let (processes, users) = (LookupCount(), LookupCount())
        let look = { @Sendable (number: UInt32) -> WindowRules.Process? in
            processes.add(number)
            return WindowRules.Process(name: "game", user: users.look(number))
        }
        var hidden = WindowRules(process: look)
        for rule in rules { try hidden.add(rule) }
        var model = WindowModel(hidden, bounds: Self.area)
        var facts: [UInt32: WindowFacts] = [:]
        for window: UInt32 in 1...4 { facts[window] = Self.facts(window, process: 50 + window % 2) }
        model.addAndRead(facts)
        func counts(_ count: Int) -> [UInt32: Int] { count == 0 ? [:] : [50: count, 51: count] }
        #expect(processes.counts == counts(perProcess) && users.counts == counts(perUser))
        // A process may have another name since.
        model.apply(WindowEvent(.renamed, 1, sequence: 11))
        model.read([1: Self.facts(1, process: 51)])
        #expect(processes.counts == counts(2 * perProcess) && users.counts == counts(2 * perUser))
    }

    /// The same holds for the application that has to be in front, and for a window that is captured alone.
    @Test func lookupsForWhatIsShown() throws {
        let processes = LookupCount()
        var rules = WindowRules { number in
            processes.add(number)
            return WindowRules.Process(name: "game", user: "alice")
        }
        try rules.add("process=other")
        try rules.add("process=another")
        var model = WindowModel(WindowRules(), bounds: Self.area, front: rules)
        model.addAndRead([1: Self.facts(1, process: 50), 2: Self.facts(2, process: 50)])
        #expect(processes.counts == [50: 1])
        #expect(model.window(chosenBy: .rule(rules))?.top == nil)
        #expect(processes.counts == [50: 2])
    }

    @Test func anOverrideRedirectWindowIsNotChosen() throws {
        var model = WindowModel(WindowRules(), bounds: Self.area)
        model.addAndRead([
            1: Self.facts(1, className: "Other"), 2: Self.facts(2, override: true, className: "Splash"),
        ])
        let choice = try WindowChoice("class=Splash") { _ in nil }
        #expect(model.window(chosenBy: choice) == nil)
        #expect(model.overrideRedirectWindow(matching: choice) == 2)
        #expect(model.overrideRedirectWindow(matching: try WindowChoice("class=Other") { _ in nil }) == nil)
        #expect(model.window(chosenBy: .number(2))?.top == 2)
        // A frame, which is an override-redirect window of a manager.
        model.addAndRead([3: Self.facts(3, override: true, className: "Splash", client: 30)])
        #expect(model.window(chosenBy: choice)?.top == 3 && model.overrideRedirectWindow(matching: choice) == 2)
    }

    /// A process of which nothing is known is looked up once, too.
    @Test func aLookupThatFindsNothing() throws {
        let processes = LookupCount()
        var rules = WindowRules { number in
            processes.add(number)
            return nil
        }
        for rule in ["process=a", "user=b"] { try rules.add(rule) }
        var lookup = WindowRules.Lookup(for: rules)
        let facts = Self.facts(1, process: 50)
        let chosen = rules.choose(facts, &lookup)
        let matched = rules.match(facts, &lookup)
        #expect(!chosen && matched && processes.counts == [50: 1])
    }

    @Test(arguments: [
        ("abc", "abc", true), ("abc", "ABC", true), ("abc", "ab", false), ("abc", "*", true), ("", "*", true),
        ("", "a", false), ("abc", "a*c", true), ("abcabc", "*abc", true), ("abcab", "*abc", false),
        ("a*b", "a*b", true), ("Größe", "grÖ*", true), ("aaab", "*a*b", true), ("abc", "", false),
    ])
    func patterns(text: String, pattern: String, fits: Bool) {
        #expect(WindowRules.fits(text, pattern) == fits)
    }

    @Test func files() throws {
        var rules = WindowRules()
        try rules.add(file: "# secrets\n\n  class=KeePassXC  # a comment\ntitle=*Bank*\n", name: "rules")
        #expect(rules.rules.map(\.pattern) == ["KeePassXC", "*Bank*"])
        // Of an editor on Windows.
        var others = WindowRules()
        try others.add(file: "class=A\r\n\r\ntitle=*B*\r\n", name: "rules")
        #expect(others.rules.map(\.pattern) == ["A", "*B*"])
        let mistake = #expect(throws: ScreenError.self) { try rules.add(file: "class=a\nclas=x", name: "rules") }
        #expect(mistake?.description.hasPrefix("rules:2: \"clas=x\" is not a rule, such as class=KeePassXC") == true)
        #expect(throws: ScreenError.self) { try rules.add("type=popup") }
        let empty = #expect(throws: ScreenError.self) { try rules.add("class=") }
        #expect(empty?.description.contains("has no pattern; a rule is such as class=KeePassXC") == true)
    }

    /// Slips that would hide nothing of what is meant.
    @Test(arguments: [
        ("title=M\u{fffd}ller", "not UTF-8"), ("title=*Private\n   Browsing*", "line break"), ("class=a\0b", "control"),
        ("title= Secret", "space"), ("title=Secret ", "space"), ("title=\"*Secret*\"", "quotes"),
    ])
    func patternsThatNobodyMeans(rule: String, objection: String) {
        var rules = WindowRules()
        let mistake = #expect(throws: ScreenError.self) { try rules.add(rule) }
        #expect(mistake?.description.contains(objection) == true, "\(String(describing: mistake))")
    }

    /// `#` within a word is none, and an escaped one neither; what may be one is refused with its line.
    @Test func commentsInFiles() throws {
        let read = { (text: String) in
            var rules = WindowRules()
            try rules.add(file: text, name: "rules")
            return rules.rules.map(\.pattern)
        }
        #expect(try read("title=*#general*\ntitle=Issue \\#12\ntitle=\\#a # comment\n\t# comment\n#class=B\n")
            == ["*#general*", "Issue #12", "#a"])
        #expect(try read("title=a \\ b\nclass=A #\nclass=C\t#\ta") == ["a \\ b", "A", "C"])
        for text in ["class=A\ntitle=Issue #12", "\ntitle=a  #b # c"] {
            let mistake = #expect(throws: ScreenError.self) { try read(text) }
            #expect(mistake?.description.hasPrefix("rules:2: \"title=") == true, "\(String(describing: mistake))")
            #expect(mistake?.description.contains("write \\# for a #") == true)
        }
        // Editors on Windows write a mark of byte order.
        #expect(try read("\u{feff}class=A\r\nclass=B\r\n") == ["A", "B"])
        #expect(try read("\u{feff}# comment\n") == [])
    }

    /// A window with two titles is hidden by either, and shown by the one that people see.
    @Test func twoTitles() throws {
        var facts = Self.facts(1, title: "Public")
        facts.names[0].oldTitle = "Secret"
        var old = WindowRules(), new = WindowRules()
        try old.add("title=secret")
        try new.add("title=public")
        #expect(old.match(facts) && new.match(facts))
        #expect(!old.choose(facts) && new.choose(facts))
    }
}

/// How often each process was looked up.
private final class LookupCount: Sendable {
    private let state = Mutex<[UInt32: Int]>([:])
    var counts: [UInt32: Int] { state.withLock { $0 } }

    func add(_ process: UInt32) { state.withLock { $0[process, default: 0] += 1 } }

    /// The name of its user.
    func look(_ process: UInt32) -> String {
        add(process)
        return "alice"
    }
}

/// Promise: what was hidden stays so for the moment that a compositing manager needs.
@Suite struct LingeringSecretsTests {
    /// What is hidden of a picture.
    private static func extended(
        _ secrets: WindowSecrets, _ lingering: inout LingeringSecrets, now: MediaTime,
        painted: [CaptureRectangle] = [CaptureRectangle(x: 0, y: 0, width: 9999, height: 9999)]
    ) -> WindowSecrets {
        var secrets = secrets
        lingering.painted(PaintedAreas(painted), now: now)
        lingering.extend(&secrets, now: now)
        return secrets
    }

    private static func secrets(_ x: Int) -> WindowSecrets {
        var secrets = WindowSecrets()
        secrets.hide(CaptureRectangle(x: x, y: 0, width: 10, height: 10))
        return secrets
    }

    @Test func placesLinger() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        let first = Self.extended(Self.secrets(1), &lingering, now: start)
        #expect(first.places.map(\.x) == [1])
        #expect(lingering.nextEnd == nil)
        let moved = Self.extended(Self.secrets(2), &lingering, now: start + .milliseconds(33))
        #expect(Set(moved.places.map(\.x)) == [1, 2])
        #expect(lingering.nextEnd == start + LingeringSecrets.time)
        let later = Self.extended(Self.secrets(2), &lingering, now: start + LingeringSecrets.time)
        #expect(later.places.map(\.x) == [2] && lingering.nextEnd == nil)
    }

    private static func place(_ x: Int, _ y: Int = 0) -> CaptureRectangle {
        CaptureRectangle(x: x, y: y, width: 10, height: 10)
    }

    /// Places that were left between two pictures; those of a short time are one place.
    @Test func placesThatNoPictureHad() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        lingering.left(Self.place(0), by: 1, now: start)
        lingering.left(Self.place(20), by: 1, now: start + .milliseconds(8))
        lingering.left(Self.place(500), by: 2, now: start + .milliseconds(8))
        lingering.left(Self.place(40), by: 1, now: start + .milliseconds(25))
        let first = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(33))
        #expect(first.places.map(\.name) == ["30x10+0+0", "10x10+500+0", "10x10+40+0"])
        _ = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(66))
        #expect(lingering.nextEnd == start + .milliseconds(8) + LingeringSecrets.time)
        let later = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(10) + LingeringSecrets.time)
        #expect(later.places.map(\.name) == ["10x10+40+0"])
        _ = Self.extended(WindowSecrets(), &lingering, now: start + .seconds(1))
        #expect(lingering.nextEnd == nil)
    }

    /// A place stays hidden until all of it was painted after the first picture.
    @Test func placesThatAreNotPainted() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        let end = start + LingeringSecrets.time
        lingering.left(Self.place(0), by: 1, now: start)
        lingering.left(Self.place(500), by: 2, now: start)
        lingering.left(Self.place(900), by: 3, now: start)
        func places(_ now: MediaTime, _ painted: [CaptureRectangle]) -> [Int] {
            Self.extended(WindowSecrets(), &lingering, now: now, painted: painted).places.map(\.x)
        }
        let all = [0, 500, 900].map { Self.place($0) }
        #expect(places(start + .milliseconds(33), all) == [0, 500, 900], "that may have been before they were left")
        #expect(places(start + .milliseconds(66), [all[0], Self.place(505)]) == [0, 500, 900])
        #expect(places(end, []) == [500, 900])
        #expect(places(end + .milliseconds(33), [Self.place(494), all[2]]) == [500], "a column is missing")
        #expect(places(end + .milliseconds(66), [Self.place(495, 1)]) == [500], "a pixel is missing")
        #expect(places(end + .milliseconds(99), [Self.place(499, -5)]) == [])
        #expect(lingering.nextEnd == nil)
    }

    /// What lies outside of a screen that has become smaller is never painted.
    @Test func placesBeyondTheScreen() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        for x in [0, 500, 900] { lingering.left(Self.place(x), by: UInt32(x), now: start) }
        lingering.resize(to: CaptureRectangle(x: 0, y: 0, width: 505, height: 800))
        func places(_ now: MediaTime, _ painted: [CaptureRectangle]) -> [Int] {
            Self.extended(WindowSecrets(), &lingering, now: now, painted: painted).places.map(\.x)
        }
        #expect(places(start, []) == [0, 500])
        // Joined with another place, it does not reach beyond the edge, either.
        lingering.left(Self.place(495), by: 500, now: start)
        #expect(places(start, []) == [0, 495])
        let end = start + LingeringSecrets.time
        #expect(places(end, [CaptureRectangle(x: 495, y: 0, width: 9, height: 10)]) == [0, 495], "a column is missing")
        #expect(places(end, [CaptureRectangle(x: 504, y: 0, width: 1, height: 10)]) == [0])
    }

    /// A compositing manager that hangs shows old windows for as long as it likes. One that paints, but not there, does
    /// not have to: another window covers the place.
    @Test(arguments: [MediaTime.zero, .seconds(3600)]) func placesThatAreNeverPainted(wait: MediaTime) {
        var lingering = LingeringSecrets()
        var now = MediaTime.seconds(100)
        func isHidden(_ painted: [CaptureRectangle]) -> Bool {
            !Self.extended(WindowSecrets(), &lingering, now: now, painted: painted).places.isEmpty
        }
        lingering.left(Self.place(0), by: 1, now: now)
        let end = now + LingeringSecrets.time + LeftPlaces.patience
        #expect(isHidden([]))
        now = now + wait
        // It was asked in vain.
        for number in 1...LeftPlaces.maxRequests {
            #expect(lingering.takeRequest(now: .seconds(100_000 * Int64(number))) != nil)
        }
        #expect(isHidden([]) && lingering.nextEnd == nil)
        for painting in 1..<LeftPlaces.enoughPaintings {
            now = now + .milliseconds(10)
            #expect(isHidden([Self.place(500)]) && lingering.nextEnd == nil, "\(painting)")
        }
        #expect(isHidden([Self.place(500)]) == (now < end))
        #expect(lingering.nextEnd == (now < end ? end : nil))
        now = max(now, end)
        #expect(!isHidden([]))
    }

    /// A manager that has painted a place before the first picture without the window is asked to do so again, once a
    /// second, and not for ever.
    @Test func managersAreAskedToPaint() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        func isHidden(_ now: MediaTime, _ painted: [CaptureRectangle]) -> Bool {
            !Self.extended(WindowSecrets(), &lingering, now: now, painted: painted).places.isEmpty
        }
        lingering.left(Self.place(0), by: 1, now: start)
        lingering.left(Self.place(50), by: 2, now: start)
        #expect(lingering.takeRequest(now: start + .seconds(3600)) == nil, "that would be in the first picture")
        #expect(isHidden(start + .milliseconds(33), [Self.place(0), Self.place(50)]))
        var due = start + LingeringSecrets.time
        #expect(lingering.nextEnd == due)
        #expect(lingering.takeRequest(now: due - .milliseconds(1)) == nil)
        for _ in 0..<LeftPlaces.maxRequests {
            #expect(lingering.takeRequest(now: due)?.name == "60x10+0+0")
            #expect(lingering.takeRequest(now: due + .milliseconds(999)) == nil)
            #expect(isHidden(due + .milliseconds(999), []))
            due = due + LeftPlaces.requestPause
        }
        #expect(lingering.takeRequest(now: due + .seconds(3600)) == nil)
        #expect(isHidden(due, [Self.place(0)]))
        #expect(!isHidden(due, [Self.place(50)]), "painted after the first picture")
    }

    /// Managers fade out a window that is gone.
    @Test func goneWindowsLingerLonger() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        lingering.left(Self.place(0), by: 1, isGone: true, now: start)
        lingering.left(Self.place(0), by: 1, now: start + .milliseconds(1))
        for _ in 0..<2 { _ = Self.extended(WindowSecrets(), &lingering, now: start) }
        #expect(lingering.nextEnd == start + LingeringSecrets.fadingTime)
    }

    /// Managers fade out slowly where users like it. What only moves is not seen again.
    @Test(arguments: [true, false]) func slowFades(isGone: Bool) {
        var lingering = LingeringSecrets()
        func isHidden(_ milliseconds: Int64, isPainted: Bool = true) -> Bool {
            let painted = isPainted ? [Self.place(0)] : []
            let now = MediaTime.milliseconds(milliseconds)
            return !Self.extended(WindowSecrets(), &lingering, now: now, painted: painted).places.isEmpty
        }
        lingering.left(Self.place(0), by: 1, isGone: isGone, now: .zero)
        #expect(isHidden(0) && isHidden(200))
        for milliseconds in stride(from: Int64(300), through: 3000, by: 300) {
            #expect(isHidden(milliseconds) == isGone, "\(milliseconds)")
        }
        #expect(isHidden(3399, isPainted: false) == isGone)
        #expect(!isHidden(3400, isPainted: false))
    }

    /// A compositing manager is late where the server is slow to answer. It is on time again when the server is.
    @Test(arguments: [(1, 250), (20, 1280), (500, 2000)]) func placesOfABusyMachine(answer: Int, hidden: Int) {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        func end(of window: UInt32) -> MediaTime? {
            lingering.left(Self.place(0), by: window, now: start)
            for _ in 0..<2 { _ = Self.extended(WindowSecrets(), &lingering, now: start, painted: [Self.place(0)]) }
            return lingering.nextEnd
        }
        lingering.answered(in: .milliseconds(Int64(answer)))
        lingering.answered(in: .zero)
        #expect(end(of: 1) == start + .milliseconds(Int64(hidden)))
        for _ in 0..<100 { lingering.beginPicture() }
        #expect(end(of: 2) == start + LingeringSecrets.time)
    }

    /// Many windows that move for a long time: places are joined, none is lost within its time, and all end.
    @Test func manyPlacesThatNoPictureHad() {
        var lingering = LingeringSecrets()
        let start = MediaTime.seconds(100)
        for step in 0..<200 {
            lingering.left(Self.place(step * 20, step), by: UInt32(step % 70), now: start + .milliseconds(Int64(step)))
        }
        let secrets = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(200))
        #expect(secrets.places.count <= LeftPlaces.capacity)
        for step in 0..<200 {
            let place = Self.place(step * 20, step)
            #expect(secrets.places.contains { $0.intersection(place) == place }, "\(step)")
        }
        _ = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(210))
        let end = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(200) + LingeringSecrets.time)
        #expect(end.places.isEmpty && lingering.nextEnd == nil)
    }

    @Test func everywhereLingers() {
        var lingering = LingeringSecrets()
        var all = WindowSecrets()
        all.hide(.init(x: 0, y: 0, width: 5, height: 5), isEverywhere: true)
        let start = MediaTime.seconds(100)
        _ = Self.extended(all, &lingering, now: start)
        #expect(lingering.nextEnd == nil)
        let soon = Self.extended(WindowSecrets(), &lingering, now: start + .milliseconds(100))
        #expect(soon.isEverywhere)
        #expect(lingering.nextEnd == start + LingeringSecrets.time)
        let later = Self.extended(WindowSecrets(), &lingering, now: start + LingeringSecrets.time)
        #expect(!later.isEverywhere)
    }
}

/// Promise: without certainty that the chosen application is in front, it is not.
@Suite struct FrontWatchTests {
    private static let chosen: UInt32 = 7

    private static func isInFront(_ watch: FrontWatch, at milliseconds: Int64) -> Bool {
        watch.isInFront(now: .milliseconds(milliseconds)) { $0 == chosen }
    }

    @Test func whoeverIsActive() {
        var watch = FrontWatch()
        #expect(watch.mustAsk && !Self.isInFront(watch, at: 1000))
        watch.note(active: Self.chosen)
        #expect(Self.isInFront(watch, at: 1000))
        watch.note(active: 8)
        #expect(!Self.isInFront(watch, at: 1000))
        watch.note(active: nil)
        #expect(!Self.isInFront(watch, at: 1000))
    }

    @Test func aChangeHidesUntilItIsKnown() {
        var watch = FrontWatch()
        watch.note(active: Self.chosen)
        watch.activeChanged()
        #expect(watch.mustAsk && !Self.isInFront(watch, at: 1000))
        watch.note(active: Self.chosen)
        #expect(!watch.mustAsk && Self.isInFront(watch, at: 1000))
    }

    /// Another window is raised; the manager tells later that it is active.
    @Test func othersRaiseDoubt() {
        var watch = FrontWatch()
        watch.note(active: Self.chosen)
        watch.othersMoved(now: .milliseconds(1000))
        #expect(!Self.isInFront(watch, at: 1149) && watch.nextEnd(now: .milliseconds(1001)) == .milliseconds(1150))
        #expect(Self.isInFront(watch, at: 1150) && watch.nextEnd(now: .milliseconds(1150)) == nil)
    }
}
