internal import MediaCore

/// The wire format of Core Audio's AudioStreamBasicDescription: the same fields in the same order, 40 bytes.
struct StreamDescription: Equatable {
    var sampleRate: Double
    var formatID: FourCC
    var flags: AudioFormatFlags
    var bytesPerPacket: UInt32
    var framesPerPacket: UInt32
    var bytesPerFrame: UInt32
    var channels: UInt32
    var bitsPerChannel: UInt32

    static let linearPCM = FourCC("lpcm")
    /// kAudioFormatFlagIsNonMixable says nothing about the samples.
    private static let withoutMeaning = AudioFormatFlags(rawValue: 1 << 6)
    private static let understood: AudioFormatFlags =
        [.float, .bigEndian, .signedInteger, .packed, .alignedHigh, .nonInterleaved, withoutMeaning]

    init(_ bytes: RawSpan, at offset: Int) {
        sampleRate = bytes.float64(at: offset)
        formatID = FourCC(rawValue: bytes.uint32(at: offset + 8).byteSwapped)
        flags = AudioFormatFlags(rawValue: bytes.uint32(at: offset + 12))
        bytesPerPacket = bytes.uint32(at: offset + 16)
        framesPerPacket = bytes.uint32(at: offset + 20)
        bytesPerFrame = bytes.uint32(at: offset + 24)
        channels = bytes.uint32(at: offset + 28)
        bitsPerChannel = bytes.uint32(at: offset + 32)
    }

    /// The complete description of a format, as Core Audio fills it in.
    init(_ format: AudioFormat) {
        sampleRate = Double(format.sampleRate)
        formatID = Self.linearPCM
        flags = format.encoding == .float32 ? [.float, .packed] : [.signedInteger, .packed]
        if format.isBigEndian { flags.insert(.bigEndian) }
        if !format.isInterleaved { flags.insert(.nonInterleaved) }
        channels = UInt32(format.channels)
        bitsPerChannel = UInt32(format.encoding.bytesPerSample * 8)
        bytesPerFrame = UInt32(format.isInterleaved ? format.bytesPerFrame : format.encoding.bytesPerSample)
        bytesPerPacket = bytesPerFrame
        framesPerPacket = 1
    }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(littleEndian: sampleRate.bitPattern)
        bytes.append(littleEndian: formatID.rawValue.byteSwapped)
        bytes.append(littleEndian: flags.rawValue)
        for field in [bytesPerPacket, framesPerPacket, bytesPerFrame, channels, bitsPerChannel, 0] {
            bytes.append(littleEndian: field)
        }
    }

    /// The described format, after all fields are checked against each other.
    func format(in type: MessageType) throws(ProtocolError) -> AudioFormat {
        func unsupported(_ message: String) -> ProtocolError {
            ProtocolError(.unsupportedAudioFormat, fatal: false, "\(type): \(message)")
        }
        func inconsistent(_ message: String) -> ProtocolError {
            ProtocolError(.inconsistentAudioFormat, fatal: false, "\(type): \(message)")
        }
        guard formatID == Self.linearPCM else { throw unsupported("format \(formatID) is not supported; send lpcm") }
        let rates = IngestLimits.audioRates
        guard sampleRate >= Double(rates.lowerBound), sampleRate <= Double(rates.upperBound),
            sampleRate == sampleRate.rounded()
        else {
            throw unsupported("\(sampleRate) Hz is not a whole number from \(rates.lowerBound) to \(rates.upperBound)")
        }
        guard (1...UInt32(IngestLimits.maxAudioChannels)).contains(channels) else {
            throw unsupported("\(channels) channels; 1 to \(IngestLimits.maxAudioChannels) are allowed")
        }
        guard flags.isSubset(of: Self.understood) else {
            throw unsupported(
                "format flags \(hexadecimal(flags.rawValue)) have unsupported bits: "
                    + hexadecimal(flags.subtracting(Self.understood).rawValue))
        }
        let encoding = try encoding(unsupported, inconsistent)
        let isInterleaved = !flags.contains(.nonInterleaved)
        let expected = UInt32(encoding.bytesPerSample) * (isInterleaved ? channels : 1)
        guard framesPerPacket == 1 else {
            throw inconsistent("\(framesPerPacket) frames per packet; linear PCM has 1")
        }
        guard bytesPerFrame == 0 || bytesPerFrame == expected else {
            if bitsPerChannel == 24, bytesPerFrame == expected / 3 * 4 {
                throw unsupported("24-bit samples in four-byte containers are not supported; pack them in three bytes")
            }
            throw inconsistent(
                "\(bytesPerFrame) bytes per frame; \(bitsPerChannel)-bit samples of "
                    + (isInterleaved ? "\(channels) interleaved channels" : "one channel in its own plane")
                    + " are \(expected)")
        }
        guard bytesPerPacket == 0 || bytesPerPacket == expected else {
            throw inconsistent("\(bytesPerPacket) bytes per packet; a packet is one frame of \(expected) bytes")
        }
        return AudioFormat(
            sampleRate: Int(sampleRate), channels: Int(channels), encoding: encoding,
            isBigEndian: flags.contains(.bigEndian), isInterleaved: isInterleaved)
    }

    private func encoding(
        _ unsupported: (String) -> ProtocolError, _ inconsistent: (String) -> ProtocolError
    ) throws(ProtocolError) -> PCMEncoding {
        switch (flags.contains(.float), flags.contains(.signedInteger), bitsPerChannel) {
        case (true, true, _): throw inconsistent("flags have both float (1) and signed integer (4)")
        case (true, false, 32): return .float32
        case (true, false, _): throw unsupported("\(bitsPerChannel)-bit float is not supported; send 32-bit")
        case (false, false, _):
            throw unsupported("unsigned integers are not supported; set signed integer (4) or float (1) in the flags")
        case (false, true, 16): return .int16
        case (false, true, 24): return .int24
        case (false, true, 32): return .int32
        case (false, true, _): throw unsupported("\(bitsPerChannel)-bit integers are not supported; send 16, 24 or 32")
        }
    }
}
