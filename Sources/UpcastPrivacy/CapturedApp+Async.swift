internal import LinuxSystem

/// The same calls for tasks. In an asynchronous context, Swift chooses these.
///
/// Each call suspends the task, and blocks neither its actor nor a thread of the cooperative pool. Cancelling the task
/// does not cut a call short, because a caller that asks to hide something must learn whether it is hidden. The call
/// returns within the timeout.
extension CapturedApp {
    /// Raises the curtain like the blocking call.
    ///
    /// - Parameter reason: for the log and for operators; cut at 200 bytes.
    /// - Returns: what had been sent by then.
    /// - Throws: if the daemon did not confirm that the curtain is up. It may still be up if the code is `timedOut`.
    @discardableResult
    public func raiseCurtain(reason: String = "") async throws(UpcastPrivacyError) -> CurtainReceipt {
        try await Self.suspended(Consequence.raise) { () throws(UpcastPrivacyError) in
            try self.raiseCurtain(reason: reason)
        }
    }

    /// Releases this app's hold on the curtain like the blocking call.
    ///
    /// - Returns: the curtain's state afterwards.
    /// - Throws: if the daemon did not agree. The hold then stays, unless the code is `timedOut`.
    @discardableResult
    public func lowerCurtain() async throws(UpcastPrivacyError) -> CurtainRelease {
        try await Self.suspended(Consequence.lower) { () throws(UpcastPrivacyError) in try self.lowerCurtain() }
    }

    /// Hides a rectangle of the picture like the blocking call.
    ///
    /// - Parameters:
    ///   - region: what is hidden.
    ///   - name: 1 to 64 characters, of those that `CapturedApp.name` may have.
    ///   - reason: for the log; cut at 200 bytes.
    /// - Throws: `refused` for an invalid name or number, and if there is no room for another region.
    public func hide(
        _ region: HiddenRegion, named name: String, reason: String = ""
    ) async throws(UpcastPrivacyError) {
        try await Self.suspended(Consequence.hide) { () throws(UpcastPrivacyError) in
            try self.hide(region, named: name, reason: reason)
        }
    }

    /// Removes a region like the blocking call.
    ///
    /// - Parameter name: the region's name.
    /// - Returns: whether this app had a region of that name.
    @discardableResult
    public func removeRegion(named name: String) async throws(UpcastPrivacyError) -> Bool {
        try await Self.suspended(Consequence.remove) { () throws(UpcastPrivacyError) in
            try self.removeRegion(named: name)
        }
    }

    /// Removes all of this app's regions like the blocking call.
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
    /// Stops watching like the blocking call, while the task is suspended.
    public func stop() async {
        // If there is no thread, it waits on this one: `onChange` must not be called after the end.
        do throws(Errno) { try await BlockingCall.run("upcast-call") { self.stop() } } catch { stopBlocking() }
    }

    private func stopBlocking() { stop() }
}
