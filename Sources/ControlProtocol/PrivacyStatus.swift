/// What is hidden from viewers, and by whom.
package struct PrivacyStatus: JSONRecord {
    package var curtain = CurtainStatus()
    /// The regions that are hidden until they are released.
    package var regions: [StandingRegionStatus] = []
    package var protections: [ProtectionStatus] = []
    /// How many lines the audit log has lost since the daemon started.
    package var auditLost = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("curtain", &curtain)
        fields("regions", &regions)
        fields("protections", &protections)
        fields("audit_lost", &auditLost)
    }
}

package struct CurtainStatus: JSONRecord {
    /// Whether viewers see the curtain, with silence.
    package var isUp = false
    /// The holders of the curtain, in the order in which they came.
    package var holders: [CurtainHolderStatus] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("up", &isUp)
        fields("holders", &holders)
    }
}

package struct CurtainHolderStatus: JSONRecord {
    /// `client`, `app:NAME`, `operator`, `daemon:REASON`.
    package var holder = ""
    /// The user of an app.
    package var user: Int?
    package var reason = ""
    package var heldMilliseconds = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("holder", &holder)
        fields("user", &user)
        fields("reason", &reason)
        fields("held_ms", &heldMilliseconds)
    }
}

package struct StandingRegionStatus: JSONRecord {
    package var holder = ""
    /// The user of an app.
    package var user: Int?
    package var name = ""
    /// `normalized` (0 to 1 of width and height) or `pixels`, of the upright picture.
    package var unit = ""
    package var x = 0.0
    package var y = 0.0
    package var width = 0.0
    package var height = 0.0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("holder", &holder)
        fields("user", &user)
        fields("name", &name)
        fields("unit", &unit)
        fields("x", &x)
        fields("y", &y)
        fields("width", &width)
        fields("height", &height)
    }
}

/// A protection, and whether something relies on it.
package struct ProtectionStatus: JSONRecord {
    package var name = ""
    package var isOn = false
    package var isInUse = false

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("name", &name)
        fields("on", &isOn)
        fields("held", &isInUse)
    }
}
