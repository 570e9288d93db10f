internal import FrameGeometry
internal import IngestProtocol
internal import MediaCore
internal import Privacy
internal import Synchronization

/// Knows what of each of the client's pictures viewers must not see: the secure regions that come with the picture, and
/// the standing regions.
///
/// Ingest thread only, apart from `clientHidesSomething`.
final class SampleRegions: Sendable {
    private let standing: StandingRegions
    private let protections: Protections
    private let hidesSomething = Atomic(false)

    init(standing: StandingRegions, protections: Protections) {
        (self.standing, self.protections) = (standing, protections)
    }

    /// Any thread: the client's last picture came with secure regions.
    var clientHidesSomething: Bool { hidesSomething.load(ordering: .relaxed) }

    /// The standing regions' version.
    var version: RegionsVersion { standing.version }

    /// Refuses a picture with secure regions where these are turned off. A client that believes something to be hidden
    /// must learn that it would not be.
    func check(_ message: VideoMessage) throws(ProtocolError) {
        hidesSomething.store(!message.regions.isEmpty, ordering: .relaxed)
        guard !message.regions.isEmpty, !protections.isOn(.secureRegions) else { return }
        throw ProtocolError(
            .badSecureRegions, fatal: false,
            "video: secure regions are turned off here (privacy.secure_regions); the picture is refused and not shown")
    }

    /// The secure regions of a picture and the standing regions, in the coordinates of the sample.
    ///
    /// - Parameter transform: what turns the sample upright.
    func all(of message: VideoMessage, transform: UprightTransform) -> SecureRegions {
        var regions = message.regions
        standing.hide(
            in: &regions, width: message.format.width, height: message.format.height, transform: transform)
        return regions
    }
}
