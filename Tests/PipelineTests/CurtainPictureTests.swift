import Configuration
import FrameGeometry
import MediaCore
import Painting
import TestSupport
import Testing

@testable import Pipeline

/// A picture as curtain: its place, its surroundings, its background, and the curtain without the picture.
@Suite struct CurtainPictureTests {
    private func configuration(_ path: String) -> Configuration {
        var configuration = Configuration()
        configuration.video.width = 320
        configuration.video.height = 180
        configuration.privacy.curtainStyle = .picture
        configuration.privacy.curtainPicture = path
        configuration.privacy.curtainColor = RGBColor(red: 0, green: 0, blue: 255)
        return configuration
    }

    /// Red, with a transparent right half.
    private func square(_ folder: TemporaryDirectory) throws -> String {
        let path = folder.file("a.png")
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-y", "-filter_complex",
                "color=0xff0000:s=32x64,format=rgba[a];color=0xff0000@0:s=32x64,format=rgba[b];[a][b]hstack",
                "-frames:v", "1", path,
            ])
        return path
    }

    private func paint(_ paint: CurtainPaint) -> (color: (Int, Int) -> CanvasColor, problem: String?) {
        let picture = Picture(width: 320, height: 180)
        paint.painter.paint(picture.planes, after: picture.planes)
        return (
            { x, y in
                withExtendedLifetime(picture) {
                    let planes = picture.planes
                    return CanvasColor(
                        y: planes.y[y * planes.yStride + x], u: planes.u[y / 2 * planes.uStride + x / 2],
                        v: planes.v[y / 2 * planes.vStride + x / 2])
                }
            }, paint.problem
        )
    }

    private let red = CanvasColor(red: 255, green: 0, blue: 0, color: .hd)
    private let blue = CanvasColor(red: 0, green: 0, blue: 255, color: .hd)

    private func isAlike(_ a: CanvasColor, _ b: CanvasColor) -> Bool {
        abs(Int(a.y) - Int(b.y)) < 4 && abs(Int(a.u) - Int(b.u)) < 4 && abs(Int(a.v) - Int(b.v)) < 4
    }

    @Test func placedAsVideoIs() throws {
        let folder = try TemporaryDirectory("picture")
        var configuration = configuration(try square(folder))
        let fit = paint(configuration.curtainPaint())
        #expect(fit.problem == nil)
        // 180x180 in the middle of 320.
        for (x, color) in [(10, blue), (60, blue), (80, red), (150, red), (170, blue), (240, blue), (310, blue)] {
            for y in [2, 90, 177] { #expect(isAlike(fit.color(x, y), color), "\(x),\(y): \(fit.color(x, y))") }
        }
        configuration.video.fit = .stretch
        let stretched = paint(configuration.curtainPaint())
        // Not beside the edge, which the scaler sharpens.
        for (x, color) in [(5, red), (100, red), (220, blue), (315, blue)] {
            #expect(isAlike(stretched.color(x, 90), color), "\(x)")
        }
        #expect(configuration.curtainProblems(places: ConfigurationPlaces()) == [])
    }

    /// Solid, with the text, and without anything of the screen.
    @Test(arguments: ["missing", "folder", "text", "cut"]) func withoutAPicture(kind: String) throws {
        let folder = try TemporaryDirectory("picture")
        let path =
            switch kind {
            case "missing": folder.file("none.png")
            case "folder": folder.path
            case "text": try folder.write("no picture", to: "a.txt")
            default: try square(folder)
            }
        if kind == "cut" { _ = try ChildProcess.run("truncate", ["-s", "100", path]) }
        var configuration = configuration(path)
        configuration.privacy.curtainText = "Back soon"
        let solid = paint(configuration.curtainPaint())
        let problem = try #require(solid.problem)
        #expect(problem.hasPrefix("privacy.curtain_picture: \(path) ") && problem.contains("; "), "\(problem)")
        #expect(isAlike(solid.color(10, 10), blue))
        #expect((0..<320).contains { solid.color($0, 90).y > 200 }, "no text")
        let problems = configuration.curtainProblems(places: ConfigurationPlaces())
        #expect(problems.count == 1 && problems[0].key == "privacy.curtain_picture", "\(problems)")
    }
}
