import ArgumentParser
import CaptureSources
import Glibc
import MediaCore
internal import ProductVersion
import UpcastClient

/// The reference capture client: sends a test pattern, files or pipes to upcastd as a capture client would.
@main struct UpcastSend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcast-send",
        abstract: "Sends pictures and sound to upcastd's capture socket.",
        discussion: """
            Without options it sends a test pattern and a tone until it is stopped. Other examples:

              upcast-send --size 1080x1920 --orientation cycle:5
              ffmpeg -i clip.mp4 -f yuv4mpegpipe - | upcast-send --video -
              upcast-send --video a.bgra --format BGRA --size 800x600 --mic a.wav

            All inputs begin together, when each has given its first sample; one that gives nothing for 10 s is not \
            waited for. A pipe may be live: it is read ahead, by 64 MiB of video at most, so that its writer need not \
            wait; where it stalls it is moved up to the clock again. What is more than a second late is left out and \
            counted as late.

            SIGINT and SIGTERM end the broadcast properly; a second one ends the program. Progress is shown where \
            standard error is a terminal: time, frames sent, frames that the daemon dropped, late ones, state.

            Exit status: 0 sent and finished, 2 cannot connect, 3 refused or ended by the daemon, 4 an input cannot be \
            read or sent, 64 wrong usage.
            """,
        version: "upcast-send \(Version.current)")

    @Option(help: "The daemon's capture socket (default: $UPCAST_SOCKET or \(CaptureConnection.defaultPath)).")
    var socket: String?

    @Option(help: "This client's name in the daemon's log and status.")
    var name = "upcast-send"

    @Option(help: "What orientations mean: exif (CGImagePropertyOrientation) or replaykit (left and right swapped).")
    var convention = Convention.exif

    @Option(help: "pattern, none, a Y4M file, raw pictures (with --format and --size), or - for standard input.")
    var video = "pattern"

    @Option(
        help: ArgumentHelp(
            "y4m, or how pixels are stored (default: 420v for the pattern, y4m for files).",
            discussion: PixelFormat.allCases.map(\.fourCC.description).joined(separator: ", ")))
    var format: String?

    @Option(help: "Pixels of a stored picture (default: 1280x720 for the pattern).")
    var size: String?

    @Option(help: "Frames a second, as 30 or 30000/1001 (default: what a Y4M stream says, else 30).")
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "1 to 8, a name such as right or leftMirrored, none, cycle[:seconds] or all[:seconds].",
            discussion: "cycle takes the four turns, all the eight tags. The pattern is upright for whoever obeys."))
    var orientation = "up"

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A rectangle of every picture that must not be shown, as 300x80+40+20: width, height, place.",
            discussion: """
                In pixels of the picture as it is stored, before it is turned; 300x80-40+20 begins 40 pixels left of \
                it. May be given several times.
                """,
            valueName: "rectangle"))
    var secure: [String] = []

    @Option(
        help: ArgumentHelp(
            "The pictures' matrix (default: bt709 for HD, else bt601).",
            discussion: "ffmpeg makes bt601 of a screen that it grabs, whatever its size, and Y4M does not say so."))
    var color: Matrix?

    @Option(help: "The pictures' range (default: full for RGB, else video).")
    var range: Range?

    @Option(help: "tone[:Hz] (default with the pattern), none (else), a WAV file, raw PCM, or - for standard input.")
    var appAudio: String?

    @Option(help: "How app audio is stored where no WAV header says it, as s16be,48000,2 (tone: s16be,44100,2).")
    var appAudioFormat: String?

    @Option(help: "As --app-audio, for the microphone.")
    var mic = "none"

    @Option(help: "As --app-audio-format, for the microphone (tone: s16le,48000,1).")
    var micFormat: String?

    @Option(help: "End after this many seconds (default: when every file and pipe has come to its end).")
    var seconds: Double?

    @Flag(help: "Begin files again at their end.")
    var loop = false

    @Flag(
        inversion: .prefixedNo,
        help: "Send samples when they are due, or as they come and with the least delay; tones are always paced.")
    var pace = true

    @Flag(
        inversion: .prefixedNo,
        help: "Let the daemon read pictures in shared memory where it can, or send all through the socket.")
    var sharedMemory = true

    @Option(help: "Pause at START seconds for SECONDS, as 5:2; may be given several times.")
    var pauseAt: [String] = []

    @Flag(help: "Show no progress.")
    var quiet = false

    enum Convention: String, ExpressibleByArgument, CaseIterable { case exif, replaykit }
    enum Matrix: String, ExpressibleByArgument, CaseIterable { case bt709, bt601, bt2020 }
    enum Range: String, ExpressibleByArgument, CaseIterable { case video, full }

    static func main() {
        // A descriptor of ours must not take the place of standard input that somebody has closed.
        for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) < 0 { _ = unsafe open("/dev/null", O_RDWR) }
        do {
            let command = try UpcastSend.parse()
            Glibc.exit(Session(try SessionPlan(command)).run())
        } catch {
            if exitCode(for: error) == .success {
                print(fullMessage(for: error))
                Glibc.exit(ExitStatus.sent.rawValue)
            }
            let text = (error as? InputError).map { "upcast-send: \($0)" } ?? fullMessage(for: error)
            ProgressLine.write(text + "\n")
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

/// What the program tells its caller.
enum ExitStatus: Int32 {
    case sent = 0
    case cannotConnect = 2
    case refused = 3
    case badInput = 4
    /// EX_USAGE of sysexits.h, as for the other programs.
    case usage = 64
}
