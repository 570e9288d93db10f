/// All settings, with the built-in defaults.
package struct Configuration: Equatable, Sendable {
    package var ingest = IngestConfiguration()
    package var video = VideoConfiguration()
    package var audio = AudioConfiguration()
    package var buffer = BufferConfiguration()
    /// At most `maxDestinations`; may be empty.
    package var destinations: [DestinationConfiguration] = []
    package var control = ControlConfiguration()
    /// At most `maxWebhooks`.
    package var webhooks: [WebhookConfiguration] = []
    package var log = LogConfiguration()
    package var memory = MemoryConfiguration()
    package var stop = StopConfiguration()
    package var privacy = PrivacyConfiguration()

    package static let maxDestinations = 8
    package static let maxWebhooks = 4

    package init() {}
}
