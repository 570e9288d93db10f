internal import Configuration
internal import Pipeline

extension ConfigurationDraft {
    /// Everything that `--check-config` refuses, each with place, cause and remedy: the mistakes of file and
    /// environment, then those that only this machine shows. Empty for a configuration that the daemon accepts.
    ///
    /// A key with a mistake does not hide the others: all valid keys are checked on this machine.
    func mistakes(environment: [String: String]) -> [String] {
        guard isReadable else { return problems.map(\.description) }
        let onThisMachine =
            configuration.problemsOnThisMachine(environment: environment, places: places)
            + configuration.roleProblems(places: places) + configuration.curtainProblems(places: places)
            + configuration.encoderProblems(places: places, isWhole: isValid("video", "audio"))
            + configuration.webhookProblems(environment: environment, places: places)
        var mistakes = problems(and: onThisMachine).map(\.description)
        if isValid("destinations"), configuration.destinations.isEmpty { mistakes.append(noDestination) }
        let plan = configuration.memoryPlan
        // With the default of a refused key the plan would be another one.
        if !plan.fits, isValid("video", "audio", "buffer", "destinations", "control", "memory", "privacy") {
            mistakes.append(mistakes.isEmpty ? "\(plan)" : plan.wayOut)
        }
        return mistakes
    }
}
