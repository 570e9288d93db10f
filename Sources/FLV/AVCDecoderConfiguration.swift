/// The AVCDecoderConfigurationRecord (avcC) of an H.264 track, which decoders need first (ISO/IEC 14496-15, 5.3.3.1).
/// Always with four-byte NAL unit lengths.
package struct AVCDecoderConfiguration: Equatable, Sendable {
    /// NAL units with their header byte; 1 to 31.
    package let sequenceParameterSets: [[UInt8]]
    /// NAL units with their header byte; 1 to 255.
    package let pictureParameterSets: [[UInt8]]
    /// The parsed first sequence parameter set.
    package let parameters: SequenceParameterSet

    /// Parses an encoder's extradata: Annex B with start codes, or avcC.
    package init(extradata: [UInt8]) throws(CodecConfigurationError) {
        guard let first = extradata.first else { throw .truncated("H.264 extradata") }
        let sets = first == 1 ? try Self.setsOfRecord(extradata) : Self.setsOfAnnexB(extradata)
        try self.init(sequenceParameterSets: sets.sequence, pictureParameterSets: sets.picture)
    }

    package init(
        sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]]
    ) throws(CodecConfigurationError) {
        guard (1...31).contains(sequenceParameterSets.count) else {
            throw .invalid("H.264 extradata with \(sequenceParameterSets.count) sequence parameter sets")
        }
        guard (1...255).contains(pictureParameterSets.count) else {
            throw .invalid("H.264 extradata with \(pictureParameterSets.count) picture parameter sets")
        }
        for set in sequenceParameterSets + pictureParameterSets where set.count > UInt16.max {
            throw .invalid("H.264 parameter set of \(set.count) bytes")
        }
        for set in pictureParameterSets
        where set.first.map({ $0 & 0x1f }) != NALUnitType.pictureParameterSet.rawValue {
            throw .invalid("H.264 picture parameter set")
        }
        var parsed: [SequenceParameterSet] = []
        for set in sequenceParameterSets { parsed.append(try SequenceParameterSet(nal: set)) }
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
        parameters = parsed[0]
    }

    /// The bytes of the record: the body of an AVC sequence header.
    package var record: [UInt8] {
        var bytes: [UInt8] = [1, parameters.profile, parameters.compatibility, parameters.level]
        bytes.append(0xfc | UInt8(NALUnits.lengthBytes - 1))
        bytes.append(0xe0 | UInt8(sequenceParameterSets.count))
        for set in sequenceParameterSets { Self.append(set, to: &bytes) }
        bytes.append(UInt8(pictureParameterSets.count))
        for set in pictureParameterSets { Self.append(set, to: &bytes) }
        if parameters.needsChromaExtension {
            bytes.append(0xfc | parameters.chromaFormat)
            bytes.append(0xf8 | (parameters.lumaBitDepth - 8))
            bytes.append(0xf8 | (parameters.chromaBitDepth - 8))
            bytes.append(0)  // numOfSequenceParameterSetExt
        }
        return bytes
    }

    private static func append(_ set: [UInt8], to bytes: inout [UInt8]) {
        bytes += [UInt8(set.count >> 8), UInt8(set.count & 0xff)]
        bytes += set
    }

    private static func setsOfAnnexB(_ extradata: [UInt8]) -> (sequence: [[UInt8]], picture: [[UInt8]]) {
        var sets: (sequence: [[UInt8]], picture: [[UInt8]]) = ([], [])
        var reader = unsafe AnnexBReader(extradata.span.bytes)
        while let unit = reader.next() {
            switch NALUnitType(rawValue: extradata[unit.lowerBound] & 0x1f) {
            case .sequenceParameterSet: sets.sequence.append(Array(extradata[unit]))
            case .pictureParameterSet: sets.picture.append(Array(extradata[unit]))
            default: break  // SEI, such as x264's version
            }
        }
        return sets
    }

    private static func setsOfRecord(
        _ record: [UInt8]
    ) throws(CodecConfigurationError) -> (sequence: [[UInt8]], picture: [[UInt8]]) {
        guard record.count >= 6 else { throw .truncated("AVCDecoderConfigurationRecord") }
        guard Int(record[4] & 3) + 1 == NALUnits.lengthBytes else {
            throw .unsupported("NAL unit length of \(Int(record[4] & 3) + 1) bytes")
        }
        var position = 5
        let sequence = try parameterSets(in: record, at: &position, countMask: 0x1f)
        let picture = try parameterSets(in: record, at: &position, countMask: 0xff)
        return (sequence, picture)
    }

    private static func parameterSets(
        in record: [UInt8], at position: inout Int, countMask: UInt8
    ) throws(CodecConfigurationError) -> [[UInt8]] {
        guard position < record.count else { throw .truncated("AVCDecoderConfigurationRecord") }
        let count = record[position] & countMask
        position += 1
        var sets: [[UInt8]] = []
        for _ in 0..<count {
            guard position + 2 <= record.count else { throw .truncated("AVCDecoderConfigurationRecord") }
            let end = position + 2 + (Int(record[position]) << 8 | Int(record[position + 1]))
            guard end <= record.count else { throw .truncated("AVCDecoderConfigurationRecord") }
            sets.append(Array(record[(position + 2)..<end]))
            position = end
        }
        return sets
    }
}
