import Endpoints
import MediaCore
import Publishing
import Testing

@Suite struct SecrecyTests {
    @Test func nothingSecretIsShownHoweverItIsPrinted() throws {
        let (endpoint, key) = try RTMPEndpoint.splittingKey("rtmp://user:hush1@h/app/sub/hush2?x=hush3")
        let apart = try RTMPEndpoint("rtmp://user:hush1@h/app?token=hush4")
        let settings = RTMPDestinationSettings(endpoint: apart, key: key)
        var dumped = ""
        dump((endpoint, key, apart, settings), to: &dumped)
        for text in [
            "\(endpoint)", String(reflecting: endpoint), "\(key)", String(reflecting: key), "\(apart)",
            String(reflecting: apart), "\(settings)", String(reflecting: settings), dumped,
            "\(DestinationSettings(name: "main", kind: .rtmp(settings)))",
        ] {
            #expect(!text.contains("hush"), "\(text)")
        }
        #expect(apart.description == "rtmp://<redacted>@h/app?<redacted>")
    }
}
