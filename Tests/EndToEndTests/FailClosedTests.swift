import Foundation
import Glibc
import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: whoever dies, and wherever memory ends, what was named as private is not shown.
@Suite struct FailClosedTests {
    /// A coloured rectangle on grey, as raw pictures in a file: two, so that no two in a row look the same.
    private static let place = (x: 100, y: 60, width: 80, height: 60)

    private static func picture(_ grey: Float) -> RGBImage {
        var image = RGBImage(width: 320, height: 180, filling: RGB(grey, grey, grey))
        for row in place.y..<(place.y + place.height) {
            for column in place.x..<(place.x + place.width) {
                image[column, row] = (row / 4 + column / 4) % 2 == 0 ? RGB(1, 0, 1) : RGB(0, 1, 0)
            }
        }
        return image
    }

    /// Frames with colour in them, of all the recordings in a folder; and all frames.
    private func frames(in folder: TemporaryDirectory) throws -> (colored: Int, all: Int) {
        var (colored, all) = (0, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".flv") {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.size] as? Int ?? 0
            guard size > 256 else { continue }
            try DecodedVideo.forEachFrame(of: folder.file(name)) { frame in
                all += 1
                colored += frame.image.isColored ? 1 : 0
            }
        }
        return (colored, all)
    }

    /// The real client is killed at any moment, within a picture, too, in shared memory and through the socket.
    @Test(.inItsTurn, arguments: ["--shared-memory", "--no-shared-memory"])
    func aClientThatIsKilled(way: String) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("killed")
            let raw = folder.file("pictures.i420")
            let pictures = [Float(0.3), 0.6].map { RawSample(Self.picture($0), format: .i420) }
            #expect(FileManager.default.createFile(atPath: raw, contents: Data(pictures.flatMap(\.payload))))
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            // In strict order pictures wait for sound, of which there is none, and the curtain takes back what waits.
            settings.buffer["interleave"] = "low_latency"
            let daemon = try Daemon(settings)
            var random = SplitMix64(drawnFor: way)
            let place = "\(Self.place.width)x\(Self.place.height)+\(Self.place.x)+\(Self.place.y)"
            for _ in 0..<4 {
                let client = try ChildProcess(
                    ProductExecutable.upcastSend.path,
                    [
                        "--socket", daemon.ingestSocket, "--video", raw, "--format", "I420", "--size", "320x180",
                        "--rate", "60", "--loop", "--quiet", "--secure", place, way,
                    ])
                try waitFor("pictures to be encoded", evidence: { client.errorTail }) {
                    try daemon.encodedPictures() > 5
                }
                usleep(.random(in: 0...120_000, using: &random))
                client.signal(SIGKILL)
                try waitFor("the curtain and the end of the broadcast") {
                    let status = try daemon.status()
                    let curtain = (status["privacy"] as? [String: Any])?["curtain"] as? [String: Any]
                    return status["state"] as? String == "idle" && curtain?["up"] as? Bool == true
                }
            }
            let (colored, all) = try frames(in: folder)
            #expect(colored == 0, "of \(all)")
            #expect(all > 20)
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// An app is killed while it asks: whatever became of its request, what was answered holds, and is held on.
    @Test(.inItsTurn) func anAppThatIsKilled() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("app")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            var random = SplitMix64(drawnFor: "an app that is killed")
            var answered: [String] = []
            for number in 0..<12 {
                let app = try ChildProcess(
                    ProductExecutable.upcastctl.path,
                    [
                        "region", "add", "r\(number)", "0", "0", "10", "10", "--app", "kiosk", "--socket",
                        daemon.controlSocket,
                    ])
                if number % 3 > 0 {
                    usleep(.random(in: 0...60_000, using: &random))
                } else {
                    _ = app.waitForExit(within: 10)
                }
                if try app.stop(SIGKILL) == .code(0) { answered.append("r\(number)") }
            }
            let privacy = try daemon.status()["privacy"] as? [String: Any]
            let kept = (privacy?["regions"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
            #expect(answered.count >= 4)
            #expect(Set(answered).isSubset(of: kept), "\(answered) of \(kept)")
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// Fails one allocation of the process it is loaded into: the nth after a file says n.
    private static let shim = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdatomic.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        extern void *__libc_malloc(size_t);
        extern void *__libc_calloc(size_t, size_t);
        extern void *__libc_realloc(void *, size_t);
        extern void *__libc_memalign(size_t, size_t);
        static atomic_int *count;
        __attribute__((constructor)) static void begin(void) {
            int file = open(getenv("SHIM_FILE"), O_RDWR);
            void *place = file < 0 ? MAP_FAILED : mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (place != MAP_FAILED) count = place;
        }
        static int fails(void) {
            if (!count || atomic_load(count) <= 0) return 0;
            if (atomic_fetch_sub(count, 1) != 1) return 0;
            errno = ENOMEM;
            return 1;
        }
        void *malloc(size_t n) { return fails() ? 0 : __libc_malloc(n); }
        void *calloc(size_t n, size_t m) { return fails() ? 0 : __libc_calloc(n, m); }
        void *realloc(void *p, size_t n) { return fails() ? 0 : __libc_realloc(p, n); }
        void *aligned_alloc(size_t a, size_t n) { return fails() ? 0 : __libc_memalign(a, n); }
        int posix_memalign(void **p, size_t a, size_t n) {
            if (fails()) return ENOMEM;
            return (*p = __libc_memalign(a, n)) ? 0 : ENOMEM;
        }
        """

    /// One allocation fails while regions are taken in and the picture is shown: the daemon may end, and shows nothing.
    @Test(.inItsTurn, .enabled(if: Patience.factor == 1, "a sanitizer has an allocator of its own"))
    func anAllocationThatFails() async throws {
        try await blocking {
            let tools = try TemporaryDirectory("shim")
            try tools.write(Self.shim, to: "shim.c")
            _ = try ChildProcess.run(
                "clang", ["-shared", "-fPIC", "-O1", "-o", tools.file("shim.so"), tools.file("shim.c"), "-ldl"])
            var random = SplitMix64(drawnFor: "an allocation that fails")
            var (ended, seen) = (0, 0)
            for round in 0..<6 {
                let folder = try TemporaryDirectory("failing")
                let file = folder.file("count")
                #expect(FileManager.default.createFile(atPath: file, contents: Data(count: 4096)))
                var settings = DaemonSettings()
                // The daemon may end after 0.2 s: in strict order the first picture would still wait for sound then.
                settings.buffer = ["interleave": "low_latency"]
                settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
                let daemon = try Daemon(
                    settings, environment: ["LD_PRELOAD": tools.file("shim.so"), "SHIM_FILE": file])
                let client = try CaptureClient(socket: daemon.ingestSocket)
                try client.start()
                let playback = Playback(client)
                var regions = SecureRegions()
                regions.hide(
                    x: Self.place.x, y: Self.place.y, width: Self.place.width, height: Self.place.height,
                    pictureWidth: 320, pictureHeight: 180)
                let descriptor = open(file, O_WRONLY)
                // While it is alive: whoever writes to a daemon that has ended hears of it.
                do {
                    for number in 0..<40 {
                        if number == 10 {
                            var nth = round < 2 ? Int32(1) : Int32.random(in: 1...30, using: &random)
                            #expect(write(descriptor, &nth, 4) == 4)
                        }
                        if number == 12 {
                            // In the standing way, too, which allocates.
                            _ = try? UnixHTTPClient.ask(
                                "POST", "/regions",
                                body: #"{"name": "a", "x": 0.3, "y": 0.3, "width": 0.3, "height": 0.4}"#,
                                socket: daemon.controlSocket)
                        }
                        let sample = RawSample(Self.picture(number % 2 == 0 ? 0.3 : 0.6), format: .i420)
                        try client.send(sample, pts: playback.now, hiding: regions)
                        usleep(20_000)
                    }
                    try client.finish()
                } catch { ended += 1 }
                close(descriptor)
                if daemon.process.isRunning { _ = try daemon.terminate() }
                _ = daemon.process.waitForExit(within: 10)
                let (colored, all) = try frames(in: folder)
                #expect(colored == 0, "round \(round): \(colored) of \(all)")
                seen += all
            }
            #expect(seen > 0)
            print("in \(ended) of 6 rounds the daemon ended; \(seen) frames")
        }
    }
}
