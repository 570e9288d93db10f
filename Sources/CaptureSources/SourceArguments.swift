package import MediaCore

/// Parses values of the command line.
package enum SourceArguments {
    /// `1280x720`.
    package static func size(_ text: String) throws(InputError) -> (width: Int, height: Int) {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else {
            throw InputError("\(text) is no size; write it as 1280x720")
        }
        try InputError.checkSize(width, height, text)
        return (width, height)
    }

    /// `300x80+40-20`: width, height, and the top left corner, like X geometries.
    package static func rectangle(
        _ text: String
    ) throws(InputError) -> (x: Int, y: Int, width: Int, height: Int) {
        // `+-40` is X syntax for 40 pixels outside.
        guard
            let parts = text.wholeMatch(
                of: /([0-9]{1,6})x([0-9]{1,6})(?:\+(?=-))?([+-][0-9]{1,6})(?:\+(?=-))?([+-][0-9]{1,6})/)?.output,
            let width = Int(parts.1), let height = Int(parts.2), let x = Int(parts.3), let y = Int(parts.4)
        else { throw InputError("\(text) is no rectangle; write it as WIDTHxHEIGHT+X+Y, for example 300x80+40+20") }
        return (x, y, width, height)
    }

    /// `30` or `30000/1001`.
    package static func rate(_ text: String) throws(InputError) -> FrameRate {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard (1...2).contains(parts.count), parts.allSatisfy({ (1...1_000_000).contains($0) }) else {
            throw InputError("\(text) is no frame rate; write it as 30 or 30000/1001")
        }
        let rate = FrameRate(parts[0], parts.count == 2 ? parts[1] : 1)
        guard rate.framesPerSecond <= 1000 else { throw InputError("\(text) frames a second; 1000 at most") }
        return rate
    }

    /// A pixel format's FourCC; case does not matter.
    package static func pixelFormat(_ text: String) throws(InputError) -> PixelFormat {
        let name = text.lowercased()
        guard let format = PixelFormat.allCases.first(where: { "\($0.fourCC)".lowercased() == name }) else {
            let known = PixelFormat.allCases.map { "\($0.fourCC)" }.joined(separator: ", ")
            throw InputError("\(text) is no pixel format; these are: \(known)")
        }
        return format
    }

    /// `s16be,48000,2`: encoding, rate and channels. A `p` after the encoding means planar.
    package static func audioFormat(_ text: String) throws(InputError) -> AudioFormat {
        let parts = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let rate = Int(parts[1]), let channels = Int(parts[2]) else {
            throw InputError("\(text) is no audio format; write it as s16be,48000,2")
        }
        let isPlanar = parts[0].hasSuffix("p")
        let encodings: [String: PCMEncoding] = ["s16": .int16, "s24": .int24, "s32": .int32, "f32": .float32]
        let name = parts[0].dropLast(isPlanar ? 1 : 0)
        guard name.count == 5, name.hasSuffix("le") || name.hasSuffix("be"),
            let encoding = encodings[String(name.prefix(3))]
        else {
            throw InputError("\(parts[0]) is no way to store samples; s16, s24, s32 and f32 with le or be are")
        }
        guard (8_000...192_000).contains(rate), (1...8).contains(channels) else {
            throw InputError("\(text): 1 to 8 channels at 8000 to 192000 Hz can be sent")
        }
        return AudioFormat(
            sampleRate: rate, channels: channels, encoding: encoding, isBigEndian: name.hasSuffix("be"),
            isInterleaved: !isPlanar)
    }

    /// `5:2`: start and length in seconds.
    package static func pause(_ text: String) throws(InputError) -> (start: MediaTime, end: MediaTime) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) ?? -1 }
        guard parts.count == 2, parts.allSatisfy({ (0...86_400).contains($0) }) else {
            throw InputError("\(text) is no pause; write it as START:SECONDS, for example 5:2")
        }
        let start = MediaTime(nanoseconds: Int64(parts[0] * 1e9))
        return (start, start + MediaTime(nanoseconds: Int64(parts[1] * 1e9)))
    }
}
