internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Privacy
internal import Synchronization

/// Determines which regions of a client's picture viewers must not see: the secure regions that come with the
/// picture, and the standing regions.
///
/// Ingest thread only, apart from `clientHidesSomething`.
final class SampleRegions: Sendable {
    private let standing: StandingRegions
    private let protections: Protections
    private let hidesSomething = Atomic(false)

    init(standing: StandingRegions, protections: Protections) {
        (self.standing, self.protections) = (standing, protections)
    }

    /// Any thread: whether the client's last picture came with secure regions.
    var clientHidesSomething: Bool { hidesSomething.load(ordering: .relaxed) }

    /// The version of the standing regions.
    var version: RegionsVersion { standing.version }

    /// Refuses a picture with secure regions if these are turned off. The client expects them to be hidden, so it
    /// must learn that they would not be.
    func check(_ message: VideoMessage) throws(ProtocolError) {
        hidesSomething.store(!message.regions.isEmpty, ordering: .relaxed)
        guard !message.regions.isEmpty, !protections.isOn(.secureRegions) else { return }
        throw ProtocolError(
            .badSecureRegions, fatal: false,
            "video: secure regions are turned off here (privacy.secure_regions); the picture is refused and not shown")
    }

    /// The secure regions of a picture and the standing regions, in the sample's coordinates.
    ///
    /// - Parameter transform: the transform that turns the sample upright.
    func all(of message: VideoMessage, transform: UprightTransform) -> SecureRegions {
        var regions = message.regions
        standing.hide(
            in: &regions, width: message.format.width, height: message.format.height, transform: transform)
        return regions
    }
}
