import TestSupport

/// How many frames of recordings show what no viewer may see.
struct MarkedFrames: CustomStringConvertible {
    private(set) var frames = 0
    private(set) var marked = 0
    var description: String { "\(marked) of \(frames) frames" }

    /// - Parameters:
    ///   - name: of the pictures that the archive gets of marked frames; nil for none.
    ///   - isMarked: by default, whether the frame has magenta.
    init(
        of recordings: [String], saving name: String? = nil,
        where isMarked: (DecodedVideo.Frame) -> Bool = { $0.image.hasMagenta }
    ) throws {
        for recording in recordings {
            try DecodedVideo.forEachFrame(of: recording) { frame in
                frames += 1
                guard isMarked(frame) else { return }
                marked += 1
                if let name { try PictureArchive.save(frame.image, as: "\(name)-\(frames)") }
            }
        }
    }
}
