import UpcastClient

/// Why a broadcast has ended. Pure.
enum BroadcastEnd {
    case stopped
    case failed(ExitStatus, String)
    /// The daemon is gone.
    case daemonGone(String)

    init(_ error: any Error) {
        guard let error = error as? CaptureError else {
            self = .failed(.badScreen, "\(error)")
            return
        }
        switch error.code {
        case .cannotConnect, .disconnected, .timedOut, .ended: self = .daemonGone(error.message)
        default: self = .failed(.refused, error.message)
        }
    }

    init(_ goodbye: CaptureGoodbye) {
        let text = "upcastd ended the broadcast" + (goodbye.text.isEmpty ? "" : ": \(goodbye.text)")
        self = goodbye.reason == .daemonStopping ? .daemonGone(text) : .failed(.refused, text)
    }
}
