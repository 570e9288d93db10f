/// The curtain under the names of UIKit's application delegate, for apps with that life cycle.
extension CapturedApp {
    /// `raiseCurtain(reason:)`, from an application's `applicationWillResignActive`.
    @discardableResult
    public func willResignActive(reason: String = "will resign active") throws(UpcastPrivacyError) -> CurtainReceipt {
        try raiseCurtain(reason: reason)
    }

    /// `lowerCurtain()`, from an application's `applicationDidBecomeActive`.
    @discardableResult
    public func didBecomeActive() throws(UpcastPrivacyError) -> CurtainRelease { try lowerCurtain() }

    /// `raiseCurtain(reason:)` for tasks, from an application's `applicationWillResignActive`.
    @discardableResult
    public func willResignActive(
        reason: String = "will resign active"
    ) async throws(UpcastPrivacyError) -> CurtainReceipt {
        try await raiseCurtain(reason: reason)
    }

    /// `lowerCurtain()` for tasks, from an application's `applicationDidBecomeActive`.
    @discardableResult
    public func didBecomeActive() async throws(UpcastPrivacyError) -> CurtainRelease { try await lowerCurtain() }
}
