internal import Wording

/// Names of other programs for a key, beside the edit distance of `didYouMean`: ffmpeg, OBS, nginx and mediamtx call
/// some of them otherwise.
enum KeyAliases {
    /// By section, then by the other name.
    private static let keys: [String: [String: String]] = [
        "ingest": ["path": "socket", "listen": "socket", "mode": "socket_mode", "timeout": "idle_timeout_ms"],
        "video": [
            "fps": "frame_rate", "framerate": "frame_rate", "rate": "frame_rate", "codec": "encoder",
            "b": "bitrate_kbps", "maxrate": "bitrate_kbps", "max_bitrate": "bitrate_kbps",
            "minrate": "min_bitrate_kbps", "bufsize": "vbv_ms", "buffer_size": "vbv_ms",
            "gop": "keyframe_interval_ms", "keyint": "keyframe_interval_ms", "keyint_sec": "keyframe_interval_ms",
            "bf": "b_frames", "quality": "effort", "speed": "effort",
            "aspect": "fit", "scale": "fit", "x264_params": "encoder_options", "x264opts": "encoder_options",
        ],
        "audio": [
            "rate": "sample_rate", "ar": "sample_rate", "ac": "channels", "b": "bitrate_kbps", "gain": "app_gain_db",
            "volume": "app_gain_db", "mic_gain": "microphone_gain_db", "latency": "max_latency_ms",
        ],
        "buffer": ["size": "max_bytes", "bytes": "max_bytes", "length": "duration_ms"],
        "destinations": [
            "server": "url", "address": "url", "host": "url", "target": "url", "path": "url", "file": "url",
            "id": "name", "title": "name", "ca": "ca_file", "cert": "ca_file", "verify": "tls_verify",
            "insecure": "tls_verify", "retries": "reconnect_attempts", "retry": "reconnect",
            "timeout": "connect_timeout_ms", "password": "login_file", "user": "login_file",
        ],
        "control": [
            "port": "listen", "address": "listen", "bind": "listen", "path": "socket", "mode": "socket_mode",
            "token": "token_file", "users": "operators",
        ],
        "log": ["verbosity": "level", "loglevel": "level", "json": "format"],
        "memory": ["limit": "cap_bytes", "max": "cap_bytes", "max_bytes": "cap_bytes", "limit_bytes": "cap_bytes"],
        "stop": ["timeout": "drain_ms", "grace": "drain_ms"],
        "privacy": ["audit_log": "audit_file", "state": "state_file", "color": "curtain_color"],
    ]

    private static let sections = [
        "output": "destinations", "outputs": "destinations", "stream": "destinations", "streams": "destinations",
        "publish": "destinations", "rtmp": "destinations", "input": "ingest", "capture": "ingest", "logging": "log",
        "api": "control", "http": "control", "mem": "memory", "packet_log": "buffer",
    ]

    /// The key of `section` that is meant by `name`: another program's name, or the key without its unit.
    ///
    /// - Parameter section: such as `video` or `destinations[0]`.
    static func key(_ name: String, in section: String, _ known: [String]) -> String? {
        let name = name.lowercased()
        let section = String(section.prefix { $0 != "[" })
        if let key = keys[section]?[name], known.contains(key) { return key }
        return known.first { key in ["_ms", "_kbps", "_bytes", "_db", "_file"].contains { key == name + $0 } }
    }

    static func section(_ name: String) -> String? { sections[name.lowercased()] }
}

/// Suggestions for misspelt words, also of the command line.
package enum Suggestion {
    /// `did you mean "width"?`, or nil if none of `candidates` is near.
    package static func sentence(for text: String, _ candidates: [String]) -> String? { didYouMean(text, candidates) }
}
