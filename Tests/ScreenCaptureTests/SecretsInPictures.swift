import UpcastClient

@testable import ScreenCapture

extension WindowModel {
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
