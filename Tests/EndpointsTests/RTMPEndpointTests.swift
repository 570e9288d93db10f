import Endpoints
import Testing

@Suite struct RTMPEndpointTests {
    struct Good: Sendable {
        var url: String
        var isSecure = false
        var host: String
        var port: UInt16 = 1935
        var app: String
        var key: String
        var tcURL: String
        var shown: String
    }

    // Most of these are URLs that librtmp's own parser takes apart wrongly.
    static let good: [Good] = [
        Good(url: "rtmp://h/app/key", host: "h", app: "app", key: "key", tcURL: "rtmp://h/app", shown: "rtmp://h/app"),
        Good(url: "rtmp://h/app/inst/key", host: "h", app: "app/inst", key: "key", tcURL: "rtmp://h/app/inst",
            shown: "rtmp://h/app/inst"),
        Good(url: "RTMP://h:1936/a/b/c/d/key", host: "h", port: 1936, app: "a/b/c/d", key: "key",
            tcURL: "rtmp://h:1936/a/b/c/d", shown: "rtmp://h:1936/a/b/c/d"),
        Good(url: "rtmp://h/app/key?auth=a/b==", host: "h", app: "app", key: "key?auth=a/b==", tcURL: "rtmp://h/app",
            shown: "rtmp://h/app"),
        Good(url: "rtmp://h/app/k?sig=x%2Fy#z", host: "h", app: "app", key: "k?sig=x%2Fy#z", tcURL: "rtmp://h/app",
            shown: "rtmp://h/app"),
        Good(url: "rtmp://h/app/show.mp4", host: "h", app: "app", key: "show.mp4", tcURL: "rtmp://h/app",
            shown: "rtmp://h/app"),
        Good(url: "rtmp://h/app/k%zz", host: "h", app: "app", key: "k%zz", tcURL: "rtmp://h/app",
            shown: "rtmp://h/app"),
        Good(url: "rtmp://[::1]:1940/app/key", host: "::1", port: 1940, app: "app", key: "key",
            tcURL: "rtmp://[::1]:1940/app", shown: "rtmp://[::1]:1940/app"),
        Good(url: "rtmps://[fe80::1%eth0]/app/key", isSecure: true, host: "fe80::1%eth0", port: 443, app: "app",
            key: "key", tcURL: "rtmps://[fe80::1%eth0]/app", shown: "rtmps://[fe80::1%eth0]/app"),
        Good(url: "rtmps://live.example.com/app/key", isSecure: true, host: "live.example.com", port: 443, app: "app",
            key: "key", tcURL: "rtmps://live.example.com/app", shown: "rtmps://live.example.com/app"),
        Good(
            url: "rtmp://h/été/ключ", host: "h", app: "été", key: "ключ", tcURL: "rtmp://h/été", shown: "rtmp://h/été"),
        Good(url: "rtmp://user:p@ss@h/app/key@1", host: "h", app: "app", key: "key@1", tcURL: "rtmp://h/app",
            shown: "rtmp://<redacted>@h/app"),
    ]

    @Test(arguments: good) func splitsTheKeyOff(_ good: Good) throws {
        let (endpoint, key) = try RTMPEndpoint.splittingKey(good.url)
        #expect(endpoint.isSecure == good.isSecure && endpoint.host == good.host && endpoint.port == good.port)
        #expect(endpoint.app == good.app && key.revealed == good.key && endpoint.tcURL == good.tcURL)
        #expect(endpoint.description == good.shown)
    }

    @Test func wholePathIsTheApplicationWhereTheKeyIsGivenApart() throws {
        let endpoint = try RTMPEndpoint("rtmp://h/app/_definst_/?token=a/b")
        #expect(endpoint.app == "app/_definst_/?token=a/b")
        #expect(endpoint.tcURL == "rtmp://h/app/_definst_/?token=a/b")
        #expect(try RTMPEndpoint("rtmp://h/app/").app == "app")
    }

    static let bad: [(String, RTMPEndpointError)] = [
        ("", .unknownScheme), ("http://h/app/key", .unknownScheme), ("rtmpt://h/app/key", .unknownScheme),
        ("h/app/key", .unknownScheme), ("rtmp:/h/app", .unknownScheme),
        ("rtmp://h/app/key app=evil", .badCharacter), ("rtmp://h/app/key\n", .badCharacter),
        ("rtmp://h/app/k\u{9b}31m", .badCharacter), ("rtmp://h/a\u{202e}b/key", .badCharacter),
        ("rtmp://h/app/k\u{2028}", .badCharacter), ("rtmp://h/app/k\u{200b}", .badCharacter),
        ("rtmp:///app/key", .badHost), ("rtmp://:1935/app/key", .badHost), ("rtmp://::1/app/key", .badHost),
        ("rtmp://[::1/app/key", .badHost), ("rtmp://[]/app/key", .badHost), ("rtmp://[h]/app/key", .badHost),
        ("rtmp://[::1]x/app/key", .badHost), ("rtmp://h%41/app/key", .badHost), ("rtmp://hö/app/key", .badHost),
        ("rtmp://h:/app/key", .badPort), ("rtmp://h:0/app/key", .badPort), ("rtmp://h:99999/app/key", .badPort),
        ("rtmp://h:+80/app/key", .badPort), ("rtmp://h:19x/app/key", .badPort), ("rtmp://[::1]:/app/key", .badPort),
        ("rtmp://h", .missingApp), ("rtmp://h/", .missingApp), ("rtmp://h/app", .missingKey),
        ("rtmp://h/app/", .missingKey), ("rtmp://h/app/?x=y", .missingKey), ("rtmp://h/app?x=/key", .missingKey),
        ("rtmp://h//key", .missingApp), ("rtmp://h/app/" + String(repeating: "k", count: 2048), .tooLong),
    ]

    @Test(arguments: bad) func refuses(_ url: String, _ expected: RTMPEndpointError) {
        #expect(throws: expected) { try RTMPEndpoint.splittingKey(url) }
    }

    @Test func refusesAURLWithoutApplication() {
        for url in ["rtmp://h", "rtmp://h/", "rtmp://h?app", "rtmp://h/?x=y"] {
            #expect(throws: RTMPEndpointError.missingApp) { try RTMPEndpoint(url) }
        }
    }
}
