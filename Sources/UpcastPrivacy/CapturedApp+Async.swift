internal import LinuxSystem

/// The same calls for tasks. In an asynchronous context Swift takes these.
///
/// Each suspends the task, and neither its actor nor a thread of the cooperative pool waits. Cancelling the task does
/// not cut a call short: whoever asks to hide something must learn whether it is hidden. It returns within the timeout.
extension CapturedApp {
    /// Raises the curtain as the blocking call does.
    ///
    /// - Parameter reason: for the log and for operators; cut at 200 bytes.
    /// - Returns: what had left by then.
    /// - Throws: where the daemon did not say that the curtain is up. It may be up where the code is `timedOut`.
    @discardableResult
    public func raiseCurtain(reason: String = "") async throws(UpcastPrivacyError) -> CurtainReceipt {
        try await Self.suspended(Consequence.raise) { () throws(UpcastPrivacyError) in
            try self.raiseCurtain(reason: reason)
        }
    }

    /// Lets go of the curtain as the blocking call does.
    ///
    /// - Returns: what has become of the curtain.
    /// - Throws: where the daemon did not agree; the curtain then stays, unless the code is `timedOut`.
    @discardableResult
    public func lowerCurtain() async throws(UpcastPrivacyError) -> CurtainRelease {
        try await Self.suspended(Consequence.lower) { () throws(UpcastPrivacyError) in try self.lowerCurtain() }
    }

    /// Hides a rectangle of the picture as the blocking call does.
    ///
    /// - Parameters:
    ///   - region: what is hidden.
    ///   - name: of 1 to 64 such characters as `CapturedApp.name` has.
    ///   - reason: for the log; cut at 200 bytes.
    /// - Throws: `refused` for a name or numbers that cannot be, and where there is no room for another region.
    public func hide(
        _ region: HiddenRegion, named name: String, reason: String = ""
    ) async throws(UpcastPrivacyError) {
        try await Self.suspended(Consequence.hide) { () throws(UpcastPrivacyError) in
            try self.hide(region, named: name, reason: reason)
        }
    }

    /// Removes a region as the blocking call does.
    ///
    /// - Parameter name: of the region.
    /// - Returns: whether this app had one of that name.
    @discardableResult
    public func removeRegion(named name: String) async throws(UpcastPrivacyError) -> Bool {
        try await Self.suspended(Consequence.remove) { () throws(UpcastPrivacyError) in
            try self.removeRegion(named: name)
        }
    }

    /// Removes all of this app's regions as the blocking call does.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func removeAllRegions() async throws(UpcastPrivacyError) -> Bool {
        try await Self.suspended(Consequence.remove) { () throws(UpcastPrivacyError) in try self.removeAllRegions() }
    }

    private static func suspended<Value: Sendable>(
        _ consequence: String, _ call: @escaping @Sendable () throws(UpcastPrivacyError) -> Value
    ) async throws(UpcastPrivacyError) -> Value {
        let result: Result<Value, UpcastPrivacyError>
        do throws(Errno) {
            result = try await BlockingCall.run("upcast-call") {
                do throws(UpcastPrivacyError) { return .success(try call()) } catch { return .failure(error) }
            }
        } catch {
            throw UpcastPrivacyError(.noResources, "there is no thread to wait on: \(error); \(consequence)")
        }
        return try result.get()
    }
}

extension CaptureStateMonitor {
    /// Ends the watching as the blocking call does, while the task is suspended.
    public func stop() async {
        // Without a thread it waits on this one: `onChange` must not be called after the end.
        do throws(Errno) { try await BlockingCall.run("upcast-call") { self.stop() } } catch { stopBlocking() }
    }

    private func stopBlocking() { stop() }
}
