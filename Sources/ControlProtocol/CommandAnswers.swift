/// The answer to a command that changes what outlives the daemon.
package protocol KeptAnswer: JSONRecord {
    /// Whether a restart of the daemon keeps the change; nil without a state file.
    var persisted: Bool? { get set }
}

/// To commands that have nothing to say.
package struct DoneAnswer: JSONRecord {
    package init() {}
    package mutating func visit(_ fields: inout JSONFields) {}
}

/// To `POST /regions` and `DELETE /regions`.
package struct RegionAnswer: KeptAnswer {
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("persisted", &persisted) }
}

/// What had left when the curtain was raised.
package struct CurtainRaisedReport: JSONRecord {
    /// Packets that waited to be sent and were taken back.
    package var videoPackets = 0
    package var audioPackets = 0
    /// Presentation time of the last packet that went to each destination; nil for none.
    package var lastPTS: [DestinationTime] = []
    /// Packets from before, up to this time in milliseconds, are not taken back, and still go out; nil for none.
    package var keptUntil: Int?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("taken_back_video_packets", &videoPackets)
        fields("taken_back_audio_packets", &audioPackets)
        fields("last_pts_ms", &lastPTS)
        fields("kept_until_ms", &keptUntil)
    }
}

/// To `POST /curtain/up`.
package struct CurtainUpAnswer: KeptAnswer {
    package var isUp = false
    package var report = CurtainRaisedReport()
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("up", &isUp)
        report.visit(&fields)
        fields("persisted", &persisted)
    }
}

/// To `POST /curtain/down`.
package struct CurtainDownAnswer: KeptAnswer {
    /// Others hold it up.
    package var isUp = false
    /// Whether anybody let go.
    package var isReleased = false
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("up", &isUp)
        fields("released", &isReleased)
        fields("persisted", &persisted)
    }
}

/// To `POST /protections`.
package struct ProtectionAnswer: KeptAnswer {
    package var name = ""
    package var isOn = false
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("name", &name)
        fields("on", &isOn)
        fields("persisted", &persisted)
    }
}

/// To `POST /state/release`.
package struct ReleaseAnswer: JSONRecord {
    /// Whether the daemon waited for it.
    package var isReleased = false

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("released", &isReleased) }
}

/// To `POST /log-level`.
package struct LogLevelAnswer: JSONRecord {
    package var level = ""

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("level", &level) }
}

/// To `POST /reload`.
package struct ReloadAnswer: JSONRecord {
    /// Changes that are in force now; empty if nothing has changed.
    package var applied: [String] = []
    /// Keys whose new values the next broadcast begins with.
    package var nextBroadcast: [String] = []
    /// Keys whose new values need a restart.
    package var needRestart: [String] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("applied", &applied)
        fields("next_broadcast", &nextBroadcast)
        fields("need_restart", &needRestart)
    }
}

/// To `POST /destinations`.
package struct DestinationAddedAnswer: JSONRecord {
    package var name = ""

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("name", &name) }
}

/// To `GET /destinations`.
package struct DestinationsAnswer: JSONRecord {
    package var destinations: [DestinationStatus] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("destinations", &destinations) }
}
