/// The answer to a command that changes state that outlives the daemon.
package protocol KeptAnswer: JSONRecord {
    /// Whether a restart of the daemon keeps the change; nil without a state file.
    var persisted: Bool? { get set }
}

/// The answer to commands that have nothing to report.
package struct DoneAnswer: JSONRecord {
    package init() {}
    package mutating func visit(_ fields: inout JSONFields) {}
}

/// The answer to `POST /regions` and `DELETE /regions`.
package struct RegionAnswer: KeptAnswer {
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("persisted", &persisted) }
}

/// What had already left when the curtain was raised.
package struct CurtainRaisedReport: JSONRecord {
    /// Packets that waited to be sent and were taken back.
    package var videoPackets = 0
    package var audioPackets = 0
    /// The presentation time of the last packet that went to each destination; nil for none.
    package var lastPTS: [DestinationTime] = []
    /// Older packets up to this time, in milliseconds, are not taken back, and still go out; nil for none.
    package var keptUntil: Int?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("taken_back_video_packets", &videoPackets)
        fields("taken_back_audio_packets", &audioPackets)
        fields("last_pts_ms", &lastPTS)
        fields("kept_until_ms", &keptUntil)
    }
}

/// The answer to `POST /curtain/up`.
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

/// The answer to `POST /curtain/down`.
package struct CurtainDownAnswer: KeptAnswer {
    /// Whether other holders keep the curtain up.
    package var isUp = false
    /// Whether any hold was released.
    package var isReleased = false
    package var persisted: Bool?

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) {
        fields("up", &isUp)
        fields("released", &isReleased)
        fields("persisted", &persisted)
    }
}

/// The answer to `POST /protections`.
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

/// The answer to `POST /state/release`.
package struct ReleaseAnswer: JSONRecord {
    /// Whether the daemon waited for the release.
    package var isReleased = false

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("released", &isReleased) }
}

/// The answer to `POST /log-level`.
package struct LogLevelAnswer: JSONRecord {
    package var level = ""

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("level", &level) }
}

/// The answer to `POST /reload`.
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

/// The answer to `POST /destinations`.
package struct DestinationAddedAnswer: JSONRecord {
    package var name = ""

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("name", &name) }
}

/// The answer to `GET /destinations`.
package struct DestinationsAnswer: JSONRecord {
    package var destinations: [DestinationStatus] = []

    package init() {}

    package mutating func visit(_ fields: inout JSONFields) { fields("destinations", &destinations) }
}
