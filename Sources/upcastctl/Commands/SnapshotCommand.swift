import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Saves the picture that was encoded last, as a JPEG file.",
        discussion: "The file is replaced when all of the picture is there, or left as it is.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The file, or - for standard output.", completion: .file()) var file = "snapshot.jpg"

    func run() throws {
        if file == "-", Output.isTerminal {
            throw ValidationError("a JPEG file is nothing for a terminal: name a file, or pipe it into a program")
        }
        if file == "-", output.json {
            throw ValidationError("--json and the picture cannot both go to standard output: name a file")
        }
        let answer = try control.client().exchange("GET", "/snapshot.jpg")
        guard answer.status == 200 else { throw ControlClient.refusal(answer) }
        // Its first two bytes and its last two say that it is one, and whole.
        guard answer.mediaType == "image/jpeg", answer.body.starts(with: [0xFF, 0xD8]),
            answer.body.suffix(2) == [0xFF, 0xD9]
        else { throw ControlClientError.unintelligible("it is no JPEG file") }
        guard file != "-" else { return Output.write(answer.body) }
        try WholeFile.write(answer.body, to: file)
        output.show(.object([.init("file", .string(file)), .init("bytes", .integer(answer.body.count))]))
    }
}
