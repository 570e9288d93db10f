import Endpoints
import MediaCore
import Testing

@testable import Configuration

/// A destination that is added to a configuration that is in use.
@Suite struct AddingDestinationTests {
    private func add(_ text: String, to configuration: Configuration = Configuration()) throws -> Configuration {
        try configuration.adding(destination: Array(text.utf8))
    }
    private func refusal(_ text: String, to configuration: Configuration = Configuration()) -> String {
        do throws(ConfigurationError) {
            _ = try configuration.adding(destination: Array(text.utf8))
            return "taken"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        #"{"name":"second","url":"rtmps://h/app","key":"KEY","send_timeout_ms":"7000"}"#,
        "{name: second, url: 'rtmps://h/app', key: KEY, send_timeout_ms: 7000}",
        "name: second\nurl: rtmps://h/app\nkey: KEY\nsend_timeout_ms: 7000\n",
    ])
    func isWrittenAsInTheFile(text: String) throws {
        var first = Configuration()
        first.destinations = [DestinationConfiguration()]
        first.destinations[0].url = try DestinationURL("file:/a.flv")
        let changed = try add(text, to: first)
        #expect(changed.destinations.map(\.name) == ["main", "second"])
        #expect(changed.destinations[1].sendTimeout == .seconds(7))
        #expect(changed.destinations[1].key?.revealed == "KEY")
        #expect(changed.destinations[0] == first.destinations[0])
    }

    /// Advice about indentation would not help whoever sends JSON.
    @Test func aRequestThatIsCutOff() {
        let whole = #"{"name":"second","url":"rtmps://h/app","ca_file":["a"]}"#
        for count in 1..<whole.utf8.count {
            let message = refusal(String(whole.prefix(count)))
            #expect(message.contains("the text is complete"), "\(whole.prefix(count)): \(message)")
        }
    }

    /// What the daemon can read is not for everybody who may send a request.
    @Test func secretsAreTheRequestsOrTheFolders() throws {
        let rtmps = #""url":"rtmps://h/app""#
        func refused(_ member: String, _ configuration: Configuration = Configuration()) -> String {
            refusal("{\(rtmps),\(member)}", to: configuration)
        }
        #expect(refused(#""key_file":"/etc/shadow""#).contains("only in control.secrets_folder, which is not set"))
        #expect(refused(#""key":"k","ca_file":"/etc/x""#).contains("only in control.secrets_folder"))
        var configuration = Configuration()
        configuration.control.secretsFolder = "/etc/upcast/secrets"
        for configuration in [Configuration(), configuration] {
            #expect(refused(#""key_env":"HOME""#, configuration).contains("key_env: a request cannot name an env"))
            #expect(refused(#""key":"k","login_env":"HOME""#, configuration).contains("login_env: a request cannot"))
            #expect(refused(#""key_file":"credential:k""#, configuration).contains("cannot name a credential"))
        }
        let added = try add(#"{\#(rtmps),"key_file":"k","ca_file":"ca.pem"}"#, to: configuration).destinations[0]
        #expect(added.secretsFolder == "/etc/upcast/secrets" && added.keyFile == "k")
    }

    @Test func aSecretOfTheRequestIsNotShown() throws {
        let text = #"{"url":"rtmp://h/app","key":"K-SECRET","login":"user:P-SECRET"}"#
        let added = try add(text).destinations[0]
        #expect(try added.streamKey(environment: [:])?.revealed == "K-SECRET")
        let login = try #require(try added.login(environment: [:]))
        #expect(login.user.revealed == "user" && login.password.revealed == "P-SECRET")
        var dumped = ""
        dump(added, to: &dumped)
        #expect(!dumped.contains("SECRET") && !"\(added)".contains("SECRET"))
        #expect(!"\(try add(text).json)".contains("SECRET"))
        for wrong in [#""key":"""#, #""key":["SECRET"]"#, #""key":"SECRET\n2""#, #""key":"k","login":"SECRET""#] {
            let said = refusal(#"{"url":"rtmp://h/app",\#(wrong)}"#)
            #expect(said != "taken" && !said.contains("SECRET"), "\(wrong): \(said)")
        }
        #expect(refusal(#"{"url":"file:/a.flv","key":"k"}"#).contains("a file has no stream key"))
        #expect(refusal(#"{"url":"rtmp://h/app","key":"k","key_file":"f"}"#) != "taken")
    }

    @Test func whatIsWrongIsSaidWithoutItsSecret() throws {
        #expect(refusal("").contains("there is no destination"))
        #expect(refusal("[1]").contains("the destination is not a mapping"))
        #expect(refusal("{").hasPrefix("line "))
        // Neither a position in a text that upcastctl has made, nor the number of the destination.
        #expect(refusal("{name: a, url: 'http://h'}").hasPrefix("url: names no RTMP server"))
        #expect(
            refusal("{url: 'rtmp://h/a', key: k, send_timeout_ms: 5}")
                == "send_timeout_ms: 5 is not allowed; write an integer, 100 to 120000, or a duration such as 2s, "
                + "500ms or 1m30s")
        #expect(refusal("{url: 'rtmp://h/a', key: k, fps: 5}").hasPrefix("unknown key \"fps\"; the keys are "))
        #expect(refusal(#"{"name":"x"}"#).contains("there is no url"))
        let unknown = refusal(#"{"url":"rtmp://h/app/SECRET","kye":"SECRET"}"#)
        #expect(unknown.contains("unknown key \"kye\"") && !unknown.contains("SECRET"))
        #expect(refusal("{url: 'rtmp://h/a', key: k, SECRET}").hasPrefix("unknown key without a value; the keys are "))
        #expect(refusal("{url: 'rtmp://h/a', SECRET, SECRET}").contains("duplicate key without a value"))
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
