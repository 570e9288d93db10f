internal import LinuxSystem
internal import MediaCore
internal import Publishing

/// What the encoder is to do from now on, because a link carries less or more than it did.
struct BitrateStep: Equatable, Sendable {
    /// Bits a second of video.
    var bitrate: Int
    /// A frame in so many is encoded.
    var frameRateDivisor: Int
    /// For people: which destination, and what about it.
    var reason: String
}

/// One encoder for several destinations: the slowest link that takes packets decides. A destination that is down has no
/// say.
///
/// The video thread asks; destinations come and go on any thread.
final class BitrateControl: Sendable {
    fileprivate struct State {
        var controllers: [(name: String, controller: BitrateController)] = []
        var current: BitrateStep
        var nextLook = MediaTime.zero
    }

    /// Reports come about as often.
    private static let period = MediaTime.milliseconds(100)
    private let limits: BitrateController.Limits
    private let state: Monitor<State>

    init(_ limits: BitrateController.Limits) {
        self.limits = limits
        let start = BitrateStep(bitrate: limits.ceiling, frameRateDivisor: 1, reason: "as configured")
        state = Monitor(State(current: start))
    }

    var current: BitrateStep { state.withLock { $0.current } }

    /// Looks at how the links do, at most ten times a second.
    ///
    /// - Parameter links: each destination's name and report; called only when it is time to look.
    /// - Returns: what changes, or nil.
    func look(at now: MediaTime, _ links: () -> [(name: String, report: LinkReport)]) -> BitrateStep? {
        state.withLock { state in
            guard now >= state.nextLook else { return nil }
            state.nextLook = now + Self.period
            let links = links()
            state.controllers.removeAll { known in !links.contains { $0.name == known.name } }
            var slowest: (target: Int, reason: String) = (limits.ceiling, "every destination keeps up")
            for link in links {
                let index = state.controllers.firstIndex { $0.name == link.name } ?? state.controllers.endIndex
                if index == state.controllers.endIndex {
                    state.controllers.append((link.name, BitrateController(limits)))
                }
                state.controllers[index].controller.note(link.report)
                let controller = state.controllers[index].controller
                if link.report.isPublishing, controller.target < slowest.target {
                    slowest = (controller.target, "\"\(link.name)\": \(controller.reason)")
                }
            }
            // With nobody to ask, what was found last is the best guess for when somebody is back.
            guard links.contains(where: { $0.report.isPublishing }) else { return nil }
            return state.change(to: slowest.target, slowest.reason, limits)
        }
    }
}

extension BitrateControl.State {
    /// Changes of less are not worth the encoder's trouble.
    private static let smallestChange = 0.03

    fileprivate mutating func change(
        to target: Int, _ reason: String, _ limits: BitrateController.Limits
    ) -> BitrateStep? {
        let change = abs(Double(target - current.bitrate)) / Double(current.bitrate)
        guard target != current.bitrate, change >= Self.smallestChange || target == limits.ceiling else { return nil }
        let divisor = min(limits.maximumDivisor, max(1, (limits.floor + target - 1) / target))
        current = BitrateStep(bitrate: target, frameRateDivisor: divisor, reason: reason)
        return current
    }
}
