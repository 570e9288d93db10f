import MediaCore

@testable import Publishing

extension PublishingSink {
    /// Without a curtain.
    @discardableResult
    func finish(until deadline: MediaTime) throws(PublishError) -> PublishError? {
        try finish(until: deadline) { false }
    }
}
