/// What is kept from viewers, and by whom.
package struct PrivacyStatus: JSONRecord {
    package var curtain = CurtainStatus()

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("curtain", &curtain) }
}

package struct CurtainStatus: JSONRecord {
    /// Viewers see the curtain, with silence.
    package var isUp = false
    /// Who holds it up, in the order in which they came.
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
    package var reason = ""
    package var heldMilliseconds = 0

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("holder", &holder)
        fields("reason", &reason)
        fields("held_ms", &heldMilliseconds)
    }
}
