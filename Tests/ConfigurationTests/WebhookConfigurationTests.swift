import ControlProtocol
import Endpoints
import MediaCore
import Testing

@testable import Configuration

@Suite struct WebhookConfigurationTests {
    private func load(_ text: String, _ environment: [String: String] = [:]) throws -> Configuration {
        try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: environment)
    }

    @Test func aHookIsRead() throws {
        let hooks = try load(
            """
            webhooks:
              - name: studio
                url: https://hooks.example.org:8443/a?token=s3cret
                secret_file: credential:hook
                events: " air_state_changed ,ready, ready"
                allow_private: 10.0.0.0/8
                timeout_ms: 2000
                max_attempts: 2
              - {url: http://h/, secret_env: HOOK}
            """, ["UPCAST_WEBHOOKS_1_NAME": "other", "HOOK": "x"]
        ).webhooks
        #expect(hooks.map(\.name) == ["studio", "other"])
        #expect(hooks[0].url?.target == "/a?token=s3cret" && hooks[0].secretFile == "credential:hook")
        #expect(hooks[0].events.names == [.airStateChanged, .ready])
        #expect(hooks[0].timeout == .seconds(2) && hooks[0].maximumAttempts == 2)
        #expect(hooks[0].allowPrivate.refusal(of: try #require(IPAddress("10.1.1.1")), for: "h") == nil)
        #expect(hooks[1].events.names.contains(.airStateChanged) && !hooks[1].events.names.contains(.curtainRaised))
    }

    /// A hook in the environment alone, as in a container. The secret's variable may have our prefix.
    @Test func theEnvironmentIsEnough() throws {
        let environment = [
            "UPCAST_WEBHOOKS_0_URL": "https://h/", "UPCAST_WEBHOOKS_0_SECRET_ENV": "UPCAST_HOOK_SECRET",
            "UPCAST_HOOK_SECRET": " a secret that nobody knows ",
        ]
        let hook = try #require(try load("", environment).webhooks.first)
        #expect(try hook.secret(environment: environment).revealed == "a secret that nobody knows")
        #expect(throws: SecretError.self) { try hook.secret(environment: [:]) }
    }

    @Test(arguments: [
        ("webhooks: {url: http://h/}", "the value is not a list"),
        ("webhooks:\n  - http://h/", "the webhook is not a mapping"),
        ("webhooks:\n  - {secret_file: /s}", "there is no url"),
        ("webhooks:\n  - {url: http://h/}", "there is no secret"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, secret_env: S}", "both set"),
        ("webhooks:\n  - {url: http://h/, secret: s3cret}", "name a file in secret_file"),
        ("webhooks:\n  - {url: ftp://s3cret/, secret_file: /s}", "neither http:// nor https://"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, ca_file: /c}", "does not use certificates"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, events: air_state_change}", "did you mean"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, events: webhook_failed}", "failures of webhooks"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, events: \"\"}", "unknown event"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, allow_private: 10.0.0.300}", "neither an address"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, max_attempts: 0}", "0 is not allowed"),
        ("webhooks:\n  - {url: http://h/, secret_file: /s, timeout: 3}", "did you mean \"timeout_ms\""),
        (
            "webhooks:\n" + String(repeating: "  - {url: http://h/, secret_file: /s}\n", count: 5),
            "at most 4 are allowed"
        ),
    ])
    func mistakesAreExplained(text: String, words: String) {
        do throws(ConfigurationError) {
            _ = try Configuration.load(text: Array(text.utf8), path: "c.yaml", environment: [:])
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.description.contains(words), "\(error)")
            #expect(!error.description.contains("s3cret"), "\(error)")
        }
    }

    @Test func namesAreUnique() {
        let text = "webhooks:\n  - {url: http://h/, secret_file: /s}\n  - {url: http://i/, secret_file: /s}\n"
        #expect { try load(text) } throws: { "\($0)".contains("already the name of webhook 0") }
    }

    @Test(arguments: [
        ("UPCAST_WEBHOOKS_4_URL", "webhook 4 exceeds the limit"), ("UPCAST_WEBHOOKS_1_URL", "leaves a gap"),
        ("UPCAST_WEBHOOKS_0_URI", "did you mean \"UPCAST_WEBHOOKS_0_URL\""),
    ])
    func variablesThatAreWrong(name: String, words: String) {
        #expect { try load("", [name: "http://h/"]) } throws: { "\($0)".contains(words) }
    }

    /// `/config` shows neither the path, which may hold a token, nor what stands where a variable's name belongs.
    @Test func theConfigurationIsShownWithoutSecrets() throws {
        let text = "webhooks:\n  - {url: \"https://h/s3cret?s3cret\", secret_env: s3cret}\n"
        let json = String(decoding: try load(text, ["s3cret": "x"]).json.serialized(), as: UTF8.self)
        #expect(!json.contains("s3cret") && json.contains(#""url":"https://h/***""#), "\(json)")
    }
}
