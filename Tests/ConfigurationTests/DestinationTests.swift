import ControlProtocol
import Endpoints
import MediaCore
import TestSupport
import Testing

@testable import Configuration

@Suite struct DestinationTests {
    @Test(arguments: [
        ("rtmp://host/app/key", "rtmp://host/app/***", "rtmp://host/app/key/***"),
        ("rtmp://host/app", "rtmp://host/app", "rtmp://host/app/***"),
        ("rtmp://host/app/", "rtmp://host/app", "rtmp://host/app/***"),
        ("RTMPS://host:443/app/inst/key?token=1", "rtmps://host/app/***", "rtmps://host/app/inst/key/***"),
        ("rtmp://host:1936/app?token=1/key", "rtmp://host:1936/app/***", "rtmp://host:1936/app/***"),
        (
            "rtmp://[2001:db8::1]:1936/app/key", "rtmp://[2001:db8::1]:1936/app/***",
            "rtmp://[2001:db8::1]:1936/app/key/***"
        ),
        ("file:/var/a.flv", "file:/var/a.flv", "file:/var/a.flv"),
        ("file:///var/a", "file:/var/a", "file:/var/a"),
        ("file:/my recordings/a", "file:/my recordings/a", "file:/my recordings/a"),
        ("out.flv", "file:out.flv", "file:out.flv")
    ])
    func urlsAreRedacted(text: String, redacted: String, withSeparateKey: String) throws {
        let url = try DestinationURL(text)
        #expect(url.redacted(keyIsSeparate: false) == redacted)
        #expect(url.redacted(keyIsSeparate: true) == withSeparateKey)
    }

    @Test(arguments: [
        ("rtmp://host/app/key", "host", 1935, false, "app/key", true),
        ("rtmps://host/app", "host", 443, true, "app", false),
        ("rtmp://[::1]/a/b?c=d", "::1", 1935, false, "a/b?c=d", true),
        ("rtmp://h:80/a?b/c", "h", 80, false, "a?b/c", false)
    ])
    func partsOfALocation(text: String, host: String, port: Int, isSecure: Bool, path: String, hasStream: Bool) throws {
        guard case .rtmp(let location) = try DestinationURL(text) else { throw CancellationError() }
        #expect((location.host, Int(location.port), location.isSecure, location.app) == (host, port, isSecure, path))
        #expect(location.hasStreamName == hasStream)
    }

    @Test(arguments: [
        "", "host/app", "http://h/a", "rtmp://", "rtmp:///app", "rtmp://h", "rtmp://h/", "rtmp://h/?a=b",
        "rtmp://h:0/a", "rtmp://h:65536/a",
        "rtmp://h:/a", "rtmp://h:1x/a", "rtmp://[::1/a", "rtmp://[::1]x/a", "rtmp://u@h/a", "rtmp://h/a b",
        "rtmp://h/a\u{7F}", "rtmp://hé/a",
        "rtmp://h/" + String(repeating: "a", count: 2048), "file:a.flv", "file:", "file:/folder/"
    ])
    func notADestination(text: String) {
        let error = #expect(throws: InvalidDestinationURL.self) { try DestinationURL(text) }
        #expect(error?.remedy.isEmpty == false)
    }

    /// A text is of one kind at most, so that the order of the kinds does not matter.
    @Test(arguments: [
        ("rtmp://host/app/show.flv", 1), ("RTMPS://host/app", 1), ("file:/var/rtmp://a.flv", 1), ("a.flv", 1),
        ("file:/my recordings/a.flv", 1), ("my show.flv", 1), ("/" + String(repeating: "a", count: 3000) + ".flv", 1),
        ("rtmp://h/a b", 1), ("other://host/show.flv", 0), ("rtmpt://host/a b", 0), ("rtmp", 0), ("", 0),
    ])
    func aTextIsOfOneKind(text: String, count: Int) {
        let kinds = DestinationURL.kinds.count { kind in
            do { return try kind.read(text) != nil } catch { return true }
        }
        #expect(kinds == count)
    }

    /// Tools have only the name of a kind.
    @Test func toolsKnowRecordings() {
        for kind in DestinationURL.kinds {
            #expect(DestinationKind(rawValue: kind.facts.kind).isServer == kind.facts.isServer, "\(kind.facts.kind)")
        }
    }

    @Test func whatIsOfNoKindIsToldAllForms() {
        let error = #expect(throws: InvalidDestinationURL.self) { try DestinationURL("other://host/SECRET") }
        #expect(error?.remedy == "write \(DestinationURL.forms)")
        for kind in DestinationURL.kinds {
            #expect(error?.what.contains("no \(kind.facts.noun)") == true)
            for form in kind.facts.forms { #expect(error?.remedy.contains(form) == true) }
        }
    }

    /// Nothing that prints or dumps a configuration shows a key.
    @Test func nothingPrintsAKey() throws {
        let text = "destinations:\n  - url: rtmp://h/app/SECRET\n"
        let configuration = try Configuration.load(text: Array(text.utf8), path: "", environment: [:])
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(dumped.contains("rtmp://h/app/***"))
        for shown in [
            dumped, "\(configuration)", String(reflecting: configuration), configuration.destinations[0].description
        ] {
            #expect(!shown.contains("SECRET"))
        }
    }

    @Test func keysComeFromFileOrEnvironment() throws {
        let folder = try TemporaryDirectory("key")
        var destination = DestinationConfiguration()
        destination.url = try DestinationURL("rtmp://h/app")
        destination.keyFile = try folder.write("  abc-123?x=y \nsecond line\n", to: "key")
        #expect(try destination.streamKey(environment: [:])?.revealed == "abc-123?x=y")
        destination.keyFile = nil
        destination.keyEnvironment = "KEY"
        #expect(try destination.streamKey(environment: ["KEY": "k"])?.revealed == "k")
        destination.keyEnvironment = nil
        #expect(try destination.streamKey(environment: [:]) == nil)
    }

    @Test(arguments: [
        ("", "is empty"), ("SEC\tRET", "is not the stream key"), ("SEC\u{7F}", "is not the stream key"),
        (String(repeating: "S", count: 1025), "is not the stream key")
    ])
    func badKeysAreRefusedUnseen(text: String, what: String) throws {
        var destination = DestinationConfiguration()
        destination.keyEnvironment = "KEY"
        let error = try #require(throws: SecretError.self) { try destination.streamKey(environment: ["KEY": text]) }
        #expect(error.description.hasPrefix("environment variable KEY \(what)"))
        #expect(!error.description.contains("SEC") && !error.description.contains("SSS"))
        let missing = try #require(throws: SecretError.self) { try destination.streamKey(environment: [:]) }
        #expect(missing.what == "is not set")
        // Someone may have written the key itself.
        destination.keyEnvironment = "live_123_SECRET"
        destination.loginEnvironment = "SECRET_b"
        let key = try #require(throws: SecretError.self) { try destination.streamKey(environment: ["KEY": text]) }
        let login = try #require(throws: SecretError.self) { try destination.login(environment: [:]) }
        #expect(!"\(key) \(login)".contains("SECRET") && "\(key)".contains("key_env"))
    }

    /// Bug: keys with spaces or beyond ASCII were refused, though servers give such.
    @Test(arguments: ["a b", "clé?x=1&y=2/ü", "{\"k\":\"v\"}", "%zz#!", String(repeating: "S", count: 1024)])
    func anyKeyIsTaken(key: String) throws {
        var destination = DestinationConfiguration()
        destination.keyEnvironment = "KEY"
        #expect(try destination.streamKey(environment: ["KEY": key])?.revealed == key)
    }

    @Test func aLoginIsReadAsAKeyIs() throws {
        var destination = DestinationConfiguration()
        #expect(try destination.login(environment: [:]) == nil)
        destination.loginEnvironment = "LOGIN"
        let login = try #require(try destination.login(environment: ["LOGIN": "me:p:w"]))
        #expect(login.user.revealed == "me" && login.password.revealed == "p:w")
        let error = try #require(throws: SecretError.self) { try destination.login(environment: ["LOGIN": "SECRET"]) }
        #expect(error.description.contains("LOGIN contains no login") && !error.description.contains("SECRET"))
    }

    @Test func theMachineIsLookedAt() throws {
        var configuration = Configuration()
        configuration.ingest.socket = "/run/upcast-of-nobody/a.sock"
        configuration.control.socket = "/nowhere/b.sock"
        var destination = DestinationConfiguration()
        destination.url = try DestinationURL("rtmps://h/app")
        destination.keyFile = "/nowhere/key"
        destination.caFile = "/etc/passwd"
        var file = DestinationConfiguration()
        file.url = try DestinationURL("file:/nowhere/a.flv")
        configuration.destinations = [destination, file]
        #expect(
            configuration.problemsOnThisMachine(environment: [:]).map(\.description) == [
                """
                on this machine: ingest.socket: the folder of /run/upcast-of-nobody/a.sock does not exist; create it \
                (sudo install -d -o "$USER" /run/upcast-of-nobody; in a systemd unit \
                RuntimeDirectory=upcast-of-nobody), or set UPCAST_INGEST_SOCKET to a path in a folder of your own, \
                such as $XDG_RUNTIME_DIR
                """,
                """
                on this machine: control.socket: the folder of /nowhere/b.sock does not exist; create it \
                (sudo install -d -o "$USER" /nowhere), or set UPCAST_CONTROL_SOCKET to a path in a folder of your own, \
                such as $XDG_RUNTIME_DIR
                """,
                """
                on this machine: destinations[0].key_file: key_file /nowhere/key cannot be opened: No such file or \
                directory; check the path and its permissions
                """,
                """
                on this machine: destinations[0].ca_file: /etc/passwd contains no certificate; name a file in PEM \
                format
                """,
                """
                on this machine: destinations[1].url: the folder of /nowhere/a.flv does not exist; create the folder, \
                or choose another path
                """
            ])
    }

    /// Whoever starts the daemon by hand has one problem, not two, and reads one line.
    @Test func twoSocketsInOneFolder() throws {
        var configuration = Configuration()
        configuration.ingest.socket = "/run/upcast-of-nobody/a.sock"
        configuration.control.socket = "/run/upcast-of-nobody/b.sock"
        #expect(
            configuration.socketFolderProblems().map(\.description) == [
                """
                on this machine: ingest.socket, control.socket: the folder of /run/upcast-of-nobody/a.sock and b.sock \
                does not exist; create it (sudo install -d -o "$USER" /run/upcast-of-nobody; in a systemd unit \
                RuntimeDirectory=upcast-of-nobody), or set UPCAST_INGEST_SOCKET and UPCAST_CONTROL_SOCKET to paths in \
                a folder of your own, such as $XDG_RUNTIME_DIR
                """
            ])
        #expect(configuration.socketFolderProblems(except: ["ingest"]).map(\.key) == ["control.socket"])
        #expect(configuration.socketFolderProblems(except: ["ingest", "control"]).isEmpty)
    }
}
