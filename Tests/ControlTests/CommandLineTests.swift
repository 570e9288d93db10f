import ControlClient
import ControlProtocol
import Foundation
import TestSupport
import Testing

@testable import upcastctl

/// What is made of the words of a command line.
@Suite struct CommandLineTests {
    @Test(arguments: [
        ("staus", "upcastctl staus\"; did you mean \"status\"?"), ("wacth", "did you mean \"watch\"?"),
        ("event", "did you mean \"events\"?"), ("curtain dwon", "upcastctl curtain dwon\"; did you mean \"down\"?"),
        ("xyzzy", "there is no command \"upcastctl xyzzy\"; see: upcastctl --help"), ("hlep", "did you mean \"help\"?"),
        ("region lits --json", "did you mean \"list\"?"), ("\u{1B}[2J", "upcastctl ?[2J"),
    ])
    func unknownCommands(line: String, expected: String) throws {
        let unknown = try #require(UnknownCommand(in: line.split(separator: " ").map(String.init)))
        #expect(unknown.description.contains(expected), "\(unknown)")
    }

    @Test(arguments: ["", "status --jsn", "--vers", "region add a", "watch", "help status", "config vidoe", "plan x"])
    func otherMistakes(line: String) {
        #expect(UnknownCommand(in: line.split(separator: " ").map(String.init)) == nil)
    }

    @Test(arguments: [
        ("-i main status", "status -i main"), ("--socket=/x curtain up -v", "curtain up -v --socket=/x"),
        ("--url u --token-file t stop", "stop --url u --token-file t"),
        ("-i main region add -- a", "region add -i main -- a"),
        ("status -i main", "status -i main"), ("-i main", "-i main"), ("-i", "-i"), ("--help", "--help"), ("", ""),
    ])
    func optionsBeforeTheCommand(line: String, expected: String) {
        let moved = LeadingOptions.moved(line.split(separator: " ").map(String.init))
        #expect(moved.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("upcastctl retry -i main ma", "-i main"), ("upcastctl retry --socket=/x", "--socket=/x"),
        ("upcastctl retry --url 'http://x' --json --token-file \"t\"", "--url http://x --token-file t"),
        ("upcastctl retry --instance", ""), ("upcastctl region add -- -i main", ""), ("upcastctl", ""),
    ])
    func optionsForCompletion(line: String, expected: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(Completion.controlOptions(in: words).joined(separator: " ") == expected)
    }

    @Test func keysOfAConfiguration() throws {
        let json = try JSONParser.parse(
            Array(#"{"video":{"width":1280},"destinations":[{"name":"a"},{"name":"b"}]}"#.utf8))
        #expect(ConfigShowCommand.value(of: "video.width", in: json) == .integer(1280))
        #expect(ConfigShowCommand.value(of: "destinations[1].name", in: json) == .string("b"))
        #expect(ConfigShowCommand.value(of: "video", in: json)?["width"] == .integer(1280))
        for key in ["", "vidoe", "video.", "video[0]", "destinations[2]", "destinations[-1]", "destinations[0", "."] {
            #expect(ConfigShowCommand.value(of: key, in: json) == nil, "\(key)")
        }
        #expect(ConfigShowCommand.unknown("vidoe.width", json).hasSuffix("did you mean \"video.width\"?"))
        #expect(ConfigShowCommand.unknown("chekc", json).hasSuffix("did you mean \"check\"?"))
        #expect(ConfigShowCommand.unknown("zzz", json).hasSuffix("upcastctl config shows all keys"))
    }

    @Test func whoKeepsTheCurtainUp() {
        #expect(CurtainDownCommand.stillUp(nil) == "others keep the curtain up")
        #expect(
            CurtainDownCommand.stillUp(StatusReport.full.privacy)
                == "the curtain is still up, held by app:kiosk of user 1000 (will resign active) for 1.5 s; "
                + "--force releases all holds")
    }

    @Test func whenThereIsNothingToRetry() {
        var destinations = StatusReport.full.destinations
        #expect(
            RetryCommand.nothingToDo(destinations)
                == "no destination waits for an attempt: main is congested, recording is live")
        destinations[1].state = .reconnecting
        #expect(RetryCommand.nothingToDo(destinations) == nil)
        #expect(RetryCommand.nothingToDo([]) == "there are no destinations")
    }

    /// Without a word of what the token is.
    @Test func refusedTokens() throws {
        let folder = try TemporaryDirectory("token")
        let file = try folder.write("0123456789abcdef\n", to: "t")
        let body = ErrorReport(code: "unauthorized", message: "this needs the header").json.serialized()
        let answer = ControlClient.Answer(status: 401, mediaType: "application/json", body: body)
        let address = ControlAddress.tcp(host: "127.0.0.1", port: 1, prefix: "")
        let without = "\(ControlClient(address: address).refusal(answer))"
        #expect(without.hasPrefix("refused: ") && without.contains("--token-file"), "\(without)")
        #expect(without.contains("asks for a token"))
        let wrong = "\(ControlClient(address: address, token: try AccessToken(file: file)).refusal(answer))"
        #expect(wrong.contains("the token in \(file) is not the daemon's"), "\(wrong)")
        #expect(!wrong.contains("0123456789"))
    }

    @Test(arguments: [
        (#""main" (rtmp://h/app): cannot connect: refused; trying again in 1.990 s"#, "cannot connect: refused"),
        (#""other" (rtmp://h/app): x"#, #""other" (rtmp://h/app): x"#),
        ("plain; trying again in a while", "plain; trying again in a while"),
        (#""main" (no end"#, #""main" (no end"#),
    ])
    func reasons(text: String, expected: String) {
        var destination = DestinationStatus()
        (destination.name, destination.lastError) = ("main", text)
        #expect(Reason.lastError(of: destination) == expected)
    }
}
