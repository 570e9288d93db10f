import Foundation
import MediaCore
import SeededRandom
import Testing

@testable import Configuration

/// What is wrong, where, and what would be right: a table of one mistake each.
@Suite struct ConfigurationErrorTests {
    static func problems(_ text: String, _ environment: [String: String] = [:]) -> [String] {
        do throws(ConfigurationError) {
            _ = try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: environment)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    /// A destination that is right, for tests of other things.
    static let destination = "destinations:\n  - url: rtmp://h/app/k\n"

    @Test(arguments: [
        // Keys.
        (
            "video:\n  widht: 1280\n",
            "c.yaml:2:3: video: unknown key \"widht\"; did you mean \"width\"?"
        ),
        ("vidoe:\n  width: 1280\n", "c.yaml:1:1: unknown section \"vidoe\"; did you mean \"video\"?"),
        (
            "width: 1280\n",
            "c.yaml:1:1: unknown section \"width\"; this key belongs to section video; indent it below video:"
        ),
        // What other programs call it, and a name without its unit.
        ("video:\n  fps: 30\n", "c.yaml:2:3: video: unknown key \"fps\"; did you mean \"frame_rate\"?"),
        ("video:\n  bitrate: 4500k\n", "c.yaml:2:3: video: unknown key \"bitrate\"; did you mean \"bitrate_kbps\"?"),
        ("video:\n  Bufsize: 4500k\n", "c.yaml:2:3: video: unknown key \"Bufsize\"; did you mean \"vbv_ms\"?"),
        ("stop:\n  drain: 2s\n", "c.yaml:2:3: stop: unknown key \"drain\"; did you mean \"drain_ms\"?"),
        ("memory:\n  limit: 1\n", "c.yaml:2:3: memory: unknown key \"limit\"; did you mean \"cap_bytes\"?"),
        ("outputs: []\n", "c.yaml:1:1: unknown section \"outputs\"; did you mean \"destinations\"?"),
        (
            "destinations:\n  - {url: rtmp://h/a/k, id: x}\n",
            "c.yaml:2:25: destinations[0]: unknown key \"id\"; did you mean \"name\"?"
        ),
        ("stop:\n  colour: 3\n", "c.yaml:2:3: stop: unknown key \"colour\"; the keys are drain_ms"),
        (
            "video:\n  width: 640\n  height: 480\n  width: 320\n",
            "c.yaml:4:3: duplicate key \"width\" (first in line 2); remove one of the two"
        ),
        ("- video\n", "c.yaml:1:1: the file is not a mapping of sections; start it with a section such as video:"),
        ("video: 1280\n", "c.yaml:1:8: video: the section is not a mapping; write its keys below it, indented"),
        // Numbers.
        (
            "video:\n  width: wide\n",
            "c.yaml:2:10: video.width: \"wide\" is not an integer; write an even integer, 16 to 4096"
        ),
        ("video:\n  width: 641\n", "c.yaml:2:10: video.width: 641 is not allowed; write an even integer, 16 to 4096"),
        ("video:\n  width: 5000\n", "c.yaml:2:10: video.width: 5000 is not allowed; write an even integer, 16 to 4096"),
        (
            "video:\n  width: 1280.0\n",
            "c.yaml:2:10: video.width: \"1280.0\" is not an integer; write an even integer, 16 to 4096"
        ),
        (
            "video:\n  width: 99999999999999999999\n",
            "c.yaml:2:10: video.width: \"99999999999999999999\" is not an integer; write an even integer, 16 to 4096"
        ),
        (
            "video:\n  width: [1280]\n",
            "c.yaml:2:10: video.width: the value has the wrong type; write even integer, 16 to 4096"
        ),
        (
            "audio:\n  sample_rate: 22050\n",
            "c.yaml:2:16: audio.sample_rate: \"22050\" is not allowed; write one of 48000, 44100"
        ),
        (
            "audio:\n  app_gain_db: nan\n",
            "c.yaml:2:16: audio.app_gain_db: \"nan\" is not a number; write a number, -60 to 24"
        ),
        ("audio:\n  app_gain_db: 60\n", "c.yaml:2:16: audio.app_gain_db: 60 is not allowed; write a number, -60 to 24"),
        (
            "video:\n  frame_rate: 29.97\n",
            """
            c.yaml:2:15: video.frame_rate: \"29.97\" is not a frame rate; write a rate such as \"30\" or \
            \"30000/1001\"
            """
        ),
        (
            "video:\n  frame_rate: 30/0\n",
            "c.yaml:2:15: video.frame_rate: 30/0 frames a second are not allowed; write 1 to 120"
        ),
        (
            "video:\n  frame_rate: 240\n",
            "c.yaml:2:15: video.frame_rate: 240 frames a second are not allowed; write 1 to 120"
        ),
        (
            "buffer:\n  max_bytes: 2MB\n",
            "c.yaml:2:14: buffer.max_bytes: \"2MB\" is not a size in bytes; write a size such as 128KiB"
        ),
        (
            "buffer:\n  max_bytes: 99999999999999MiB\n",
            "c.yaml:2:14: buffer.max_bytes: 99999999999999MiB is not allowed; write 128KiB to 256MiB"
        ),
        // Units.
        (
            "stop:\n  drain_ms: 2 s\n",
            """
            c.yaml:2:13: stop.drain_ms: \"2 s\" is not an integer; write an integer, 0 to 60000, or a duration such as \
            2s, 500ms or 1m30s
            """
        ),
        (
            "stop:\n  drain_ms: 2m\n",
            """
            c.yaml:2:13: stop.drain_ms: 2m is not allowed; write an integer, 0 to 60000, or a duration such as 2s, \
            500ms or 1m30s
            """
        ),
        (
            "stop:\n  drain_ms: 0.0005s\n",
            """
            c.yaml:2:13: stop.drain_ms: \"0.0005s\" is not a whole number of milliseconds; write 2s, 500ms or 1m30s
            """
        ),
        (
            "video:\n  bitrate_kbps: 4500kbps\n",
            """
            c.yaml:2:17: video.bitrate_kbps: \"4500kbps\" is not an integer; write an integer, 100 to 50000, or a \
            bitrate such as 4500k or 2.5M
            """
        ),
        // Words.
        ("video:\n  fit: fitt\n", "c.yaml:2:8: video.fit: \"fitt\" is not allowed; did you mean \"fit\"?"),
        (
            "log:\n  level: loud\n",
            """
            c.yaml:2:10: log.level: \"loud\" is not allowed; write one of trace, debug, info, notice, warning, error, \
            critical
            """
        ),
        (
            "video:\n  preset: veryfats\n",
            "c.yaml:2:11: video.preset: libx264 has no preset \"veryfats\"; did you mean \"veryfast\"?"
        ),
        (
            "video:\n  effort: best\n",
            "c.yaml:2:11: video.effort: \"best\" is not allowed; write one of low, normal, high"
        ),
        (
            "video:\n  effort: normal\n  preset: veryfast\n",
            """
            c.yaml:3:11: video.preset: effort and preset are both set; remove one of them
            """
        ),
        (
            "video:\n  effort: high\n  encoder: h264_nvenc\n",
            """
            c.yaml:2:11: video.effort: video.effort applies to libx264 only, not to h264_nvenc; remove video.effort, \
            or set video.preset to a preset of h264_nvenc
            """
        ),
        (
            "video:\n  encoder_options:\n    x264-params: \"nr=100:me=hex\"\n",
            """
            c.yaml:3:5: video.encoder_options: option me conflicts with video.effort normal; set video.preset to use \
            this option, or remove it
            """
        ),
        (
            "video:\n  encoder_options:\n    x264opts: \"no_cabac\"\n",
            """
            c.yaml:3:5: video.encoder_options: option no_cabac conflicts with video.effort normal; set video.preset to \
            use this option, or remove it
            """
        ),
        (
            "video:\n  encoder_options:\n    x264-params: \"bframes=0: 'subme'=7\"\n",
            """
            c.yaml:3:5: video.encoder_options: option subme conflicts with video.effort normal; set video.preset to \
            use this option, or remove it
            """
        ),
        (
            "video:\n  encoder_options:\n    preset: slow\n",
            """
            c.yaml:3:5: video.encoder_options: option preset conflicts with video.effort normal; set video.preset to \
            use this option, or remove it
            """
        ),
        (
            "video:\n  tune: zerolatency,ssim\n",
            """
            c.yaml:2:9: video.tune: tune ssim conflicts with video.effort normal; set video.preset to use this tune, \
            or set video.tune to zerolatency
            """
        ),
        (
            "video:\n  subpixel_motion: true\n",
            """
            c.yaml:2:3: video: the key \"subpixel_motion\" was removed; video.effort replaces it: low, normal and high \
            all use subpixel motion search, and the daemon disables it automatically if memory.cap_bytes is too small
            """
        ),
        (
            "video:\n  tune: zerolatncy\n",
            "c.yaml:2:9: video.tune: libx264 has no tune \"zerolatncy\"; did you mean \"zerolatency\"?"
        ),
        (
            "video:\n  encoder: \"lib x264\"\n",
            """
            c.yaml:2:12: video.encoder: \"lib x264\" is not a name of an \(VideoCodec.names) encoder of libavcodec; \
            write at most 64 letters, digits and ._-, such as libx264
            """
        ),
        (
            "video:\n  background: #000000\n",
            """
            c.yaml:2:14: video.background: there is no value; write colour as \"#rrggbb\", in quotes, or remove the \
            key to use its default; quote values that start with #
            """
        ),
        (
            "video:\n  background: black\n",
            "c.yaml:2:15: video.background: \"black\" is not a colour; write a colour such as \"#000000\", in quotes"
        ),
        (
            "control:\n  socket_mode: \"0888\"\n",
            """
            c.yaml:2:16: control.socket_mode: \"0888\" is not a valid socket mode; write octal digits such as \"0660\"
            """
        ),
        (
            "control:\n  socket: control.sock\n",
            "c.yaml:2:11: control.socket: \"control.sock\" is not the absolute path of a socket; start it with /"
        ),
        (
            "control:\n  socket: /\(String(repeating: "x", count: 107))\n",
            """
            c.yaml:2:11: control.socket: the socket path has 108 bytes; choose a path of at most 107 bytes, the limit \
            of Linux
            """
        ),
        // YAML itself.
        (
            "video:\n\twidth: 3\n",
            """
            c.yaml:2:1: found character that cannot start any token; indent with spaces, not tabs, and quote values \
            that start with @, ` or %
            """
        ),
        (
            "video: {width: 640\n",
            """
            c.yaml:2:1: did not find expected ',' or '}'; check the brackets, commas and quotes, and that the text is \
            complete
            """
        ),
        (
            "video:\n  width: 640\n height: 480\n",
            "c.yaml:3:2: did not find expected key; check the indentation and the quotes near this place"
        ),
        ("video: &a\n  width: 640\n", "c.yaml:1:8: anchors (&name) are not supported; remove the anchor"),
        ("video: *a\n", "c.yaml:1:8: aliases (*name) are not supported; write the value itself"),
        ("video:\n  width: !!int 640\n", "c.yaml:2:10: tags (!name) are not supported; remove the tag"),
        (
            "video: {}\n---\naudio: {}\n",
            "c.yaml:3:1: a second document starts here; keep one document: remove the --- line and what follows it"
        ),
        ("? [a]\n: b\n", "c.yaml:1:3: a key is a list or a mapping; write a name followed by a colon"),
        (
            "log: [[[[[[[[[[]]]]]]]]]]\n",
            "c.yaml:1:13: values are nested more than 8 levels deep; use at most three levels"
        ),
        // Several keys together.
        (
            "audio:\n  min_latency_ms: 800\n",
            """
            c.yaml:2:19: audio.min_latency_ms: min_latency_ms 800 is more than max_latency_ms 750; max_latency_ms must \
            be at least min_latency_ms
            """
        ),
        (
            "buffer:\n  drop_to_keyframe_ms: 600\n",
            """
            c.yaml:2:24: buffer.drop_to_keyframe_ms: drop_disposable_ms 700, drop_to_keyframe_ms 600 and duration_ms \
            3000 are not in ascending order; each value must be greater than the previous one
            """
        ),
        (
            "buffer:\n  duration_ms: 900\n",
            """
            c.yaml:2:16: buffer.duration_ms: drop_disposable_ms 700, drop_to_keyframe_ms 900 and duration_ms 900 are \
            not in ascending order; each value must be greater than the previous one
            """
        ),
        (
            "video:\n  bitrate_kbps: 20000\n",
            """
            c.yaml:2:17: video.bitrate_kbps: 2097152 bytes cannot hold buffer.drop_to_keyframe_ms and video.vbv_ms \
            together at 20128 kbit/s; set buffer.max_bytes to at least 4669KiB
            """
        ),
        (
            "video:\n  profile: baseline\n  b_frames: 1\n",
            """
            c.yaml:3:13: video.b_frames: profile baseline has no B-frames; set video.b_frames to 0 or video.profile \
            to main or high
            """
        ),
        (
            "control:\n  socket: /run/upcast/capture.sock\n",
            """
            c.yaml:2:11: control.socket: ingest.socket and control.socket are the same path; give each socket its own \
            path
            """
        ),
        // Destinations.
        (
            "destinations:\n  url: rtmp://h/a/k\n",
            "c.yaml:2:3: destinations: the value is not a list; start each destination with \"- name: ...\""
        ),
        (
            "destinations:\n  - rtmp://h/a/k\n",
            """
            c.yaml:2:5: destinations[0]: the destination is not a mapping; write \"- name: ...\" and align its keys \
            below the name
            """
        ),
        (
            "destinations:\n  - name: a\n",
            "c.yaml:2:5: destinations[0]: there is no url; set one such as rtmp://host/app"
        ),
        (
            "destinations:\n  - url: rtmp://h/app\n",
            """
            c.yaml:2:10: destinations[0].url: there is no stream key; name a file in key_file or a variable in \
            key_env, or write it after the application
            """
        ),
        (
            "destinations:\n  - url: rtmp://h/a/k\n  - url: rtmp://h/a/k2\n",
            """
            c.yaml:3:5: destinations[1]: \"main\" is already the name of destination 0; give each destination a unique \
            name
            """
        ),
        (
            "destinations:\n  - {url: rtmp://h/a/k}\n  - {name: b, url: rtmp://h/a/k}\n",
            "c.yaml:3:20: destinations[1].url: destination 0 publishes to the same place; remove one of the two"
        ),
        (
            "destinations:\n  - {url: rtmp://h/a, key_file: /k, key_env: K}\n",
            "c.yaml:2:46: destinations[0].key_env: key_file and key_env are both set; remove one of the two"
        ),
        (
            "destinations:\n  - {url: /r.flv, key_file: /k}\n",
            "c.yaml:2:29: destinations[0].key_file: a file has no stream key; remove key_file and key_env"
        ),
        (
            "destinations:\n  - {url: rtmp://h/a/k, ca_file: /k}\n",
            "c.yaml:2:34: destinations[0].ca_file: rtmp:// does not use certificates; use rtmps:// or remove ca_file"
        ),
        (
            "destinations:\n  - {url: rtmps://h/a/k, tls_verify: yes}\n",
            "c.yaml:2:38: destinations[0].tls_verify: \"yes\" is neither true nor false; write true or false"
        ),
        (
            "destinations:\n" + String(repeating: "  - url: rtmp://h/a/k\n", count: 9),
            "c.yaml:2:3: destinations: there are 9 destinations; at most 8 are allowed"
        )
    ])
    func oneMistake(text: String, expected: String) {
        #expect(Self.problems(text) == [expected])
    }

    @Test(arguments: [
        (
            ["UPCAST_VIDEO_WIDHT": "1"],
            "environment variable UPCAST_VIDEO_WIDHT: unknown variable; did you mean \"UPCAST_VIDEO_WIDTH\"?"
        ),
        (
            ["UPCAST_VIDEO_WIDTH": "1"],
            "environment variable UPCAST_VIDEO_WIDTH: 1 is not allowed; write an even integer, 16 to 4096"
        ),
        (
            ["UPCAST_VIDEO_WIDTH": ""],
            """
            environment variable UPCAST_VIDEO_WIDTH: \"\" is not an integer; write an even integer, 16 to 4096
            """
        ),
        (
            ["UPCAST_SOKCET": "/x"],
            """
            environment variable UPCAST_SOKCET: unknown variable; names have the form UPCAST_<SECTION>_<KEY>; key_env \
            names variables with stream keys
            """
        ),
        (
            ["UPCAST_DESTINATIONS_1_URL": "rtmp://h/a/k"],
            """
            environment variable UPCAST_DESTINATIONS_1_URL: destination 1 leaves a gap; number destinations without \
            gaps; the next number is 0
            """
        ),
        (
            ["UPCAST_DESTINATIONS_8_URL": "rtmp://h/a/k"],
            """
            environment variable UPCAST_DESTINATIONS_8_URL: destination 8 exceeds the limit; at most 8 destinations \
            are allowed, numbered from 0
            """
        ),
        (
            ["UPCAST_DESTINATIONS_0_ULR": "rtmp://h/a/k"],
            """
            environment variable UPCAST_DESTINATIONS_0_ULR: unknown variable; did you mean \
            \"UPCAST_DESTINATIONS_0_URL\"?
            """
        ),
        (
            ["UPCAST_DESTINATIONS_0_NAME": "a"],
            """
            environment variable UPCAST_DESTINATIONS_0_NAME: destinations[0]: there is no url; set one such as \
            rtmp://host/app
            """
        ),
        (
            ["UPCAST_VIDEO_ENCODER_OPTIONS": "a=1:b"],
            """
            environment variable UPCAST_VIDEO_ENCODER_OPTIONS: option \"b\" has no =; write name=value:name=value, \
            with \\: for a colon inside a value
            """
        ),
        (
            ["UPCAST_VIDEO_ENCODER_OPTIONS": "a=1:a=2"],
            """
            environment variable UPCAST_VIDEO_ENCODER_OPTIONS: option \"a\" is set twice; remove one of the two
            """
        ),
        (
            ["UPCAST_AUDIO_MIN_LATENCY_MS": "900"],
            """
            environment variable UPCAST_AUDIO_MIN_LATENCY_MS: min_latency_ms 900 is more than max_latency_ms 750; \
            max_latency_ms must be at least min_latency_ms
            """
        ),
        (
            ["UPCAST_VIDEO_FPS": "30"],
            "environment variable UPCAST_VIDEO_FPS: unknown variable; did you mean \"UPCAST_VIDEO_FRAME_RATE\"?"
        ),
        (
            ["UPCAST_VIDEO_BITRATE": "4500k"],
            "environment variable UPCAST_VIDEO_BITRATE: unknown variable; did you mean \"UPCAST_VIDEO_BITRATE_KBPS\"?"
        ),
        (
            ["UPCAST_DESTINATIONS_3_SERVER": "rtmp://h/a"],
            """
            environment variable UPCAST_DESTINATIONS_3_SERVER: unknown variable; did you mean \
            \"UPCAST_DESTINATIONS_3_URL\"?
            """
        )
    ])
    func oneMistakeInTheEnvironment(environment: [String: String], expected: String) {
        #expect(Self.problems("", environment) == [expected])
    }

    @Test func aMappingIsBounded() {
        let text = "video:\n  encoder_options:\n" + (0...200).map { "    o\($0): a\n" }.joined()
        #expect(
            Self.problems(text) == [
                "c.yaml:203:5: the mapping has more than 200 keys; remove keys; no section has as many"
            ])
    }

    @Test func allProblemsComeAtOnceInTheOrderOfTheFile() {
        let text = "video:\n  widht: 3\n  height: 7\naudio:\n  min_latency_ms: 800\nlgo: {}\n"
        let places = Self.problems(text, ["UPCAST_LOG_LEVEL": "x"]).map { String($0.prefix(14)) }
        #expect(places == ["c.yaml:2:3: vi", "c.yaml:3:11: v", "c.yaml:5:19: a", "c.yaml:6:1: un", "environment va"])
    }

    @Test func theFileItself() throws {
        let missing = #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/nowhere/c.yaml", environment: [:])
        }
        #expect(
            missing?.description
                == "/nowhere/c.yaml: cannot be opened: No such file or directory; "
                + "check the path and its permissions"
        )
        let folder = #expect(throws: ConfigurationError.self) { try Configuration.load(path: "/tmp", environment: [:]) }
        #expect(folder?.description.contains("is not a regular file") == true)
        let endless = #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/dev/zero", environment: [:])
        }
        #expect(
            endless?.description
                == "/dev/zero: is not a regular file; name a file, not a folder, pipe or device")
        #expect(Self.problems("\u{0}")[0].hasPrefix("c.yaml:1:1: control characters are not allowed"))
    }

    /// No message repeats a value that may be a secret, wherever the secret was put by mistake.
    @Test(arguments: [
        "destinations:\n  - url: SECRET\n", "destinations:\n  - url: rtmp://SECRET@h/a/k\n",
        "destinations:\n  - url: http://h/SECRET\n",
        "destinations:\n  - url: rtmp://h:SECRET/a/k\n", "destinations:\n  - url: \"rtmp://h/a/SECRET with space\"\n",
        "destinations:\n  - url: [SECRET]\n", "destinations:\n  - {url: rtmp://h/a, key_env: \"SECRET!\"}\n",
        "destinations:\n  - {url: rtmp://h/a, key: SECRET}\n", "destinations:\n  - {url: rtmp://h/a/SECRET, key: x}\n",
        "destinations:\n  - {name: a, url: rtmp://h/a/SECRET}\n  - {name: b, url: rtmp://h/a/SECRET}\n",
        "destinations:\n  - url: rtmp://h/a/SECRET: x\n", "destinations: SECRET\n", "destinations:\n  - SECRET\n",
        // Without a space after the colon, YAML takes all of it for a key.
        "destinations: [{name: a, url:rtmp://h/a/SECRET}]\n", "webhooks: [{name: a, url:https://h/SECRET}]\n",
        "destinations: [{url:rtmp://h/a/SECRET, url:rtmp://h/a/SECRET}]\n"
    ])
    func secretsStayOutOfMessages(text: String) {
        let problems = Self.problems(text)
        #expect(!problems.isEmpty)
        #expect(!problems.joined().contains("SECRET"))
        let environment = [
            "UPCAST_DESTINATIONS_0_URL": "SECRET", "UPCAST_DESTINATIONS_0_KEY": "SECRET",
            "UPCAST_DESTINATIONS_0_KEY_ENV": "-SECRET"
        ]
        let inEnvironment = Self.problems("", environment)
        #expect(inEnvironment.count == 3 && !inEnvironment.joined().contains("SECRET"), "\(inEnvironment)")
    }

    /// No bytes crash the reader: the shipped file with some bytes replaced is either read or refused.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func noiseIsRefusedOrRead(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var bytes = Array(ConfigurationReference.yaml.utf8)
        for _ in 0..<5 {
            bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
        do throws(ConfigurationError) {
            _ = try Configuration.load(text: bytes, path: "c.yaml", environment: [:])
        } catch {
            #expect(!error.problems.isEmpty)
        }
    }
}
