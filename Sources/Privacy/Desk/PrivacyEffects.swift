package import MediaCore

/// What the desk needs from the rest of the daemon. Any thread; no method waits for a data thread.
package protocol PrivacyEffects: Sendable {
    /// Throws away everything that the running broadcast has encoded and not sent. Once it returns, none of it goes
    /// out.
    ///
    /// - Parameter age: only packets that are newer than this; nil for all.
    /// - Returns: nil if no broadcast runs.
    func takeBack(newerThan age: MediaTime?) -> CurtainReceipt?

    /// What has gone out so far; nil if no broadcast runs.
    func whatWentOut() -> CurtainReceipt?

    /// Called when a hold was added or released.
    func curtainChanged()

    /// Called when standing regions have changed.
    ///
    /// - Parameter version: snapshots of pictures from before this version must not be given out; nil if less is hidden
    ///   now, so that all may be.
    func regionsChanged(to version: RegionsVersion?)

    /// Whether the client's samples name regions to hide.
    var clientHidesRegions: Bool { get }

    /// The number of the broadcast that runs or is about to; nil for none.
    var broadcastNumber: UInt64? { get }

    /// Logs a fact. The audit log already has it.
    func report(_ fact: PrivacyFact)
}
