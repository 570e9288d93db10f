/// The bodies of requests that change something. The daemon refuses unknown members.
///
/// Without `app`, the request is an operator's. docs/openapi.json describes each body; a test compares the names.

/// `POST /curtain/up`.
package struct CurtainUpRequest: JSONRecord {
    package var app: String?
    /// The reason for the log and for other users.
    package var reason: String?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields(optional: "app", &app)
        fields(optional: "reason", &reason)
    }
}

/// `POST /curtain/down`.
package struct CurtainDownRequest: JSONRecord {
    package var app: String?
    /// Selects one user's app, if apps of several users have the same name.
    package var user: Int?
    package var reason: String?
    /// Whether to release the holds of all holders.
    package var force = false

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields(optional: "app", &app)
        fields(optional: "user", &user)
        fields(optional: "reason", &reason)
        fields(flag: "force", &force)
    }
}

/// `POST /regions`.
package struct RegionRequest: JSONRecord {
    package enum Unit: String, CaseIterable, Sendable { case normalized, pixels }

    package var app: String?
    package var name: String?
    /// In the upright picture.
    package var x = 0.0
    package var y = 0.0
    package var width = 0.0
    package var height = 0.0
    /// Nil means normalized, and no number may be larger than the picture.
    package var unit: Unit?
    package var reason: String?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields(optional: "app", &app)
        fields(optional: "name", &name)
        fields("x", &x)
        fields("y", &y)
        fields("width", &width)
        fields("height", &height)
        fields(optional: "unit", &unit)
        fields(optional: "reason", &reason)
    }
}

/// `POST /protections`.
package struct ProtectionRequest: JSONRecord {
    package var name: String?
    package var isOn = false
    /// Whether to turn it off even if something relies on it.
    package var force = false

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields(optional: "name", &name)
        fields("on", &isOn)
        fields(flag: "force", &force)
    }
}

/// `POST /state/release`.
package struct ReleaseRequest: JSONRecord {
    package var app: String?
    package var user: Int?
    /// The capture that may be shown.
    package var capture: Int?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields(optional: "app", &app)
        fields(optional: "user", &user)
        fields(optional: "capture", &capture)
    }
}

/// `POST /bitrate`.
package struct BitrateRequest: JSONRecord {
    /// The maximum bit rate of video; nil for the configured one.
    package var bitsPerSecond: Int?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("bits_per_second", &bitsPerSecond) }
}

/// `POST /log-level`.
package struct LogLevelRequest: JSONRecord {
    package var level: String?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields(optional: "level", &level) }
}
