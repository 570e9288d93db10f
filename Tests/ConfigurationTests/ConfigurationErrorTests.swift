import Foundation
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
            "c.yaml:2:3: video: \"widht\" is not a key of this section; did you mean \"width\"?"
        ),
        ("vidoe:\n  width: 1280\n", "c.yaml:1:1: \"vidoe\" is not a section; did you mean \"video\"?"),
        ("width: 1280\n", "c.yaml:1:1: \"width\" is not a section; it belongs into the section video, indented"),
        ("stop:\n  colour: 3\n", "c.yaml:2:3: stop: \"colour\" is not a key of this section; its keys are drain_ms"),
        (
            "video:\n  width: 640\n  height: 480\n  width: 320\n",
            "c.yaml:4:3: \"width\" stands here a second time (first in line 2); keep one of the two"
        ),
        ("- video\n", "c.yaml:1:1: the file is not a mapping of sections; begin it with a section such as video:"),
        ("video: 1280\n", "c.yaml:1:8: video: a section is a mapping; write its keys below it, indented"),
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
            "c.yaml:2:10: video.width: this is the wrong kind of value; write even integer, 16 to 4096"
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
            "c.yaml:2:15: video.frame_rate: \"29.97\" is not a frame rate; write one such as \"30\" or \"30000/1001\""
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
            "c.yaml:2:14: buffer.max_bytes: \"2MB\" is not a number of bytes; write one such as 128KiB"
        ),
        (
            "buffer:\n  max_bytes: 99999999999999MiB\n",
            "c.yaml:2:14: buffer.max_bytes: 99999999999999MiB is not allowed; write 128KiB to 256MiB"
        ),
        // Words.
        ("video:\n  fit: fitt\n", "c.yaml:2:8: video.fit: \"fitt\" is not known; did you mean \"fit\"?"),
        (
            "log:\n  level: loud\n",
            """
            c.yaml:2:10: log.level: \"loud\" is not known; write one of trace, debug, info, notice, warning, error, \
            critical
            """
        ),
        (
            "video:\n  preset: veryfats\n",
            "c.yaml:2:11: video.preset: libx264 has no preset \"veryfats\"; did you mean \"veryfast\"?"
        ),
        (
            "video:\n  effort: best\n",
            "c.yaml:2:11: video.effort: \"best\" is not known; write one of low, normal, high"
        ),
        (
            "video:\n  effort: normal\n  preset: veryfast\n",
            """
            c.yaml:3:11: video.preset: effort and preset are both set; keep one: effort names measured settings of \
            libx264, preset names its own
            """
        ),
        (
            "video:\n  effort: high\n  encoder: h264_nvenc\n",
            """
            c.yaml:2:11: video.effort: h264_nvenc has no effort, which is for libx264; remove video.effort; \
            video.preset takes what h264_nvenc calls its presets
            """
        ),
        (
            "video:\n  encoder_options:\n    x264-params: \"nr=100:me=hex\"\n",
            """
            c.yaml:3:5: video.encoder_options: me is decided by video.effort, which is normal; set video.preset to \
            choose it yourself, or remove me
            """
        ),
        (
            "video:\n  encoder_options:\n    x264opts: \"no_cabac\"\n",
            """
            c.yaml:3:5: video.encoder_options: no_cabac is decided by video.effort, which is normal; set video.preset \
            to choose it yourself, or remove no_cabac
            """
        ),
        (
            "video:\n  encoder_options:\n    x264-params: \"bframes=0: 'subme'=7\"\n",
            """
            c.yaml:3:5: video.encoder_options: subme is decided by video.effort, which is normal; set video.preset to \
            choose it yourself, or remove subme
            """
        ),
        (
            "video:\n  encoder_options:\n    preset: slow\n",
            """
            c.yaml:3:5: video.encoder_options: preset is decided by video.effort, which is normal; set video.preset to \
            choose it yourself, or remove preset
            """
        ),
        (
            "video:\n  tune: zerolatency,ssim\n",
            """
            c.yaml:2:9: video.tune: ssim changes what video.effort, which is normal, decides; set video.preset to use \
            it, or keep zerolatency alone
            """
        ),
        (
            "video:\n  subpixel_motion: true\n",
            """
            c.yaml:2:3: video: \"subpixel_motion\" is not a key any more; video.effort has taken its place: low, \
            normal and high all search subpixel motion, and it is left out by itself where memory.cap_bytes has no \
            room for it
            """
        ),
        (
            "video:\n  tune: zerolatncy\n",
            "c.yaml:2:9: video.tune: libx264 has no tune \"zerolatncy\"; did you mean \"zerolatency\"?"
        ),
        (
            "video:\n  encoder: \"lib x264\"\n",
            """
            c.yaml:2:12: video.encoder: \"lib x264\" is not a name of an H.264 encoder in libavcodec; write at most \
            64 letters, digits and ._-, such as libx264
            """
        ),
        (
            "video:\n  background: #000000\n",
            """
            c.yaml:2:14: video.background: there is no value; write colour as \"#rrggbb\", in quotes, or remove the \
            key for its default; values that begin with # must be in quotes
            """
        ),
        (
            "video:\n  background: black\n",
            "c.yaml:2:15: video.background: \"black\" is not a colour; write one such as \"#000000\", in quotes"
        ),
        (
            "control:\n  socket_mode: \"0888\"\n",
            """
            c.yaml:2:16: control.socket_mode: \"0888\" is not a socket's permissions; write octal digits such as \
            \"0660\"
            """
        ),
        (
            "control:\n  socket: control.sock\n",
            "c.yaml:2:11: control.socket: \"control.sock\" is not the absolute path of a socket; begin it with /"
        ),
        (
            "control:\n  socket: /\(String(repeating: "x", count: 107))\n",
            """
            c.yaml:2:11: control.socket: 108 bytes are too long for a socket's path; Linux allows 107: choose a \
            shorter one
            """
        ),
        // YAML itself.
        (
            "video:\n\twidth: 3\n",
            """
            c.yaml:2:1: found character that cannot start any token; indent with spaces, never with tabs, and put \
            values that start with @, ` or % in quotes
            """
        ),
        (
            "video: {width: 640\n",
            """
            c.yaml:2:1: did not find expected ',' or '}'; check the brackets, commas and quotes, and that the text is \
            not cut off
            """
        ),
        (
            "video:\n  width: 640\n height: 480\n",
            "c.yaml:3:2: did not find expected key; check the indentation and the quotes around here"
        ),
        ("video: &a\n  width: 640\n", "c.yaml:1:8: an anchor (&name) is not supported; write the value out"),
        ("video: *a\n", "c.yaml:1:8: an alias (*name) is not supported; write the value out"),
        ("video:\n  width: !!int 640\n", "c.yaml:2:10: a tag (!name) is not supported; remove it"),
        (
            "video: {}\n---\naudio: {}\n",
            "c.yaml:3:1: a second document begins here; keep one document: remove the --- line and what follows it"
        ),
        ("? [a]\n: b\n", "c.yaml:1:3: a key is a list or a mapping; write a name followed by a colon"),
        (
            "log: [[[[[[[[[[]]]]]]]]]]\n",
            "c.yaml:1:13: nested more than 8 deep; no key here needs more than three levels"
        ),
        // Several keys together.
        (
            "audio:\n  min_latency_ms: 800\n",
            """
            c.yaml:2:19: audio.min_latency_ms: min_latency_ms 800 is more than max_latency_ms 750; the queue must be \
            able to hold what the mixer waits for
            """
        ),
        (
            "buffer:\n  drop_to_keyframe_ms: 600\n",
            """
            c.yaml:2:24: buffer.drop_to_keyframe_ms: drop_disposable_ms 700, drop_to_keyframe_ms 600 and duration_ms \
            3000 are not in order; each must be more than the one before it
            """
        ),
        (
            "buffer:\n  duration_ms: 900\n",
            """
            c.yaml:2:16: buffer.duration_ms: drop_disposable_ms 700, drop_to_keyframe_ms 900 and duration_ms 900 are \
            not in order; each must be more than the one before it
            """
        ),
        (
            "video:\n  bitrate_kbps: 20000\n",
            """
            c.yaml:2:17: video.bitrate_kbps: 2097152 bytes do not hold buffer.drop_to_keyframe_ms and video.vbv_ms \
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
            "c.yaml:2:11: control.socket: ingest.socket and control.socket are the same path; give each its own"
        ),
        // Destinations.
        (
            "destinations:\n  url: rtmp://h/a/k\n",
            "c.yaml:2:3: destinations: a list is needed; begin each destination with \"- name: ...\""
        ),
        (
            "destinations:\n  - rtmp://h/a/k\n",
            """
            c.yaml:2:5: destinations[0]: a destination is a mapping; write \"- name: ...\" and its keys below the \
            name, indented alike
            """
        ),
        (
            "destinations:\n  - name: a\n",
            "c.yaml:2:5: destinations[0]: there is no url; write one such as rtmp://host/app"
        ),
        (
            "destinations:\n  - url: rtmp://h/app\n",
            """
            c.yaml:2:10: destinations[0].url: there is no stream key; name its file in key_file or its variable in \
            key_env, or write it after the application
            """
        ),
        (
            "destinations:\n  - url: rtmp://h/a/k\n  - url: rtmp://h/a/k2\n",
            """
            c.yaml:3:5: destinations[1]: \"main\" is already the name of destination 0; give each destination a name \
            of its own
            """
        ),
        (
            "destinations:\n  - {url: rtmp://h/a/k}\n  - {name: b, url: rtmp://h/a/k}\n",
            "c.yaml:3:20: destinations[1].url: destination 0 already publishes to the same place; remove one of the two"
        ),
        (
            "destinations:\n  - {url: rtmp://h/a, key_file: /k, key_env: K}\n",
            "c.yaml:2:46: destinations[0].key_env: key_file and key_env are both set; keep one of the two"
        ),
        (
            "destinations:\n  - {url: /r.flv, key_file: /k}\n",
            "c.yaml:2:29: destinations[0].key_file: a file has no stream key; remove key_file and key_env"
        ),
        (
            "destinations:\n  - {url: rtmp://h/a/k, ca_file: /k}\n",
            "c.yaml:2:34: destinations[0].ca_file: rtmp:// does not use certificates; write rtmps:// or remove ca_file"
        ),
        (
            "destinations:\n  - {url: rtmps://h/a/k, tls_verify: yes}\n",
            "c.yaml:2:38: destinations[0].tls_verify: \"yes\" is neither true nor false; write true or false"
        ),
        (
            "destinations:\n" + String(repeating: "  - url: rtmp://h/a/k\n", count: 9),
            "c.yaml:2:3: destinations: 9 destinations are too many; one daemon serves at most 8"
        )
    ])
    func oneMistake(text: String, expected: String) {
        #expect(Self.problems(text) == [expected])
    }

    @Test(arguments: [
        (
            ["UPCAST_VIDEO_WIDHT": "1"],
            "environment variable UPCAST_VIDEO_WIDHT: no key has this name; did you mean \"UPCAST_VIDEO_WIDTH\"?"
        ),
        (
            ["UPCAST_VIDEO_WIDTH": "1"],
            "environment variable UPCAST_VIDEO_WIDTH: video.width: 1 is not allowed; write an even integer, 16 to 4096"
        ),
        (
            ["UPCAST_VIDEO_WIDTH": ""],
            """
            environment variable UPCAST_VIDEO_WIDTH: video.width: \"\" is not an integer; write an even integer, 16 \
            to 4096
            """
        ),
        (
            ["UPCAST_SOKCET": "/x"],
            """
            environment variable UPCAST_SOKCET: no key has this name; the name is UPCAST_<SECTION>_<KEY>; variables \
            that hold stream keys are named in key_env
            """
        ),
        (
            ["UPCAST_DESTINATIONS_1_URL": "rtmp://h/a/k"],
            "environment variable UPCAST_DESTINATIONS_1_URL: destination 1 would leave a gap; the next one is number 0"
        ),
        (
            ["UPCAST_DESTINATIONS_8_URL": "rtmp://h/a/k"],
            """
            environment variable UPCAST_DESTINATIONS_8_URL: there is no destination 8; one daemon serves at most 8, \
            numbered from 0
            """
        ),
        (
            ["UPCAST_DESTINATIONS_0_ULR": "rtmp://h/a/k"],
            """
            environment variable UPCAST_DESTINATIONS_0_ULR: no key has this name; did you mean \
            \"UPCAST_DESTINATIONS_0_URL\"?
            """
        ),
        (
            ["UPCAST_DESTINATIONS_0_NAME": "a"],
            """
            environment variable UPCAST_DESTINATIONS_0_NAME: destinations[0]: there is no url; write one such as \
            rtmp://host/app
            """
        ),
        (
            ["UPCAST_VIDEO_ENCODER_OPTIONS": "a=1:b"],
            """
            environment variable UPCAST_VIDEO_ENCODER_OPTIONS: video.encoder_options: \"b\" has no =; write \
            name=value:name=value, with \\: for a colon inside a value
            """
        ),
        (
            ["UPCAST_VIDEO_ENCODER_OPTIONS": "a=1:a=2"],
            """
            environment variable UPCAST_VIDEO_ENCODER_OPTIONS: video.encoder_options: \"a\" stands there twice; keep \
            one of the two
            """
        ),
        (
            ["UPCAST_AUDIO_MIN_LATENCY_MS": "900"],
            """
            environment variable UPCAST_AUDIO_MIN_LATENCY_MS: audio.min_latency_ms: min_latency_ms 900 is more than \
            max_latency_ms 750; the queue must be able to hold what the mixer waits for
            """
        )
    ])
    func oneMistakeInTheEnvironment(environment: [String: String], expected: String) {
        #expect(Self.problems("", environment) == [expected])
    }

    @Test func aMappingIsBounded() {
        let text = "video:\n  encoder_options:\n" + (0...200).map { "    o\($0): a\n" }.joined()
        #expect(Self.problems(text) == ["c.yaml:203:5: more than 200 keys in one mapping; no section has so many"])
    }

    @Test func allProblemsComeAtOnceInTheOrderOfTheFile() {
        let text = "video:\n  widht: 3\n  height: 7\naudio:\n  min_latency_ms: 800\nlgo: {}\n"
        let places = Self.problems(text, ["UPCAST_LOG_LEVEL": "x"]).map { String($0.prefix(14)) }
        #expect(places == ["c.yaml:2:3: vi", "c.yaml:3:11: v", "c.yaml:5:19: a", "c.yaml:6:1: \"l", "environment va"])
    }

    @Test func theFileItself() throws {
        let missing = #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/nowhere/c.yaml", environment: [:])
        }
        #expect(
            missing?.description
                == "/nowhere/c.yaml:1:1: cannot be opened: No such file or directory; "
                + "check the path and its permissions"
        )
        let folder = #expect(throws: ConfigurationError.self) { try Configuration.load(path: "/tmp", environment: [:]) }
        #expect(folder?.description.contains("is not a regular file") == true)
        let endless = #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/dev/zero", environment: [:])
        }
        #expect(
            endless?.description
                == "/dev/zero:1:1: is not a regular file; name a file, not a folder, pipe or device")
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
        "destinations:\n  - url: rtmp://h/a/SECRET: x\n", "destinations: SECRET\n", "destinations:\n  - SECRET\n"
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
