internal import Endpoints
internal import FLV
internal import MediaCore

/// The commands of a publisher as AMF0 bodies (RTMP 1.0, section 7.2), with fixed transaction numbers.
enum RTMPCommand {
    /// The usual value of encoders; some services reject unknown ones.
    static let flashVersion = "FMLE/3.0 (compatible; upcast)"

    enum Transaction {
        static let connect = 1.0
        static let releaseStream = 2.0
        static let fcPublish = 3.0
        static let createStream = 4.0
        static let publish = 5.0
        static let fcUnpublish = 6.0
        static let deleteStream = 7.0
    }

    /// The features of Enhanced RTMP that we support (`capsEx`): ReconnectRequest.
    static let extendedCapabilities = 1.0

    /// - Parameter login: a query from `RTMPAuthentication` to append to `app` and `tcUrl`.
    static func connect(to endpoint: RTMPEndpoint, login: String = "") -> [UInt8] {
        let query = login.isEmpty ? "" : (endpoint.app.contains("?") ? "&" : "?") + login
        var writer = AMF0Writer()
        writer.string("connect")
        writer.number(Transaction.connect)
        writer.value(
            .object([
                AMF0Property("app", .string(endpoint.app + query)),
                AMF0Property("type", .string("nonprivate")),
                AMF0Property("flashVer", .string(flashVersion)),
                AMF0Property("swfUrl", .string(endpoint.tcURL)),
                AMF0Property("tcUrl", .string(endpoint.tcURL + query)),
                AMF0Property("capsEx", .number(extendedCapabilities)),
            ]))
        return writer.bytes
    }

    static func releaseStream(_ key: Secret) -> [UInt8] { body("releaseStream", Transaction.releaseStream, key) }
    static func fcPublish(_ key: Secret) -> [UInt8] { body("FCPublish", Transaction.fcPublish, key) }
    static func createStream() -> [UInt8] { body("createStream", Transaction.createStream) }

    static func publish(_ key: Secret) -> [UInt8] {
        var writer = AMF0Writer(appendingTo: body("publish", Transaction.publish, key))
        writer.string("live")
        return writer.bytes
    }

    static func fcUnpublish(_ key: Secret) -> [UInt8] { body("FCUnpublish", Transaction.fcUnpublish, key) }

    static func deleteStream(_ streamID: UInt32) -> [UInt8] {
        var writer = AMF0Writer(appendingTo: body("deleteStream", Transaction.deleteStream))
        writer.number(Double(streamID))
        return writer.bytes
    }

    private static func body(_ name: String, _ transaction: Double, _ key: Secret? = nil) -> [UInt8] {
        var writer = AMF0Writer()
        writer.string(name)
        writer.number(transaction)
        writer.null()
        if let key { writer.string(key.revealed) }
        return writer.bytes
    }
}
