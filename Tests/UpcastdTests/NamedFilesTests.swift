import Foundation
import Testing

/// Promise: a newcomer finds each file that the guides name. A guide may leave out the folder.
@Suite struct NamedFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The paths of all files of the repository that guides name, relative to its root.
    private static func files() throws -> [String] {
        var paths: [String] = []
        for folder in ["Sources", "Tests", "Config", "scripts", "docs"] {
            let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let file = files?.nextObject() as? String { paths.append("\(folder)/\(file)") }
        }
        return paths + (try FileManager.default.contentsOfDirectory(atPath: root.path))
    }

    @Test(arguments: ["CONTRIBUTING.md", "docs/architecture.md", "docs/dependencies.md", "docs/performance.md"])
    func theyExist(guide: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: guide), encoding: .utf8)
        let files = try Self.files()
        // In backticks, with the name of a source, a script or a document.
        let pattern = #/`((?:Sources|Tests|Config|scripts|docs)\/[\w+.\/-]+|[\w+.\/-]+\.swift)`/#
        let named = Set(text.matches(of: pattern).map { String($0.1) })
        #expect(guide != "CONTRIBUTING.md" || named.count > 30)
        for name in named.sorted() where !files.contains(where: { $0 == name || $0.hasSuffix("/\(name)") }) {
            Issue.record("\(guide) names \(name), which does not exist")
        }
    }
}
