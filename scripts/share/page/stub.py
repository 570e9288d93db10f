"""A stand-in for upcastd's HTTP API, to work on the page at / without a daemon. Standard library only.

    python3 scripts/share/page/stub.py --port 9180 --state live
    curl -X POST 'http://127.0.0.1:9180/stub?state=recording&curtain=app&sound=silent'

state: what the daemon does; "reconnecting" has no destination that takes media, "recording" a file beside a dead server,
"congested" a server that is late. curtain: who holds it. sound: what the levels are. A missing one stays as it is.
The token is "token" unless --token says otherwise. Loopback only.
"""

import argparse
import datetime
import http.server
import json
import math
import pathlib
import random
import re
import struct
import threading
import time
import urllib.parse
import zlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Control/Resources/page.html"
STATES = ["idle", "starting", "live", "congested", "recording", "reconnecting", "paused", "draining", "stopping"]
DOWN = ("starting", "reconnecting", "recording")
APP = {"holder": "app:kiosk", "user": 1001, "reason": "password entry"}
OTHERS = [{"holder": "client", "user": None, "reason": ""}, {"holder": "app:wallet", "user": 1002, "reason": "the balance is shown"}]
OPERATOR = {"holder": "operator", "user": None, "reason": "status page"}
CURTAINS = {"down": [], "app": [APP], "operator": [OPERATOR], "several": [APP, *OTHERS]}
SOUNDS = ["both", "silent", "none"]
HOSTILE = "<img src=x onerror=\"window.hacked=1\"> \u202egnp.exe\u202c 'a\"b&amp;" + "W" * 120
MIB = 1 << 20


def picture(seed, width=640, height=360):
    """A PNG (a browser looks at the bytes) that looks a little like a screen."""
    rows = bytearray()
    shift = seed * 7 % 160
    for y in range(height):
        rows.append(0)
        row = bytearray()
        for x in range(width):
            if y < 22:
                color = (34, 38, 48)
            elif 60 + shift <= x < 340 + shift and 60 <= y < 260:
                color = (60, 92, 170) if y < 80 else (246, 246, 243) if (y // 9) % 2 or x > 300 + shift - y % 60 else (120, 124, 134)
            elif 420 <= x < 600 and 150 <= y < 330:
                color = (24, 28, 34) if y > 166 else (78, 84, 96)
            else:
                color = (70 + x // 8, 110 + y // 6, 150 + (x + y) // 14)
            row += bytes(color)
        rows += row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b"")


class Daemon:
    """What a daemon would say of itself, made up."""

    def __init__(self, state, hostile, age):
        self.pictures = [picture(seed) for seed in range(3)]
        self.lock = threading.Condition()
        self.began = time.monotonic() - age
        self.state, self.since = state, time.monotonic() - min(age, 424)
        self.hostile, self.sound = hostile, "both"
        # Holders, and since when each of them.
        self.holds = []
        self.air, self.air_since = "", self.since
        self.events = []
        self.random = random.Random(7)
        self.frames, self.counted = int(age * 30), self.uptime()
        self.rows = []
        for second in range(int(max(0, age - 600)), int(age)):
            self.rows.append(self.row(second * 1000))
        for name, level, fields in [
            ("ready", "notice", {"capture_socket": "/run/upcast/capture.sock", "destinations": ["main", "archive"]}),
            ("broadcast started", "info", {"broadcast": "5568-1", "client": self.client(), "source": "screen"}),
            ("destination live", "notice", {"destination": "main"}),
            ("destination live", "notice", {"destination": "archive"}),
            ("memory is short", "warning", {"step": "half_log", "limit": "memory.cap_bytes"}),
            ("memory is enough again", "notice", {}),
        ]:
            self.say(name, level, fields)
        if hostile:
            self.say("annotated", "info", {"key": HOSTILE, "__proto__": "<script>window.hacked = 1</script>"})

    def uptime(self):
        return int((time.monotonic() - self.began) * 1000)

    def client(self):
        return HOSTILE if self.hostile else "front-desk-kiosk"

    def say(self, message, level, fields):
        with self.lock:
            data = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                    "level": level, "event": message.replace(" ", "_"), "message": message, "fields": fields}
            number = self.events[-1][0] + 1 if self.events else 1
            self.events = self.events[-255:] + [(number, re.sub("[^a-z0-9]+", "_", message.lower()), json.dumps(data))]
            self.lock.notify_all()

    def hold(self, holders):
        """These hold the curtain from now on, and nobody else."""
        before = self.holds
        self.holds = [(h, next((since for other, since in before if other == h), time.monotonic())) for h in holders]
        if bool(before) != bool(holders):
            self.say("curtain raised" if holders else "curtain lowered", "notice", {"holder": (holders or [before[0][0]])[0]["holder"]})

    def on_air(self):
        """What viewers get, and since when."""
        if self.state in ("idle", "stopping"):
            air = "idle"
        elif self.state in DOWN:
            air = "off_air"
        else:
            air = "hidden" if self.holds else "impaired" if self.state == "congested" else "on_air"
        if air != self.air:
            self.air, self.air_since = air, self.air_since if not self.air else time.monotonic()
        return {"state": air, "since_ms": int((time.monotonic() - self.air_since) * 1000),
                "recording": self.state not in ("idle", "stopping", "starting", "reconnecting")}

    def levels(self, on):
        if not on or self.sound == "none":
            return []
        wave = math.sin(time.monotonic() * 1.7)
        app = {"source": "app", "peak_dbfs": round(-9 + 3 * wave, 1), "rms_dbfs": round(-21 + 2 * wave, 1), "silent_ms": 0}
        quiet = {"source": "microphone", "peak_dbfs": -71.4, "rms_dbfs": -78.2, "silent_ms": int((time.monotonic() - self.since) * 1000) + 42_000}
        loud = {"source": "microphone", "peak_dbfs": round(-26 + 5 * wave, 1), "rms_dbfs": round(-38 + 4 * wave, 1), "silent_ms": 0}
        if self.sound == "silent":
            app.update(peak_dbfs=-100, rms_dbfs=-100, silent_ms=int((time.monotonic() - self.since) * 1000) + 95_000)
        return [app, quiet if self.sound == "silent" else loud]

    def become(self, state):
        self.state, self.since = state, time.monotonic()
        if state in ("reconnecting", "recording"):
            why = '"main" (rtmps://live.example/app/***): the server closed the connection'
            fields = {"attempt": 1, "cause": "closed_by_server", "destination": "main", "now": "trying again in 2.00 s", "why": why}
            self.say("destination retrying", "warning", fields)
        elif state == "live":
            self.say("destination live", "notice", {"destination": "main"})
        else:
            self.say(f"broadcast {state}", "info", {"broadcast": "5568-1"})

    def row(self, uptime):
        """One second of history: uptime, bits, queue, frames, memory."""
        second = uptime / 1000
        noise = self.random.uniform(-1, 1)
        if self.state == "idle":
            return [uptime, 0, 0, 0, int(11.2 * MIB)]
        trouble = 200 < second % 500 < 230 or self.state in ("congested", *DOWN)
        bits = 0 if self.state == "reconnecting" else 1.9e6 + 4e5 * math.sin(second / 37) + 1.6e5 * noise - (9e5 if trouble else 0)
        queue = 2400 + 150 * noise if trouble else abs(12 * noise)
        return [uptime, max(0, int(bits)), int(queue), 30 + (noise > .9) - (noise < -.9),
                int((33.6 + .35 * math.sin(second / 90) + .05 * noise) * MIB)]

    def destination(self, name, url, state, **more):
        counters = {"connect": 0, "connection_lost": 0, "closed_by_server": 0}
        drops = {"video_late": 0, "video_disconnected": 0, "audio_disconnected": 0}
        record = {
            "name": name, "kind": re.match("rtmp|[a-z]+", url)[0], "url": url, "state": state, "down_ms": 0,
            "short_connections": 0, "last_error_age_ms": 0, "state_ms": int((time.monotonic() - self.since) * 1000),
            "bytes_sent": 98_234_112, "packets_sent": 40_213, "bytes_acknowledged": 98_100_000, "connects": 1,
            "failures": counters, "next_attempt_ms": 0, "drops": drops, "lag_ms": 38, "backlog_ms": 0, "backlog_bytes": 358,
            "last_error": None, "latency": {"path": "socket_to_wire", "average_us": 8951, "p50_us": 8704, "p99_us": 25600,
                                            "maximum_us": 54998},
        }
        for key in ("failures", "drops"):
            record[key].update(more.pop(key, {}))
        record.update(more)
        return record

    def status(self):
        now = time.monotonic()
        uptime, state = self.uptime(), self.state
        row = self.row(uptime)
        on = state not in ("idle", "stopping")
        if on and uptime > self.counted:
            self.frames += round((uptime - self.counted) * 30 / 1000)
        self.counted = max(uptime, self.counted)
        # An attempt lasts for some seconds; the outage is as old as the state.
        tries = "reconnecting" if now % 4 < 3 else "connecting"
        main = {"starting": "connecting", "reconnecting": tries, "recording": tries, "congested": "congested"}.get(state, "live" if on else "idle")
        archive = "failed" if state == "reconnecting" else "connecting" if state == "starting" else "live" if on else "idle"
        outage = int((now - self.since) * 1000) + 90_000
        trouble = {"failures": {"connect": 3, "closed_by_server": 1}, "drops": {"video_disconnected": 212, "audio_disconnected": 331},
                   "connects": 2, "last_error": '"main" (rtmp://live.example.com/app/***): the server refused the connection'
                   + ("; trying again in 23.030 s" if tries == "reconnecting" else ""), "last_error_age_ms": 12_300,
                   "lag_ms": 2410, "backlog_ms": 2380, "backlog_bytes": 731_112, "down_ms": outage, "state_ms": 700,
                   "next_attempt_ms": int(3000 - now * 1000 % 4000) if tries == "reconnecting" else 0} \
            if state in ("reconnecting", "recording") else {}
        if state == "congested":
            trouble = {"lag_ms": 2790, "backlog_ms": 2700, "backlog_bytes": 612_220, "drops": {"video_late": 61, "video_undecodable": 24}}
        destinations = [
            self.destination("main", "rtmp://live.example.com/app/***", main, **trouble),
            self.destination("archive", "file:/var/lib/upcast/archive.flv", archive,
                             **({"last_error": "no space left on the device", "failures": {"file": 1}, "down_ms": outage - 31_000,
                                 "last_error_age_ms": outage - 31_000} if state == "reconnecting" else {})),
        ]
        if state == "idle":
            # As the daemon has it before the first broadcast, and nothing of this.
            for one in destinations:
                one.update(state_ms=0, bytes_sent=0, backlog_bytes=0, connects=0)
        if self.hostile:
            destinations.append(self.destination(HOSTILE, "rtmp://" + "x" * 200, "congested", last_error=HOSTILE * 3, lag_ms=1800,
                                                 last_error_age_ms=4000))
        return {
            "version": "0.1.0", "state": {"recording": "live", "congested": "live"}.get(state, state), "state_ms": int((now - self.since) * 1000), "uptime_ms": uptime,
            "broadcasts": 3, "air": self.on_air(),
            "privacy": {"curtain": {"up": bool(self.holds), "holders": [
                {**holder, "held_ms": int((now - since) * 1000)} for holder, since in self.holds]}, "regions": [],
                "protections": [{"name": "curtain", "on": True, "held": False}], "audit_lost": 0},
            "process": {"cpu_ms": uptime // 12, "start_time_ms": 1_795_339_480_000, "open_fds": 31, "max_fds": 1024, "virtual_bytes": 210_000_000},
            "client": {"name": self.client(), "kind": "screen", "connected_ms": int((now - self.since) * 1000) + 353_000} if on else None,
            "video": {"width": 1280, "height": 720, "frame_rate": "30", "encoder": "libx264",
                      "effort": "normal", "configured_effort": "normal", "scaler": "native",
                      "source": "1920x1080 420v, rotate180" if on else "", "frames_received": self.frames,
                      "frames_encoded": self.frames, "frames_repeated": 412 if on else 0, "frames_unchanged": 96,
                      "frames_partial": 40, "keyframes": self.frames // 60, "bytes_encoded": 97_012_333, "target_bits_per_second": 2_500_000,
                      "frame_rate_divisor": 1, "bits_per_second": row[1]},
            "audio": {"sample_rate_hz": 48000, "channels": 2, "app_blocks_received": 19_830, "microphone_blocks_received": 0,
                      "samples_encoded": 20_352_000, "silence_samples": 0, "bytes_encoded": 6_721_233,
                      "target_bits_per_second": 128_000, "levels": self.levels(on)},
            "drops": {"video_superseded": 28 if on else 0, "video_above_frame_rate": 0, "video_paused": 62 if on else 0,
                      "video_curtained": 1064 if on else 0, "audio_late_frames": 0},
            "queue": {"ms": row[2], "bytes": row[2] * 300, "packets": row[2] // 12, "capacity_ms": 3000, "capacity_bytes": 2097152},
            "destinations": destinations,
            "memory": {"resident_bytes": row[4] + 6 * MIB, "peak_resident_bytes": int(41.3 * MIB), "anonymous_bytes": 25_104_384,
                       "plan_bytes": 37_194_550, "cap_bytes": 52_428_800,
                       "plan": {"baseline": 9_000_000, "video_encoder": 12_734_688, "packet_log": 2_124_752, "reserve": 500_000},
                       "limit": "memory.cap_bytes", "limit_bytes": 52_428_800, "needed_bytes": row[4], "given_up": {}, "bitrate_loss_percent": 0,
                       "steps_down": 1, "steps_up": 1},
            "timeline": {"jumps_forward": 0, "largest_drift_us": 656, "audio_latency_ms": 60, "app_drift_ppm": 3},
            "latency": [{"path": "socket_to_encoder", "average_us": 8952, "p50_us": 8704, "p99_us": 25600, "maximum_us": 48762}],
        }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    daemon = None
    token = ""

    def log_message(self, *_):
        pass

    def answer(self, code, body, kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.close_connection = True
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # Who asked has gone.
            pass

    def fail(self, code, name, message):
        self.answer(code, {"error": {"code": name, "message": message}})

    def admitted(self):
        if self.headers.get("Authorization") == f"Bearer {self.token}":
            return True
        self.fail(401, "unauthorized", "this needs the token")
        return False

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        daemon = self.daemon
        if url.path == "/":
            policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; " \
                "img-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            return self.answer(200, PAGE.read_bytes(), "text/html; charset=utf-8", Content_Security_Policy=policy)
        if not self.admitted():
            return None
        if url.path == "/status":
            return self.answer(200, daemon.status())
        if url.path == "/history":
            return self.answer(200, {"interval_ms": 1000, "rows": daemon.rows, "columns": [
                "uptime_ms", "video_bits_per_second", "queue_ms", "frames_per_second", "memory_bytes"]})
        if url.path == "/snapshot.jpg":
            if daemon.state in ("idle", "starting"):
                return self.fail(404, "snapshot_unavailable", "nothing has been encoded yet")
            return self.answer(200, daemon.pictures[int(time.monotonic() / 2) % 3], "image/png")
        if url.path == "/events":
            return self.follow(int(self.headers.get("Last-Event-ID") or 0), int(query.get("status", 0)) / 1000)
        return self.fail(404, "not_found", "there is nothing at this path")

    def follow(self, seen, interval):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        daemon, due = self.daemon, 0
        if daemon.events and seen > daemon.events[-1][0]:
            seen = 0
        try:
            while True:
                with daemon.lock:
                    fresh = [event for event in daemon.events if event[0] > seen]
                for number, name, data in fresh:
                    self.wfile.write(f"id: {number}\nevent: {name}\ndata: {data}\n\n".encode())
                    seen = number
                if interval and time.monotonic() >= due:
                    due = time.monotonic() + interval
                    text = f"event: status\ndata: {json.dumps(daemon.status())}\n\n".encode()
                    # In two pieces, as a network may cut it.
                    self.wfile.write(text[:401])
                    self.wfile.flush()
                    self.wfile.write(text[401:])
                self.wfile.flush()
                with daemon.lock:
                    daemon.lock.wait(min(.2, interval or 1))
        except OSError:
            pass

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        daemon = self.daemon
        if url.path == "/stub":
            for key, known in (("state", STATES), ("curtain", CURTAINS), ("sound", SOUNDS)):
                if query.get(key) not in (None, *known):
                    return self.fail(400, "bad_value", f"{key} is one of {', '.join(known)}")
            if "state" in query:
                daemon.become(query["state"])
            if "curtain" in query:
                daemon.hold(CURTAINS[query["curtain"]])
            daemon.sound = query.get("sound", daemon.sound)
            return self.answer(200, {})
        if not self.admitted():
            return None
        if url.path in ("/stop", "/pause", "/resume", "/keyframe"):
            if daemon.state == "idle":
                return self.fail(409, "no_broadcast", "there is no broadcast")
            change = {"/stop": "idle", "/pause": "paused", "/resume": "live"}.get(url.path)
            if change:
                daemon.become(change)
            return self.answer(200, {})
        holders = [holder for holder, _ in daemon.holds]
        if url.path == "/curtain/up":
            daemon.hold([*(h for h in holders if h != OPERATOR), OPERATOR])
            return self.answer(200, {"up": True, "taken_back_video_packets": 2, "taken_back_audio_packets": 3,
                                     "last_pts_ms": {"main": 353_000}, "kept_until_ms": None, "persisted": True})
        if url.path == "/curtain/down":
            released = OPERATOR in holders
            daemon.hold([h for h in holders if h != OPERATOR])
            return self.answer(200, {"up": bool(daemon.holds), "released": released, "persisted": True})
        if url.path == "/bitrate":
            daemon.say("bitrate ceiling set", "notice", {"kbps": (json.loads(body or "{}").get("bits_per_second") or 2_500_000) // 1000})
            return self.answer(200, {})
        if url.path == "/destinations/retry":
            daemon.say("destination notice", "notice", {"destination": query.get("name", ""), "what": "trying again now, as asked"})
            return self.answer(200, {})
        return self.fail(404, "not_found", "there is nothing at this path")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9180)
    parser.add_argument("--state", choices=STATES, default="live")
    parser.add_argument("--token", default="token")
    parser.add_argument("--age", type=int, default=3700, help="seconds that the daemon is said to have run")
    parser.add_argument("--hostile", action="store_true", help="names that try to become markup")
    options = parser.parse_args()
    Handler.daemon = Daemon(options.state, options.hostile, options.age)
    Handler.token = options.token

    def keep_history():
        while True:
            time.sleep(1)
            daemon = Handler.daemon
            daemon.rows = daemon.rows[-599:] + [daemon.row(daemon.uptime())]

    threading.Thread(target=keep_history, daemon=True).start()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{options.port}/#token={options.token}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
