import ArgumentParser
import Glibc
import LinuxSystem
internal import ProductVersion
import UpcastClient

/// The capture client for a Linux desktop.
@main struct UpcastScreen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcast-screen",
        abstract: "Send a screen of X11 or Wayland, and its sound, to the capture socket of upcastd.",
        discussion: """
            Without options, upcast-screen sends the screen of the session, and what its default sink plays, until it \
            is stopped: the display of an X11 session, or an output of a Wayland session. Other examples:

              upcast-screen --list
              upcast-screen --monitor HDMI-1 --fps 60
              upcast-screen --window class=firefox --sound app=firefox
              upcast-screen --display :99 --area 1280x720+0+0 --no-pointer --sound none
              upcast-screen --sound app=firefox --microphone default

            A frame is sent when something has changed, and no faster than the frame rate. A screen that stands still \
            costs next to nothing: a few wake-ups a second. The X server writes frames into memory that the daemon \
            reads (MIT-SHM 1.2), and reports what has changed (DAMAGE). Without these extensions, as on a remote \
            display, frames are copied and compared.

            A Wayland compositor that offers ext-image-copy-capture or wlr-screencopy, as sway does, writes frames \
            into that memory, too. With several outputs, --monitor names one. GNOME and KDE Plasma offer neither: \
            there, the desktop asks which monitor or window to share (the ScreenCast portal), and PipeWire brings the \
            pictures. Windows cannot be hidden on Wayland: --hide is refused.

            On X11, a window with the property _UPCAST_SECURE is hidden from viewers wherever it is, with its menus \
            and dialogs: xprop -id ID -f _UPCAST_SECURE 32c -set _UPCAST_SECURE 1. Windows that match a rule are, too: \
            --hide class=KeePassXC --hide "title=*Private Browsing*".

            If the X server, the compositor, the sound server or the daemon ends, upcast-screen continues when it is \
            back. SIGINT, SIGTERM and SIGHUP end the broadcast; a second SIGINT or SIGTERM ends the program at once. A \
            daemon that says nothing for two seconds is not waited for then.

            Exit status: 0 success, or ended by a signal; 2 cannot connect to the daemon; 3 refused or ended by the \
            daemon, or not everything was sent; 4 the screen, or the sound that was asked for, cannot be captured; \
            5 the user does not share a screen; 64 usage error.
            """,
        version: "upcast-screen \(Version.current)")

    @Option(
        help: "Capture socket of the daemon (default: $UPCAST_SOCKET or \(CaptureConnection.defaultPath)).",
        completion: .file())
    var socket: String?

    @Option(help: "Name of this client in the log and status of the daemon.")
    var name = "upcast-screen"

    @Option(help: "The X display (default: $DISPLAY, unless $WAYLAND_DISPLAY is set).")
    var display: String?

    @Option(help: "The socket of the Wayland compositor (default: $WAYLAND_DISPLAY).")
    var wayland: String?

    @Flag(
        help: ArgumentHelp(
            "Let the desktop ask which monitor or window to share (the ScreenCast portal).",
            discussion: "The default where a Wayland compositor gives no pictures itself, as those of GNOME and KDE."))
    var portal = false

    @Option(
        help: ArgumentHelp(
            "Send one monitor, by the name that --list shows (default: the whole display).",
            discussion: """
                On Wayland, the default is the first output. Of a display with more than 4096 pixels a side, it is the \
                primary monitor, or else the first one that fits.
                """))
    var monitor: String?

    @Option(
        help: ArgumentHelp(
            "Send a part of the display, as 1280x720+40+20: width, height, left, top, in pixels.",
            discussion: "On Wayland, a part of the output, in logical pixels.",
            valueName: "rectangle"))
    var area: String?

    @Option(
        help: ArgumentHelp(
            "Send one window with its dialogs and menus, and nothing else: its number, or a rule as of --hide.",
            valueName: "window"))
    var window: String?

    @Option(help: "The most frames a second, as 30 or 30000/1001.")
    var fps = "30"

    @Flag(inversion: .prefixedNo, help: "Draw the pointer into the frames, or leave it out.")
    var pointer = true

    @Option(
        help: ArgumentHelp(
            "App audio: auto, default, none, the name of a sink, or app=NAME.",
            discussion: "default is what the default sink plays, auto the same if a sound server runs. app= sends only "
                + "what programs of this name play."))
    var sound = "auto"

    @Option(help: "Microphone: none, default, or the name of a source.")
    var microphone = "none"

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Hide windows that match a rule: class, title, type, process or user, =, and a pattern with *.",
            discussion: "Types are notification, dialog, menu and dock. The option can be repeated.",
            valueName: "rule"))
    var hide: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Hide windows that match a rule of a file, one on each line.",
            discussion: "Comments begin with # and a space; \\# is a # in a rule. The option can be repeated.",
            valueName: "file"), completion: .file())
    var hideFile: [String] = []

    @Flag(help: "Hide notifications: --hide type=notification.")
    var hideNotifications = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Raise the curtain while neither a window that matches nor another of its process is active.",
            discussion: "Rules are those of --hide. The option can be repeated.", valueName: "rule"))
    var hideWhenUnfocused: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Raise the curtain while the session is locked or not on the screen, or the screen saver is on.",
            discussion: "Also while those who know it do not answer (D-Bus, logind)."))
    var curtainWhenLocked = true

    @Option(parsing: .unconditional, help: "End after this many seconds (default: when stopped).")
    var seconds: Double?

    @Flag(help: "List monitors or outputs, the portal, windows, sinks, programs and microphones, and end.")
    var list = false

    @Flag(help: "With --list: print one JSON object.")
    var json = false

    @Flag(help: "Print only errors.")
    var quiet = false

    static func main() {
        StandardStreams.occupy()
        // The reader of standard error may leave: the broadcast goes on.
        _ = signal(SIGPIPE, SIG_IGN)
        do {
            let command = try UpcastScreen.parse()
            let status = command.list ? ScreenList.print(of: command) : try ScreenSession(ScreenPlan(command)).run()
            Glibc.exit(status.rawValue)
        } catch {
            if exitCode(for: error) == .success {
                print(fullMessage(for: error))
                Glibc.exit(ExitStatus.sent.rawValue)
            }
            let text = (error as? ScreenPlan.Mistake).map { "upcast-screen: \($0)" } ?? fullMessage(for: error)
            Report.line(text)
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

enum ExitStatus: Int32 {
    case sent = 0
    case cannotConnect = 2
    case refused = 3
    case badScreen = 4
    /// The user does not share a screen, or not any more.
    case notShared = 5
    /// EX_USAGE of sysexits.h, as for the other programs.
    case usage = 64
}

/// Lines on standard error. Any thread.
enum Report {
    /// How long a line waits for a reader. A stopped terminal, or a full pipe, must not delay the curtain.
    private static let patience: CInt = 100
    /// The number of lines that were dropped, as nobody read them.
    private static let dropped = Monitor(0)
    /// Standard error, opened again in non-blocking mode: a terminal may have room for only a part of a line.
    /// Other programs that share standard error expect it to block. Standard error itself if it cannot be opened.
    private static let output: CInt = {
        var file = stat()
        guard unsafe fstat(STDERR_FILENO, &file) == 0, [S_IFIFO, S_IFCHR].contains(file.st_mode & S_IFMT) else {
            return STDERR_FILENO
        }
        let opened = unsafe open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        return opened < 0 ? STDERR_FILENO : opened
    }()

    static func line(_ text: String) {
        dropped.withLock { dropped in
            var wanted = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
            // Only the first dropped line waits.
            guard unsafe poll(&wanted, 1, dropped == 0 ? patience : 0) != 0 else { return dropped += 1 }
            let lost = dropped > 0 ? "upcast-screen: \(dropped) messages were lost, as nobody read them\n" : ""
            var text = lost + text + "\n"
            let count = text.withUTF8 { unsafe write(output, $0.baseAddress, $0.count) }
            dropped = count < 0 && errno == EAGAIN ? dropped + 1 : 0
        }
    }
}
