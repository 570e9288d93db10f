import ArgumentParser
import CaptureSources
import Glibc
import LinuxSystem
import MediaCore
internal import ProductVersion
import UpcastClient

/// The reference capture client: sends a test pattern, files or pipes to upcastd.
@main struct UpcastSend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcast-send",
        abstract: "Send video and audio to the capture socket of upcastd.",
        discussion: """
            Without options, upcast-send sends a test pattern and a tone until it is stopped. Other examples:

              upcast-send --size 1080x1920 --orientation cycle:5
              ffmpeg -i clip.mp4 -c:v rawvideo -pix_fmt yuv420p -enc_time_base:v 1:1000 \\
                  -c:a pcm_s16le -f nut - | upcast-send -
              upcast-send --video a.bgra --format BGRA --size 800x600 --mic a.wav

            A NUT or Matroska stream carries video and audio with their times, so that they stay in sync as they are \
            in the source. Its first video, its first audio (as app audio) and its second audio (as microphone) are \
            sent. Without -enc_time_base, ffmpeg rounds the times of raw video to its frame rate. For a live source, \
            add -copyts before the inputs of ffmpeg.

            Inputs without times start together when each has its first sample. If several pipes are live, as those \
            of programs that grab a screen and its sound, the times of samples follow from their arrival instead. \
            Then a pipe that delivers in bursts of changing lengths is refused, and so is one ffmpeg that writes both \
            pipes. An input without samples for 10 s is not waited for. Pipes are buffered (video: 64 MiB), so that a \
            screen grabber does not block. After a stall, samples are re-timed to the current time. Samples that are \
            more than 1 s late are dropped and counted as late.

            SIGINT, SIGTERM and SIGHUP end the broadcast; a second SIGINT or SIGTERM ends the program at once. A \
            daemon that says nothing for two seconds is not waited for then. If standard error is a terminal, it shows \
            the progress: time, sent frames, frames dropped by the daemon, late frames, state.

            Exit status: 0 success, or ended by a signal; 2 cannot connect to the daemon; 3 refused or ended by the \
            daemon, or not everything was sent; 4 an input cannot be read or sent; 64 usage error.
            """,
        version: "upcast-send \(Version.current)")

    @Argument(
        help: "A NUT or Matroska stream of raw video and PCM: a file, or - for standard input.", completion: .file())
    var input: String?

    @Option(
        help: "Capture socket of the daemon (default: $UPCAST_SOCKET or \(CaptureConnection.defaultPath)).",
        completion: .file())
    var socket: String?

    @Option(help: "Name of this client in the log and status of the daemon.")
    var name = "upcast-send"

    @Option(help: "Orientation convention: exif (CGImagePropertyOrientation) or replaykit (left, right swapped).")
    var convention = Convention.exif

    @Option(
        help: "pattern (default), none, a Y4M file, raw pictures (with --format and --size), or - for standard input.",
        completion: .file())
    var video: String?

    @Option(
        help: ArgumentHelp(
            "y4m, or a pixel format (default: 420v for the pattern, y4m for files).",
            discussion: PixelFormat.allCases.map(\.fourCC.description).joined(separator: ", ")))
    var format: String?

    @Option(help: "Size of a stored picture in pixels (default: 1280x720 for the pattern).")
    var size: String?

    @Option(help: "Frame rate, as 30 or 30000/1001 (default: the rate of the Y4M stream, else 30).")
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "Orientation: 1 to 8, a name such as right or leftMirrored, none, cycle[:seconds] or all[:seconds].",
            discussion: "cycle uses the four rotations, all the eight tags. Receivers must show the pattern upright."))
    var orientation = "up"

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Secure region of every picture, as 300x80+40+20: width, height, left, top.",
            discussion: """
                The unit is pixels of the stored picture, before rotation. A negative left or top is outside the \
                picture: 300x80-40+20. The option can be repeated.
                """,
            valueName: "rectangle"))
    var secure: [String] = []

    @Option(
        help: ArgumentHelp(
            "Colour matrix of the pictures (default: that of the stream, or bt709 for HD, else bt601).",
            discussion: "ffmpeg converts grabbed screens to bt601 at any size. NUT and Y4M do not contain the matrix."))
    var color: Matrix?

    @Option(help: "Colour range (default: the stream's, or full for RGB and grey streams, else video).")
    var range: Range?

    @Option(
        help: "App audio: tone[:Hz] (default with the pattern), none (default else), WAV file, raw PCM file, or -.",
        completion: .file())
    var appAudio: String?

    @Option(help: "Format of raw app audio, as s16be,48000,2 (default for a tone: s16be,44100,2).")
    var appAudioFormat: String?

    @Option(
        help: "Microphone audio, as for --app-audio (default: none, or the second audio of the stream).",
        completion: .file())
    var mic: String?

    @Option(help: "Format of raw microphone audio, as for --app-audio-format (default for a tone: s16le,48000,1).")
    var micFormat: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Play all audio this many milliseconds later (negative: earlier), from -1000 to 1000.",
            discussion: "This compensates for the delay of a camera, a screen grabber or a microphone.",
            valueName: "ms"))
    var audioOffset = 0

    @Option(
        parsing: .unconditional, help: "End after this many seconds (default: at the end of all files and pipes).")
    var seconds: Double?

    @Flag(help: "Restart files at their end.")
    var loop = false

    @Flag(
        inversion: .prefixedNo,
        help: "Send samples when they are due, or without delay. Tones are always paced.")
    var pace = true

    @Flag(
        inversion: .prefixedNo,
        help: "Pass pictures in shared memory if possible, or send all through the socket.")
    var sharedMemory = true

    @Option(help: "Pause at START seconds for SECONDS, as 5:2. The option can be repeated.")
    var pauseAt: [String] = []

    @Flag(help: "Do not show progress, only errors.")
    var quiet = false

    enum Convention: String, ExpressibleByArgument, CaseIterable { case exif, replaykit }
    enum Matrix: String, ExpressibleByArgument, CaseIterable { case bt709, bt601, bt2020 }
    enum Range: String, ExpressibleByArgument, CaseIterable { case video, full }

    static func main() {
        StandardStreams.occupy()
        // The reader of standard error may leave: the broadcast goes on.
        _ = signal(SIGPIPE, SIG_IGN)
        do {
            let command = try UpcastSend.parse()
            Glibc.exit(Session(try SessionPlan(command)).run())
        } catch {
            if exitCode(for: error) == .success {
                print(fullMessage(for: error))
                Glibc.exit(ExitStatus.sent.rawValue)
            }
            let text = (error as? InputError).map { "upcast-send: \($0)" } ?? fullMessage(for: error)
            ProgressLine.write(lines: text)
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }
}

enum ExitStatus: Int32 {
    case sent = 0
    case cannotConnect = 2
    case refused = 3
    case badInput = 4
    /// EX_USAGE of sysexits.h, as for the other programs.
    case usage = 64
}
