package import MediaCore

/// What the desk needs of the rest of the daemon. Any thread; nothing here waits for a data thread.
package protocol PrivacyEffects: Sendable {
    /// Throws away what the running broadcast has encoded and not sent: once it returns, none of it goes out.
    ///
    /// - Parameter age: only packets that are newer than this; nil for all.
    /// - Returns: nil where no broadcast runs.
    func takeBack(newerThan age: MediaTime?) -> CurtainReceipt?

    /// What has gone out so far; nil where no broadcast runs.
    func whatWentOut() -> CurtainReceipt?

    /// Somebody holds the curtain up, or has let go.
    func curtainChanged()

    /// Standing regions have changed.
    ///
    /// - Parameter version: no snapshot of a picture from before it may be given away; nil where less is hidden now.
    func regionsChanged(to version: RegionsVersion?)

    /// The client's samples name regions to hide.
    var clientHidesRegions: Bool { get }

    /// The number of the broadcast that runs, or is about to; nil for none.
    var broadcastNumber: UInt64? { get }

    /// Logs what has happened. The audit log has it already.
    func report(_ fact: PrivacyFact)
}
