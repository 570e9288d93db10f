internal import LinuxSystem
package import MediaCore

/// The bitrate and frame rate that the encoder uses from now on, because a link carries less or more than before.
package struct BitrateStep: Equatable, Sendable {
    /// Bits a second of video.
    package var bitrate: Int
    /// One frame in this many is encoded.
    package var frameRateDivisor: Int
    /// For people: the destination, and what happens on its link.
    package var reason: String
}

/// One encoder serves several destinations: the slowest link that takes packets decides. A destination that is down
/// does not count.
///
/// The video thread asks; destinations come and go on any thread.
package final class BitrateControl: Sendable {
    fileprivate struct State {
        /// `isThere`: whether the current look has found the link.
        var controllers: [(name: String, destination: Int, controller: BitrateController, isThere: Bool)] = []
        var current: BitrateStep
        var nextLook = MediaTime.zero
        var limits: BitrateController.Limits
        /// The ceiling has changed, and the encoder has not been told yet.
        var isCeilingNew = false
        /// Until when the last bitrate stays in force while no link is connected; nil before the first look.
        var guessUntil: MediaTime?
    }

    /// The time between two looks. Reports come about as often.
    private static let period = MediaTime.milliseconds(100)
    /// Longer than most servers need to come back.
    private static let patience = MediaTime.seconds(30)
    private let configured: BitrateController.Limits
    private let state: Monitor<State>

    package init(_ limits: BitrateController.Limits) {
        configured = limits
        let start = BitrateStep(bitrate: limits.ceiling, frameRateDivisor: 1, reason: "as configured")
        state = Monitor(State(current: start, limits: limits))
    }

    package var current: BitrateStep { state.withLock { $0.current } }

    /// Any thread: sets the highest bitrate, in bits a second; nil for the configured one. Every link is measured anew.
    package func setCeiling(_ bitrate: Int?) {
        state.withLock { state in
            let ceiling = bitrate ?? configured.ceiling
            guard ceiling != state.limits.ceiling else { return }
            state.limits.ceiling = ceiling
            state.limits.floor = min(configured.floor, ceiling)
            state.controllers = []
            state.isCeilingNew = true
            state.nextLook = .zero
        }
    }

    /// Evaluates the links, at most ten times a second. Allocates nothing as long as nothing changes.
    ///
    /// - Parameters:
    ///   - servesOthers: whether there are destinations to which nothing is adapted; called only when a look is due and
    ///     no link is connected.
    ///   - forEachLink: calls its argument with each destination's name and report; called only when a look is due.
    /// - Returns: the change; nil for none.
    package func look(
        at now: MediaTime, servesOthers: () -> Bool, _ forEachLink: ((String, LinkReport) -> Void) -> Void
    ) -> BitrateStep? {
        state.withLock { state in
            guard now >= state.nextLook else { return nil }
            state.nextLook = now + Self.period
            for index in state.controllers.indices { state.controllers[index].isThere = false }
            let limits = state.limits
            var (target, slowest, isAnyThere, isAnyPublishing) = (limits.ceiling, Int?.none, false, false)
            forEachLink { name, report in
                isAnyThere = true
                let found = state.note(report, of: name, limits)
                guard report.isPublishing else { return }
                isAnyPublishing = true
                if found.target < target { (target, slowest) = (found.target, found.index) }
            }
            // Controllers of links that are gone are removed last, because `slowest` is an index.
            defer { state.controllers.removeAll { !$0.isThere } }
            if isAnyPublishing || state.guessUntil == nil { state.guessUntil = now + Self.patience }
            // While no link is connected, the last bitrate is the best guess for when one comes back. Files and servers
            // to which nothing is adapted must not wait for that without end.
            let mayBeBack = isAnyThere && state.guessUntil.map { now < $0 } ?? false
            guard isAnyPublishing || state.isCeilingNew || !mayBeBack && servesOthers() else { return nil }
            defer { state.isCeilingNew = false }
            return state.change(to: target, because: slowest, limits, isAnyPublishing: isAnyPublishing)
        }
    }
}

extension BitrateControl.State {
    /// A smaller change, as a share of the bitrate, is not worth a reconfiguration of the encoder.
    private static let smallestChange = 0.03

    /// Passes a report to the link's controller. Returns the controller's index, and the bitrate that it asks for.
    fileprivate mutating func note(
        _ report: LinkReport, of name: String, _ limits: BitrateController.Limits
    ) -> (index: Int, target: Int) {
        let known = controllers.firstIndex { $0.name == name && $0.destination == report.destination }
        let index = known ?? controllers.endIndex
        if known == nil { controllers.append((name, report.destination, BitrateController(limits), true)) }
        controllers[index].isThere = true
        controllers[index].controller.note(report)
        return (index, controllers[index].controller.target)
    }

    /// - Parameter slowest: the index of the controller that limits the bitrate; nil if every link keeps up.
    fileprivate mutating func change(
        to target: Int, because slowest: Int?, _ limits: BitrateController.Limits, isAnyPublishing: Bool
    ) -> BitrateStep? {
        let change = abs(Double(target - current.bitrate)) / Double(current.bitrate)
        let divisor = min(limits.maximumDivisor, max(1, (limits.floor + target - 1) / target))
        // A new ceiling may equal the bitrate in force, and still require another frame rate.
        guard target != current.bitrate || divisor != current.frameRateDivisor,
            change >= Self.smallestChange || target == limits.ceiling
        else { return nil }
        let link = slowest.map { "\"\(controllers[$0].name)\": \(controllers[$0].controller.reason)" }
        let reason = isCeilingNew ? "another ceiling was set" : link
        current = BitrateStep(
            bitrate: target, frameRateDivisor: divisor,
            reason: reason ?? (isAnyPublishing ? "every destination keeps up" : "no adapted destination is connected"))
        return current
    }
}
