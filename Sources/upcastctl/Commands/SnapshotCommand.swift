import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Save the last encoded picture as a JPEG file.",
        discussion: "The file is replaced only after the whole picture is received.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Output file, or - for standard output.", completion: .file()) var file = "snapshot.jpg"

    /// Extensions by which some programs choose how to read a file: they fail for a JPEG file.
    private static let otherKinds = ["png", "gif", "webp", "bmp", "ppm", "tif", "tiff", "avif", "heic", "jxl", "pdf"]

    func run() throws {
        if file == "-", Output.isTerminal {
            throw ValidationError("a JPEG file cannot be written to a terminal: name a file, or pipe it into a program")
        }
        if file == "-", output.json {
            throw ValidationError("--json and the picture cannot both use standard output: name a file")
        }
        let name = file.lowercased()
        if let kind = Self.otherKinds.first(where: { name.hasSuffix(".\($0)") }) {
            throw ValidationError("snapshots are JPEG files, not \(kind.uppercased()): use a name that ends in .jpg")
        }
        let client = try control.client()
        let answer = try client.exchange("GET", "/snapshot.jpg")
        guard answer.status == 200 else { throw client.refusal(answer) }
        // The first two and last two bytes mark a complete JPEG file.
        guard answer.mediaType == "image/jpeg", answer.body.starts(with: [0xFF, 0xD8]),
            answer.body.suffix(2) == [0xFF, 0xD9]
        else { throw ControlClientError.unintelligible("it is not a complete JPEG file") }
        guard file != "-" else { return Output.write(answer.body) }
        try WholeFile.write(answer.body, to: file)
        output.show(.object([.init("file", .string(file)), .init("bytes", .integer(answer.body.count))]))
    }
}
