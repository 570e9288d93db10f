internal import Encoding
internal import FrameGeometry

/// Why a data thread cannot continue, as one sentence. It ends the broadcast.
struct WorkerFailure: Error, CustomStringConvertible {
    let sentence: String
    var description: String { sentence }
}

func encoding(_ body: () throws(EncodingError) -> Void) throws(WorkerFailure) {
    do { try body() } catch { throw WorkerFailure(sentence: "encoding failed: \(error)") }
}
