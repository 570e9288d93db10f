import Testing
import Wording

@testable import Configuration

@Suite struct DidYouMeanTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("kitten", "sitting", 3),
        ("ca", "abc", 3)
    ])
    func distances(a: String, b: String, expected: Int) {
        #expect(editDistance(Array(a.utf8), Array(b.utf8)) == expected)
        #expect(editDistance(Array(b.utf8), Array(a.utf8)) == expected)
    }

    @Test(arguments: [
        ("Width", "width"), ("hieght", "height"), ("bitrate_kpbs", "bitrate_kbps"), ("bitrate", nil),
        ("colour_matrix", "color_matrix"),
        ("xyz", nil), ("", nil), ("fi", "fit")
    ])
    func suggestions(text: String, expected: String?) {
        let names = ConfigurationTable.keys.filter { $0.section == "video" }.map(\.name)
        #expect(nearest(text, names) == expected)
    }
}
