internal import ArgumentParser

enum Size {
    /// Of `WIDTHxHEIGHT`.
    static func parse(_ text: String) throws -> (width: Int, height: Int) {
        let parts = text.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2, parts.allSatisfy({ (16...4096).contains($0) }) else {
            throw ValidationError("\(text): WIDTHxHEIGHT, each 16 to 4096")
        }
        return (parts[0], parts[1])
    }
}
