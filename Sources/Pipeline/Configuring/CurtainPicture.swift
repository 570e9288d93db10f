package import Configuration
internal import Encoding
internal import FrameGeometry
internal import LinuxSystem
internal import MediaCore
internal import Painting

/// The painter of the curtain, and the problem if it differs from the configured style.
struct CurtainPaint {
    let painter: CurtainPainter
    /// Why the picture is missing, as a sentence.
    let problem: String?
}

/// The picture that a curtain shows, from its file to the canvas.
extension Configuration {
    /// A painter for one broadcast. If the picture is not available, the curtain is solid and keeps its text.
    ///
    /// Reads and decodes the picture's file, and frees that memory. Call it before the encoder is opened. Waits for
    /// the file's disk for as long as `CurtainPictureReader` does.
    func curtainPaint() -> CurtainPaint {
        let color = privacy.curtainTextColor
        func paint(_ style: CurtainStyle, _ problem: String? = nil) -> CurtainPaint {
            CurtainPaint(
                painter: CurtainPainter(
                    style, text: privacy.curtainText,
                    textColor: color.map { canvasColor($0) }, canvas: video.canvas),
                problem: problem)
        }
        guard privacy.curtainStyle == .picture else { return paint(curtainStyle) }
        defer { ProcessMemory.releaseFreed() }
        do throws(StillPictureError) { return paint(.picture(try curtainPicture(CurtainPictureReader.read))) } catch {
            return paint(curtainStyle, "privacy.curtain_picture: \(privacy.curtainPictureName) \(error)")
        }
    }

    /// A painter for a broadcast that has been running since `old` was in force; nil if the curtain looks the same.
    ///
    /// Also nil if either style is a picture: decoding takes time and memory that only the start of a broadcast has.
    func curtainPainter(since old: Configuration) -> CurtainPainter? {
        let (new, old) = (privacy, old.privacy)
        guard new.curtainStyle != .picture, old.curtainStyle != .picture else { return nil }
        let isSame =
            new.curtainStyle == old.curtainStyle && new.curtainColor == old.curtainColor
            && new.curtainText == old.curtainText && new.curtainTextColor == old.curtainTextColor
        return isSame ? nil : curtainPaint().painter
    }

    /// The problems of the curtain's picture, found by decoding its current file. For `--check-config` and the start;
    /// a broadcast would only find them when its client comes.
    package func curtainProblems(places: ConfigurationPlaces) -> [ConfigurationProblem] {
        guard privacy.curtainStyle == .picture else { return [] }
        // The error says what is wrong.
        LibAVLog.install { _, _ in }
        // Releases the pages that loading the libraries touched. Otherwise they would be resident together with the
        // picture.
        ProcessMemory.releaseFilePages()
        defer { ProcessMemory.releaseFreed() }
        do throws(StillPictureError) {
            _ = try curtainPicture { privacy throws(UnreadableFile) in
                try privacy.curtainPictureFile(limit: StillPicture.maxFileBytes)
            }
        } catch {
            let key = "privacy.curtain_picture"
            return [
                ConfigurationProblem(
                    place: places[key], key: key, what: "\(privacy.curtainPictureName) \(error.what)",
                    remedy: error.remedy)
            ]
        }
        return []
    }

    /// The picture on the canvas, placed as `video.fit` says, on the curtain's colour.
    ///
    /// - Parameter read: reads the file.
    private func curtainPicture(
        _ read: (PrivacyConfiguration) throws(UnreadableFile) -> [UInt8]
    ) throws(StillPictureError) -> Picture {
        let file: [UInt8]
        do {
            file = try read(privacy)
        } catch {
            throw StillPictureError(error.what, error.remedy)
        }
        let still = try StillPicture(file: consume file)
        let canvas = video.canvas
        let source = VideoSampleFormat(
            packed: .bgra, width: still.width, height: still.height,
            color: ColorDescription(matrix: canvas.color.matrix, range: .full))
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: video.fit)
        let color = privacy.curtainColor
        let intake = FrameIntake(bars: CanvasBars(canvas: canvas, background: canvasColor(color)), scaler: scalerChoice)
        let picture = Picture(width: canvas.width, height: canvas.height)
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: 4 * still.width)
        defer { unsafe row.deallocate() }
        do throws(GeometryError) {
            try intake.begin(plan, into: picture)
            while let band = intake.nextBand() {
                unsafe Self.fill(
                    intake.bandBuffer, with: band.payloadOffset..<band.payloadOffset + band.byteCount, of: still,
                    over: (color.red, color.green, color.blue), through: row)
                try intake.bandArrived()
            }
        } catch {
            throw StillPictureError("cannot be placed on the canvas: \(error)", "save it with another size")
        }
        return picture
    }

    /// Copies a range of bytes of the picture's rows, in BGRA.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, with range: Range<Int>, of still: StillPicture,
        over color: (red: UInt8, green: UInt8, blue: UInt8), through row: UnsafeMutablePointer<UInt8>
    ) {
        let rowBytes = 4 * still.width
        var next = range.lowerBound
        while next < range.upperBound {
            let (number, column) = next.quotientAndRemainder(dividingBy: rowBytes)
            let count = min(rowBytes - column, range.upperBound - next)
            unsafe still.readRow(number, over: color, into: row)
            unsafe buffer[(next - range.lowerBound)...].copyBytes(
                from: UnsafeBufferPointer(start: row + column, count: count))
            next += count
        }
    }
}
