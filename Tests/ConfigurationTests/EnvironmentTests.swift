import MediaCore
import Testing

@testable import Configuration

@Suite struct EnvironmentTests {
    private func load(_ text: String, _ environment: [String: String]) throws -> Configuration {
        try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: environment)
    }

    /// Another value of each key that is right by itself and beside the defaults.
    private static let other: [String: String] = [
        "ingest.socket": "/run/a.sock", "ingest.socket_mode": "0600", "ingest.start_timeout_ms": "4000",
        "ingest.idle_timeout_ms": "60000",
        "video.width": "640", "video.height": "360", "video.frame_rate": "30000/1001", "video.fit": "fill",
        "video.background": "#ff8000", "video.scaler": "libyuv",
        "video.encoder": "h264_vaapi", "video.preset": "superfast", "video.tune": "",
        "video.profile": "main",
        "video.threads": "3", "video.b_frames": "2", "video.bitrate_kbps": "1500", "video.vbv_ms": "500",
        "video.adaptive": "false", "video.min_bitrate_kbps": "200", "video.keyframe_interval_ms": "1000",
        "video.color_matrix": "bt601", "video.color_range": "full",
        "video.idle_repeat_ms": "500", "video.skip_unchanged": "false", "video.effort": "high",
        "video.adaptive_effort": "false",
        "video.encoder_options": "rc-lookahead=0:x264-params=a\\:b=c\\\\d",
        "audio.sample_rate": "44100", "audio.channels": "1", "audio.bitrate_kbps": "96", "audio.app_gain_db": "-3.5",
        "audio.microphone_gain_db": "6", "audio.limiter_ceiling_db": "-0.5", "audio.min_latency_ms": "40",
        "audio.max_latency_ms": "500",
        "buffer.duration_ms": "5000", "buffer.max_bytes": "3MiB", "buffer.drop_disposable_ms": "600",
        "buffer.drop_to_keyframe_ms": "1000", "buffer.delay_ms": "2000", "buffer.interleave": "low_latency",
        "control.socket": "/run/b.sock", "control.socket_mode": "0666",
        "control.listen": "[::1]:9180", "control.token_file": "/run/token", "control.snapshot_size": "320",
        "control.metrics_token_file": "/run/metrics-token", "control.secrets_folder": "/etc/upcast/secrets",
        "privacy.dumpable": "true",
        "log.level": "debug", "log.format": "json",
        "memory.cap_bytes": "64MiB", "stop.drain_ms": "0",
        "control.operators": "alice, @video", "control.clients": "1000", "control.apps": "@1001",
        "privacy.secure_regions": "false", "privacy.standing_regions": "false", "privacy.curtain": "false",
        "privacy.automatic_curtain": "false", "privacy.take_back": "false", "privacy.take_back_newer_than_ms": "500",
        "privacy.capture_state": "false", "privacy.audit_file": "/var/log/upcast/audit.json",
        "privacy.state_file": "/var/lib/upcast/state.json", "privacy.consulted_return_ms": "0",
        "privacy.secure_color": "#ff0000", "privacy.curtain_style": "frosted_dark", "privacy.curtain_color": "#0000ff",
        "privacy.curtain_text": "Gleich \"zurück\"\nà bientôt", "privacy.curtain_text_color": "#ffff00",
        "privacy.curtain_picture": "/run/picture.png",
        "destinations.name": "second", "destinations.url": "rtmps://h:444/app", "destinations.key_file": "/run/key",
        "destinations.key_env": "KEY",
        "destinations.connect_timeout_ms": "1000", "destinations.handshake_timeout_ms": "2000",
        "destinations.send_timeout_ms": "3000", "destinations.ack_timeout_ms": "4000",
        "destinations.address_timeout_ms": "5001", "destinations.login_file": "/run/login",
        "destinations.login_env": "LOGIN", "destinations.reconnect": "false", "destinations.reconnect_first_ms": "100",
        "destinations.reconnect_longest_ms": "9000", "destinations.reconnect_attempts": "7",
        "destinations.adaptive": "false", "destinations.allow_redirect": "true", "destinations.rotate_bytes": "1MiB",
        "destinations.rotate_after_ms": "60000", "destinations.sync": "periodic",
        "destinations.sync_period_ms": "500", "destinations.refuse_sources": "mirroring, external_playback",
        "destinations.ca_file": "/etc/ca.pem", "destinations.tls_verify": "false", "destinations.chunk_size": "4096",
        "webhooks.name": "second", "webhooks.url": "https://h:444/path",
        "webhooks.events": "ready, curtain_raised", "webhooks.secret_file": "/run/secret",
        "webhooks.secret_env": "SECRET", "webhooks.ca_file": "/etc/ca.pem", "webhooks.timeout_ms": "3000",
        "webhooks.max_attempts": "3", "webhooks.allow_private": "127.0.0.1, 10.0.0.0/8, Hooks.lan",
    ]

    /// Every key of the table takes its value from its variable, changes that key only, and wins over the file.
    @Test(arguments: ConfigurationTable.keys.map { "\($0.section).\($0.name)" })
    func everyKey(path: String) throws {
        let key = try #require(ConfigurationTable.keys.first { "\($0.section).\($0.name)" == path })
        let value = try #require(Self.other[path], "the test needs a value for \(path)")
        let changed = try load("", [key.environmentName(): value])
        for other in ConfigurationTable.keys {
            let isSame = other.render(changed) == other.render(Configuration())
            #expect(
                isSame == ("\(other.section).\(other.name)" != path), "\(path) changes \(other.section).\(other.name)")
        }
        // The file says the default, the environment something else; and what the environment says, the file may say.
        #expect(
            try load("\(key.section):\n  \(key.name): \(key.render(Configuration()))\n", [key.environmentName(): value])
                == changed)
        #expect(try load("\(key.section):\n  \(key.name): \(key.render(changed))\n", [:]) == changed)
    }

    /// The shipped file names an effort; a preset or another encoder of the environment takes its place.
    @Test func theEnvironmentWinsOverTheFilesEffort() throws {
        let file = "video:\n  effort: normal\n"
        #expect(try load(file, ["UPCAST_VIDEO_PRESET": "fast"]).video.encoderEffort == nil)
        #expect(try load(file, ["UPCAST_VIDEO_ENCODER": "h264_vaapi"]).video.encoderEffort == nil)
        #expect(throws: ConfigurationError.self) {
            try load(file, ["UPCAST_VIDEO_PRESET": "fast", "UPCAST_VIDEO_EFFORT": "high"])
        }
    }

    @Test(arguments: ConfigurationTable.destinationKeys.map(\.name))
    func everyDestinationKey(name: String) throws {
        let key = try #require(ConfigurationTable.destinationKeys.first { $0.name == name })
        let value = try #require(Self.other["destinations.\(name)"], "the test needs a value for \(name)")
        let file = "destinations:\n  - {name: a, url: rtmps://h/app/key}\n  - {name: b, url: rtmps://h/app/key2}\n"
        let defaults = try load(file, [:]).destinations
        var environment = [key.environmentName(index: 1): value]
        if name == "url" { environment["UPCAST_DESTINATIONS_1_KEY_FILE"] = "/run/key" }
        let changed = try load(file, environment).destinations
        #expect(changed[0] == defaults[0])
        for other in ConfigurationTable.destinationKeys where name != "url" || other.name != "key_file" {
            #expect(
                (other.render(changed[1]) == other.render(defaults[1])) == (other.name != name),
                "\(name) changes \(other.name)")
        }
    }

    @Test(arguments: ConfigurationTable.webhookKeys.map(\.name))
    func everyWebhookKey(name: String) throws {
        let key = try #require(ConfigurationTable.webhookKeys.first { $0.name == name })
        let value = try #require(Self.other["webhooks.\(name)"], "the test needs a value for \(name)")
        // The second hook's secret comes from where the tested key does not say another place.
        let secret = name == "secret_file" ? "secret_env: SECRET" : "secret_file: /s"
        let other = name == "secret_env" ? ["UPCAST_WEBHOOKS_1_SECRET_FILE": ""] : ["": ""]
        let cleared = name == "secret_file" ? ["UPCAST_WEBHOOKS_1_SECRET_ENV": ""] : other
        let file =
            "webhooks:\n  - {name: a, url: https://h/, secret_file: /s}\n"
            + "  - {name: b, url: https://i/, \(secret)}\n"
        let defaults = try load(file, [:]).webhooks
        let changed = try load(file, cleared.merging([key.environmentName(index: 1): value]) { $1 }).webhooks
        #expect(changed[0] == defaults[0])
        func isSecret(_ name: String) -> Bool { name.hasPrefix("secret_") }
        for other in ConfigurationTable.webhookKeys where !isSecret(name) || !isSecret(other.name) {
            #expect(
                (other.render(changed[1]) == other.render(defaults[1])) == (other.name != name),
                "\(name) changes \(other.name)")
        }
        #expect(key.render(changed[1]) != key.render(WebhookConfiguration()))
    }

    @Test func valuesArriveWithTheirUnits() throws {
        let environment = Dictionary(
            // An effort is refused beside another encoder and a preset.
            uniqueKeysWithValues: ConfigurationTable.keys.filter { $0.name != "effort" }.map {
                ($0.environmentName(), Self.other["\($0.section).\($0.name)"]!)
            })
        let configuration = try load("", environment)
        #expect(configuration.video.bitrate == 1_500_000)
        #expect(configuration.video.vbv == .milliseconds(500))
        #expect(configuration.video.frameRate == FrameRate(30000, 1001))
        #expect(configuration.video.background == RGBColor(red: 255, green: 128, blue: 0))
        #expect(configuration.video.encoderOptions == ["rc-lookahead": "0", "x264-params": "a:b=c\\d"])
        #expect(
            configuration.video.canvas
                == CanvasFormat(
                    width: 640, height: 360, frameRate: FrameRate(30000, 1001),
                    color: ColorDescription(matrix: .bt601, range: .full)))
        #expect(configuration.audio.bitrate == 96_000)
        #expect(configuration.audio.appGainDecibels == -3.5)
        #expect(configuration.buffer.maxBytes == 3 << 20)
        #expect(configuration.control.socketMode == 0o666)
        #expect(configuration.control.listen?.host == "::1")
        #expect(configuration.control.listen?.port == 9180)
        #expect(configuration.memory.capBytes == 64 << 20)
    }

    @Test func destinationsAreAppendedInOrder() throws {
        var environment: [String: String] = [:]
        for index in 1..<8 {
            environment["UPCAST_DESTINATIONS_\(index)_URL"] = "rtmp://h/app/\(index)"
            environment["UPCAST_DESTINATIONS_\(index)_NAME"] = "d\(index)"
        }
        let destinations = try load("destinations:\n  - url: rtmp://h/app/0\n", environment).destinations
        #expect(destinations.map(\.name) == ["main", "d1", "d2", "d3", "d4", "d5", "d6", "d7"])
        #expect(try destinations.map(\.url) == (0..<8).map { try DestinationURL("rtmp://h/app/\($0)") })
    }

    @Test func othersVariablesAreLeftAlone() throws {
        let environment = [
            "PATH": "/bin", "UPCAST": "x", "UPCASTX_Y": "x", "UPCAST_SOCKET": "/s", "UPCAST_CONFIG": "/f",
            // What Kubernetes sets for Services called upcast and upcast-live.
            "UPCAST_SERVICE_HOST": "10.0.0.1", "UPCAST_SERVICE_PORT": "1935", "UPCAST_SERVICE_PORT_RTMP": "1935",
            "UPCAST_PORT": "tcp://10.0.0.1:1935", "UPCAST_PORT_1935_TCP": "tcp://10.0.0.1:1935",
            "UPCAST_PORT_1935_TCP_PROTO": "tcp",
            "UPCAST_PORT_1935_TCP_PORT": "1935", "UPCAST_PORT_1935_TCP_ADDR": "10.0.0.1",
            "UPCAST_LIVE_SERVICE_HOST": "10.0.0.2",
            "UPCAST_LIVE_PORT": "tcp://10.0.0.2:80"
        ]
        #expect(try load("", environment) == Configuration())
        let named = "destinations:\n  - {url: rtmp://h/app, key_env: UPCAST_STREAM_KEY}\n"
        #expect(try load(named, ["UPCAST_STREAM_KEY": "k"]).destinations[0].keyEnvironment == "UPCAST_STREAM_KEY")
    }

    @Test(arguments: ["", "# nothing\n", "---\n", "video:\n", "video: {}\ndestinations:\n", "~\n"])
    func emptyFilesAreDefaults(text: String) throws {
        #expect(try load(text, [:]) == Configuration())
    }
}
