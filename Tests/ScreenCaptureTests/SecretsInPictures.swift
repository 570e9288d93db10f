import UpcastClient

@testable import ScreenCapture

extension WindowModel {
    /// One reading.
    mutating func read(_ windows: KeyValuePairs<UInt32, WindowFacts?>) {
        for (window, facts) in windows { note(facts, of: window) }
        endReading()
    }

    func secrets(hidesUnknown: Bool) -> WindowSecrets {
        var secrets = WindowSecrets()
        collect(hidesUnknown: hidesUnknown, into: &secrets)
        return secrets
    }
}

extension WindowSecrets {
    func regions(in area: CaptureRectangle) -> CaptureSecureRegions {
        var regions = CaptureSecureRegions.none
        write(into: &regions, in: area)
        return regions
    }
}
