/// The weights of the input channels for the left and the right output, or for the only output of mono.
///
/// PCM has no channel layout, so the count determines it, in the usual order: mono; L R; L R LFE; L R Ls Rs; L R C Ls
/// Rs; L R C LFE Ls Rs; L R C LFE Cs Ls Rs; L R C LFE Lb Rb Ls Rs. A three-channel microphone, as seen in the field, is
/// heard through its first two channels. Centre and surrounds are mixed in at -3 dB (ITU-R BS.775), and the LFE is left
/// out. The sum of an output's weights is one. Downmixing therefore never overdrives, and a signal on all channels
/// keeps its level.
struct ChannelMap: Sendable {
    static let maximumInputs = 8
    let inputs: Int
    /// The weights of the inputs for outputs 0 and 1.
    let left: InlineArray<8, Float>
    let right: InlineArray<8, Float>

    init(inputs: Int, outputs: Int) {
        precondition((1...Self.maximumInputs).contains(inputs) && (1...2).contains(outputs))
        let side = Float(0.5).squareRoot()
        let both = (side, side)
        let rows: [(Float, Float)] =
            switch inputs {
            case 1: [(1, 1)]
            case 2: [(1, 0), (0, 1)]
            case 3: [(1, 0), (0, 1), (0, 0)]
            case 4: [(1, 0), (0, 1), (side, 0), (0, side)]
            case 5: [(1, 0), (0, 1), both, (side, 0), (0, side)]
            case 6: [(1, 0), (0, 1), both, (0, 0), (side, 0), (0, side)]
            case 7: [(1, 0), (0, 1), both, (0, 0), both, (side, 0), (0, side)]
            default: [(1, 0), (0, 1), both, (0, 0), (side, 0), (0, side), (side, 0), (0, side)]
            }
        // A mono output takes the mean of left and right.
        let sum = rows.reduce(0) { $0 + $1.0 }
        var left = InlineArray<8, Float>(repeating: 0)
        var right = InlineArray<8, Float>(repeating: 0)
        for (channel, row) in rows.enumerated() {
            left[channel] = (outputs == 1 ? (row.0 + row.1) / 2 : row.0) / sum
            right[channel] = row.1 / sum
        }
        self.inputs = inputs
        self.left = left
        self.right = right
    }

    func weight(input: Int, output: Int) -> Float { output == 0 ? left[input] : right[input] }
}
