internal import ArgumentParser

/// Times the daemon's own steps, each by itself: what `scripts/bench` pairs with what others need for the same. A line
/// of JSON for each figure.
@main struct UpcastBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upcast-bench", abstract: "Times single steps of upcastd, in processor time.",
        subcommands: [
            GeometryBench.self, EncoderBench.self, PCMBench.self, LogBench.self, ProtocolBench.self, ScaleFrames.self,
        ])
}
