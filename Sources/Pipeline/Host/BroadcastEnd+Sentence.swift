internal import Ingest
internal import IngestProtocol

extension BroadcastEnd {
    /// The reason as a sentence for clients and the log.
    var sentence: String {
        switch self {
        case .finished(let message):
            message.text.isEmpty ? "the client finished" : "the client finished: \(message.text)"
        case .clientVanished: "the client's connection went away without finished"
        case .protocolError: "the client broke the protocol"
        case .daemonStopping: "the daemon is stopping"
        case .endedByOperator: "an operator ended the broadcast"
        case .failed(let sentence): sentence
        }
    }
}
