/// Fields of an H.264 sequence parameter set (ISO/IEC 14496-10, 7.3.2.1.1), up to the cropping window.
package struct SequenceParameterSet: Equatable, Sendable {
    /// profile_idc: 66 Baseline, 77 Main, 100 High.
    package let profile: UInt8
    /// The constraint_set flags and reserved bits; profile_compatibility in avcC.
    package let compatibility: UInt8
    /// level_idc: ten times the level.
    package let level: UInt8
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package let chromaFormat: UInt8
    package let lumaBitDepth: UInt8
    package let chromaBitDepth: UInt8
    /// Luma samples after cropping.
    package let width: Int
    package let height: Int

    /// Whether avcC has chroma format and bit depths for this profile: all but Baseline, Main and Extended (ISO/IEC
    /// 14496-15, 5.3.3.1.2).
    var needsChromaExtension: Bool { ![66, 77, 88].contains(profile) }

    /// Profiles whose sequence parameter sets have a chroma format (ISO/IEC 14496-10, 7.3.2.1.1).
    private static let highProfiles: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]
    /// The maximum width and height of any level, in macroblocks: the square root of eight times MaxFS (A.3.1).
    private static let maximumMacroblocks: UInt32 = 1055

    /// - Parameter nal: the whole NAL unit with its header byte and emulation prevention bytes.
    package init(nal: [UInt8]) throws(CodecConfigurationError) {
        guard let first = nal.first else { throw .truncated("sequence parameter set") }
        guard first & 0x1f == NALUnitType.sequenceParameterSet.rawValue else {
            throw .invalid("NAL unit type \(first & 0x1f) for a sequence parameter set")
        }
        var reader = BitReader(NALUnits.removingEmulationPrevention(nal.dropFirst()), name: "sequence parameter set")
        profile = UInt8(try reader.bits(8))
        compatibility = UInt8(try reader.bits(8))
        level = UInt8(try reader.bits(8))
        _ = try reader.unsignedExpGolomb()  // seq_parameter_set_id
        var chroma: UInt32 = 1
        var depths: (luma: UInt32, chroma: UInt32) = (0, 0)
        if Self.highProfiles.contains(profile) {
            chroma = try reader.unsignedExpGolomb()
            guard chroma <= 3 else { throw .invalid("H.264 chroma format \(chroma)") }
            if chroma == 3 { _ = try reader.flag() }  // separate_colour_plane_flag
            depths = (try reader.unsignedExpGolomb(), try reader.unsignedExpGolomb())
            guard depths.luma <= 6, depths.chroma <= 6 else { throw .invalid("H.264 bit depth") }
            _ = try reader.flag()  // qpprime_y_zero_transform_bypass_flag
            if try reader.flag() { try Self.skipScalingLists(&reader, count: chroma == 3 ? 12 : 8) }
        }
        (chromaFormat, lumaBitDepth, chromaBitDepth) = (UInt8(chroma), UInt8(8 + depths.luma), UInt8(8 + depths.chroma))
        try Self.skipFrameNumbering(&reader)

        let widthInMacroblocks = try reader.unsignedExpGolomb()
        let heightInMapUnits = try reader.unsignedExpGolomb()
        let framesOnly = try reader.flag()
        if !framesOnly { _ = try reader.flag() }  // mb_adaptive_frame_field_flag
        _ = try reader.flag()  // direct_8x8_inference_flag
        guard widthInMacroblocks < Self.maximumMacroblocks, heightInMapUnits < Self.maximumMacroblocks else {
            throw .invalid("H.264 picture size")
        }
        let fields = framesOnly ? 1 : 2
        var size = (width: (Int(widthInMacroblocks) + 1) * 16, height: (Int(heightInMapUnits) + 1) * 16 * fields)
        if try reader.flag() {  // frame_cropping_flag, in chroma samples (7.4.2.1.1)
            let unit = (x: chroma == 1 || chroma == 2 ? 2 : 1, y: (chroma == 1 ? 2 : 1) * fields)
            let (left, right) = (Int(try reader.unsignedExpGolomb()), Int(try reader.unsignedExpGolomb()))
            let (top, bottom) = (Int(try reader.unsignedExpGolomb()), Int(try reader.unsignedExpGolomb()))
            size.width -= (left + right) * unit.x
            size.height -= (top + bottom) * unit.y
            guard size.width > 0, size.height > 0 else { throw .invalid("H.264 cropping window") }
        }
        (width, height) = (size.width, size.height)
    }

    private static func skipFrameNumbering(_ reader: inout BitReader) throws(CodecConfigurationError) {
        _ = try reader.unsignedExpGolomb()  // log2_max_frame_num_minus4
        switch try reader.unsignedExpGolomb() {  // pic_order_cnt_type
        case 0: _ = try reader.unsignedExpGolomb()  // log2_max_pic_order_cnt_lsb_minus4
        case 1:
            _ = try reader.flag()  // delta_pic_order_always_zero_flag
            _ = try reader.signedExpGolomb()
            _ = try reader.signedExpGolomb()
            let count = try reader.unsignedExpGolomb()
            guard count <= 255 else { throw .invalid("H.264 picture order count cycle") }
            for _ in 0..<count { _ = try reader.signedExpGolomb() }
        case 2: break
        default: throw .invalid("H.264 picture order count type")
        }
        _ = try reader.unsignedExpGolomb()  // max_num_ref_frames
        _ = try reader.flag()  // gaps_in_frame_num_value_allowed_flag
    }

    /// Scaling lists are skipped by parsing them, because their length varies (7.3.2.1.1.1).
    private static func skipScalingLists(_ reader: inout BitReader, count: Int) throws(CodecConfigurationError) {
        for list in 0..<count where try reader.flag() {
            var lastScale: Int32 = 8
            for _ in 0..<(list < 6 ? 16 : 64) {
                let delta = try reader.signedExpGolomb()
                guard (-128...127).contains(delta) else { throw .invalid("H.264 scaling list") }
                let nextScale = (lastScale + delta + 256) % 256
                if nextScale == 0 { break }
                lastScale = nextScale
            }
        }
    }
}
