import MediaCore
import Testing

@testable import Configuration

/// A destination that is added to a configuration that is in use.
@Suite struct AddingDestinationTests {
    private func add(_ text: String, to configuration: Configuration = Configuration()) throws -> Configuration {
        try configuration.adding(destination: Array(text.utf8), from: "request")
    }
    private func refusal(_ text: String, to configuration: Configuration = Configuration()) -> String {
        do throws(ConfigurationError) {
            _ = try configuration.adding(destination: Array(text.utf8), from: "request")
            return "taken"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        #"{"name":"second","url":"rtmps://h/app","key_env":"KEY","send_timeout_ms":"7000"}"#,
        "{name: second, url: 'rtmps://h/app', key_env: KEY, send_timeout_ms: 7000}",
        "name: second\nurl: rtmps://h/app\nkey_env: KEY\nsend_timeout_ms: 7000\n",
    ])
    func isWrittenAsInTheFile(text: String) throws {
        var first = Configuration()
        first.destinations = [DestinationConfiguration()]
        first.destinations[0].url = .flvFile(path: "/a.flv")
        let changed = try add(text, to: first)
        #expect(changed.destinations.map(\.name) == ["main", "second"])
        #expect(changed.destinations[1].sendTimeout == .seconds(7))
        #expect(changed.destinations[1].keyEnvironment == "KEY")
        #expect(changed.destinations[0] == first.destinations[0])
    }

    @Test func whatIsWrongIsSaidWithoutItsSecret() throws {
        #expect(refusal("").contains("there is no destination"))
        #expect(refusal("[1]").contains("a destination is a mapping"))
        #expect(refusal("{").hasPrefix("request:"))
        #expect(refusal(#"{"name":"x"}"#).contains("there is no url"))
        let unknown = refusal(#"{"url":"rtmp://h/app/SECRET","kye":"SECRET"}"#)
        #expect(unknown.contains("\"kye\" is not a key") && !unknown.contains("SECRET"))
        var full = Configuration()
        for index in 0..<Configuration.maxDestinations {
            full = try add("{name: d\(index), url: 'file:/\(index).flv'}", to: full)
        }
        #expect(refusal("{name: more, url: 'file:/more.flv'}", to: full).contains("at most"))
        #expect(
            refusal("{name: d0, url: 'file:/x.flv'}", to: try add("{name: d0, url: 'file:/0.flv'}")).contains(
                "already the name"))
    }
}
