import Foundation
import Testing

/// Modules stand in rows: what one depends on stands in a lower row. Read from Package.swift, whose comments name the
/// rows, and from the table in docs/architecture.md.
@Suite struct PackageRowsTests {
    private struct Module {
        let name: String
        let row: Int
        let dependencies: [String]
    }

    /// Dependencies within a row. Package.swift says why.
    private static let sideways: Set = [
        "CRTMPSocket -> CGnuTLS", "CRTMPSocket -> CLibRTMP", "CBus -> CLoader", "CPulse -> CLoader",
        "CPipeWire -> CLoader", "CWayland -> CLoader", "CPortal -> CBus", "CSession -> CBus",
        "LinuxSystem -> MediaCore", "Publishing -> Buffering", "Painting -> FrameGeometry", "Pipeline -> Configuration",
        "UpcastPrivacy -> ControlClient", "Grabbing -> UpcastClient", "ScreenCapture -> UpcastClient",
        "ScreenCapture -> Grabbing", "SoundCapture -> Grabbing", "WaylandCapture -> UpcastClient",
        "WaylandCapture -> Grabbing", "PortalCapture -> UpcastClient", "PortalCapture -> Grabbing",
        "PortalCapture -> WaylandCapture",
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func modules() throws -> [Module] {
        let package = try #require(try text("Package.swift").components(separatedBy: "// Tests.\n").first)
        return package.components(separatedBy: "// Row ").dropFirst().flatMap { part -> [Module] in
            guard let row = part.first?.wholeNumberValue else { return [] }
            return part.components(separatedBy: "arget(").dropFirst().compactMap { target in
                guard let match = target.firstMatch(of: #/name: "([^"]+)"/#) else { return nil }
                // Products of other packages are not ours.
                let own = target.replacing(#/\.product\([^)]*\)/#, with: "")
                let list = own.firstMatch(of: #/dependencies: \[([^\]]*)\]/#)?.1 ?? ""
                let names = list.matches(of: #/"([^"]+)"/#).map { String($0.1) }
                return Module(name: String(match.1), row: row, dependencies: names)
            } + part.matches(of: #/systemLibrary\(name: "([^"]+)"/#).map {
                Module(name: String($0.1), row: row, dependencies: [])
            }
        }
    }

    @Test func dependenciesGoDown() throws {
        let modules = try Self.modules()
        let rows = Dictionary(uniqueKeysWithValues: modules.map { ($0.name, $0.row) })
        #expect(modules.count > 30 && Set(rows.values) == Set(0...6))
        var sideways: Set<String> = []
        for module in modules {
            for name in module.dependencies {
                let row = try #require(rows[name], "\(module.name) depends on \(name), which is in no row")
                #expect(row <= module.row, "\(module.name) (row \(module.row)) depends on \(name) (row \(row))")
                if row == module.row { sideways.insert("\(module.name) -> \(name)") }
            }
        }
        #expect(sideways == Self.sideways)
    }

    /// SwiftPM also accepts an import of a module that only a dependency declares.
    @Test func importsAreDeclared() throws {
        let modules = try Self.modules()
        let names = Set(modules.map(\.name))
        for module in modules where module.row > 0 {
            let imports = try Self.sources(of: module.name).flatMap { $0.split(separator: "\n") }.compactMap { line in
                let words = line.split(separator: " ", maxSplits: 3)
                return words.prefix(2).firstIndex(of: "import").map { String(words[$0 + 1]) }
            }
            #expect(names.intersection(imports) == Set(module.dependencies), "\(module.name)")
        }
    }

    private static func sources(of module: String) throws -> [String] {
        let folder = root.appending(path: "Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            try String(contentsOf: $0, encoding: .utf8)
        }
    }

    /// Otherwise the same commit would give other files a month later.
    @Test func versionsAreExact() throws {
        let package = try Self.text("Package.swift")
        let packages = package.matches(of: #/\.package\(url: "[^"]+\/([^"\/]+?)(?:\.git)?", ([a-zA-Z]+)[:)]/#)
        #expect(packages.count == package.components(separatedBy: ".package(url:").count - 1 && packages.count >= 5)
        for package in packages {
            #expect(package.2 == "exact", "\(package.1) has no exact version in Package.swift")
        }
    }

    /// C modules, and no others, have names that begin with C and another capital.
    @Test func theNamesOfCModules() throws {
        for module in try Self.modules() {
            #expect((module.row == 0) == module.name.starts(with: #/C[A-Z]/#), "\(module.name) is in row \(module.row)")
        }
    }

    @Test func theTableHasTheRows() throws {
        let lines = try Self.text("docs/architecture.md").split(separator: "\n")
        for module in try Self.modules() where module.row > 0 {
            let line = try #require(lines.first { $0.hasPrefix("| \(module.row) ") })
            #expect(line.contains("`\(module.name)`"), "\(module.name) is not in row \(module.row) of the table")
        }
    }
}
