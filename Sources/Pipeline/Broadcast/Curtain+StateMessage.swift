internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Privacy

extension Curtain {
    /// The message that tells the client what viewers see.
    var stateMessage: StateMessage {
        let holders = all.map(\.holder)
        guard !holders.isEmpty else {
            return StateMessage(
                .curtainDown,
                text: "viewers see the picture again; frames sent while the curtain was up may be missing")
        }
        var causes = CurtainCauses()
        var why: [String] = []
        for holder in holders {
            let (cause, sentence) = holder.cause
            if causes.insert(cause).inserted || holder.kind == .daemon { why.append(sentence) }
        }
        return StateMessage(
            .curtainUp, value: causes.rawValue, text: "hidden: viewers see a curtain: \(why.joined(separator: "; "))")
    }
}

extension PrivacyHolder {
    /// The cause for the client: the kind of holder and the reason, but not which app.
    fileprivate var cause: (CurtainCauses, String) {
        switch self {
        case .start: (.awaitsPicture, "no picture has come yet that may be shown")
        case .badRegions:
            (
                .awaitsPicture,
                "a picture was refused, so what it meant to hide is not known; "
                    + "the last good picture is shown 1 s after the refusal"
            )
        default:
            switch kind {
            case .client: (.client, "the client is paused")
            case .app: (.app, "an app holds it up")
            case .operator: (.operator, "an operator holds it up")
            case .daemon: (.daemon, "the daemon holds it up (\(name))")
            }
        }
    }
}
