import FaultProxy
import MediaCore
import TestSupport

extension FaultCase {
    /// Everything that the bench can do.
    static let all: [FaultCase] = [
        FaultCase(name: "throttle", summary: "the uplink carries 8, 1, 0.3, then 8 Mbit/s again") { stage, pace in
            for (rate, long, short) in [(8_000_000, 10.0, 2.0), (1_000_000, 15, 4), (300_000, 15, 4)] {
                try stage.link(.rate(rate))
                try stage.wait(pace.span(long, short))
                stage.promise(
                    rate < 2_500_000 || stage.bitrateShare > 0.8,
                    "\(rate) b/s carry it all, but the encoder is asked for less")
            }
            try stage.link(.rate(8_000_000))
            stage.linkIsBack()
        },
        FaultCase(name: "steady", summary: "the uplink carries 1 Mbit/s for a while, then 8") { stage, pace in
            try stage.link(.rate(1_000_000))
            // What the link carries is known when it was asked for too much: the bitrate has risen, and falls.
            var (last, hasRisen) = (stage.bitrateShare, false)
            for _ in 0..<90 {
                try stage.wait(0.5)
                let share = stage.bitrateShare
                if hasRisen, share < last { break }
                hasRisen = hasRisen || share > last
                last = share
            }
            var shares: [Double] = []
            for _ in 0..<Int(pace.span(160, 20)) {
                try stage.wait(0.5)
                shares.append(stage.bitrateShare)
            }
            let mean = shares.reduce(0, +) / Double(shares.count)
            // 872 kbit/s of video are 0.35 of what is configured.
            stage.promise(mean > 0.24 && mean < 0.36, "the bitrate settled at \(mean)")
            let (least, most) = (shares.min() ?? 0, shares.max() ?? 0)
            stage.promise(least > mean * 0.5 && most < mean * 1.4, "the bitrate swings: \(shares)")
            try stage.link(.rate(8_000_000))
            stage.linkIsBack()
        },
        FaultCase(name: "stall", summary: "nothing moves, the connection stays") { stage, pace in
            try stage.link(.stall)
            try stage.wait(pace.span(10, 7))
            try stage.link(.resume)
            stage.linkIsBack()
        },
        FaultCase(name: "stall-brief", summary: "nothing moves for 2 s") { stage, _ in
            try stage.link(.stall)
            try stage.wait(2)
            try stage.link(.resume)
            stage.linkIsBack()
        },
        FaultCase(name: "blackhole", summary: "everything is swallowed, nothing answers", mustReconnect: true) {
            stage, pace in
            try stage.link(.blackhole)
            try stage.wait(pace.span(20, 6))
            try stage.link(.resume)
            stage.linkIsBack()
        },
        FaultCase(name: "reset", summary: "the connection is reset", mustReconnect: true) { stage, _ in
            stage.linkIsBack()
            try stage.link(.reset)
        },
        FaultCase(name: "cut", summary: "the connection breaks inside a chunk", mustReconnect: true) { stage, _ in
            // No packet of the broadcast begins or ends at such a number.
            try stage.schedule("77777B reset")
            stage.linkIsBack()
        },
        FaultCase(
            name: "corrupt-up", summary: "20 bytes to the server are inverted", mustDecode: false
        ) { stage, _ in
            try stage.link(.corrupt(.up, bytes: 20))
            stage.linkIsBack()
        },
        FaultCase(name: "corrupt-down", summary: "20 bytes from the server are inverted") { stage, _ in
            try stage.link(.corrupt(.down, bytes: 20))
            stage.linkIsBack()
        },
        FaultCase(name: "delay", summary: "300 ms more each way") { stage, pace in
            try stage.link(.delay(.milliseconds(300)))
            try stage.wait(pace.span(15, 4))
            try stage.link(.delay(.zero))
            stage.linkIsBack()
        },
        FaultCase(name: "server-killed", summary: "the server is killed, and back 5 s later", mustReconnect: true) {
            stage, pace in
            try stage.server.kill()
            try stage.wait(pace.span(5, 3))
            try stage.server.restart()
            stage.linkIsBack()
        },
        FaultCase(
            name: "ffmpeg-killed", summary: "as before, the server is ffmpeg", server: .ffmpeg, mustReconnect: true
        ) { stage, pace in
            try stage.server.kill()
            try stage.wait(pace.span(5, 2))
            try stage.server.restart()
            stage.linkIsBack()
        },
        FaultCase(name: "server-stopped", summary: "the server's process is stopped (SIGSTOP)") { stage, pace in
            stage.server.freeze()
            try stage.wait(pace.span(60, 12))
            stage.server.thaw()
            stage.linkIsBack()
        },
        FaultCase(
            name: "refused", summary: "100 connects in a row are refused",
            destinationFields: ["reconnect_first_ms": "50", "reconnect_longest_ms": "60"], mustReconnect: true
        ) { stage, pace in
            try stage.link(.refuse)
            try stage.link(.reset)
            let wanted = pace.isShort ? 40 : 100
            try waitFor("\(wanted) refused connects", within: 60, evidence: { stage.statusText }) {
                stage.failures("connect") >= wanted
            }
            try stage.link(.listen)
            stage.linkIsBack()
        },
        FaultCase(
            name: "syn-swallowed", summary: "the address answers no SYN when the broadcast begins",
            destinationFields: ["connect_timeout_ms": "2000"], before: .unreachable
        ) { stage, pace in
            try waitFor("attempts to fail", within: 60, evidence: { stage.statusText }) {
                stage.failures("connect_timeout") >= (pace.isShort ? 1 : 3)
            }
            try stage.link(.listen)
            stage.linkIsBack()
        },
        FaultCase(
            name: "no-name", summary: "another destination's name does not resolve",
            otherDestinations: [("nowhere", "rtmp://nonexistent.invalid/live")], maximumGap: .milliseconds(500)
        ) { stage, pace in
            try waitFor("the other to fail", within: 60, evidence: { stage.statusText }) {
                stage.failures("name_resolution", of: "nowhere") >= (pace.isShort ? 1 : 3)
            }
            stage.linkIsBack()
        },
        FaultCase(
            name: "one-dead", summary: "another destination refuses for ever",
            otherDestinations: [("dead", "rtmp://127.0.0.1:9/live")], maximumGap: .milliseconds(500)
        ) { stage, pace in
            try stage.wait(pace.span(15, 4))
            stage.linkIsBack()
        },
    ]
}
