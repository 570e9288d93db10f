"""Everybody in a memory cgroup of a profile's memory.cap_bytes without swap: 1920x1080 at 30 frames a second with motion,
TLS, an uplink that stalls for a minute in the middle, a device that turns, and somebody who asks for the status all the
time.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

import cgroup
import contenders
import material

WIDTH, HEIGHT, KBPS = 1920, 1080, 6000
STALL = 60
_PROFILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Config/profiles")


class Box(cgroup.Cgroup):
    """A memory cgroup without swap."""

    def __init__(self, limit_bytes):
        super().__init__("memory", "box")
        limit, swap = ("max", "swap.max") if self.unified else ("limit_in_bytes", "memsw.limit_in_bytes")
        self.write(limit, str(limit_bytes))
        if self.has(swap):
            self.write(swap, "0" if self.unified else str(limit_bytes))

    def peak(self):
        return int(self.read("max_usage_in_bytes", "peak") or 0)

    def anonymous(self):
        fields = dict(line.split() for line in self.read("stat").splitlines() if len(line.split()) == 2)
        return int(fields.get("total_rss") or fields.get("anon") or 0)

    def kills(self):
        for line in self.read("oom_control", "events").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0


class Uplink:
    """TLS to the server of `port`, through a proxy that can stall."""

    def __init__(self, folder, port, bin_dir):
        self.folder = folder
        self._certificates()
        self.tls = self._free_port()
        with open(folder + "/stunnel.conf", "w") as file:
            file.write(
                f"foreground = yes\npid =\n[rtmps]\naccept = 127.0.0.1:{self.tls}\nconnect = 127.0.0.1:{port}\n"
                f"cert = {folder}/server.pem\n")
        with open(folder + "/stunnel.log", "w") as log:
            self.stunnel = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "stunnel4", folder + "/stunnel.conf"], stdout=log, stderr=log)
        self.proxy = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", bin_dir + "/fault-proxy", "--to", str(self.tls)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.proxy.stdout.readline().split()[1])

    @staticmethod
    def _free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def _certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, cwd=self.folder, stderr=subprocess.DEVNULL)

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=bench CA", "-days", "2")
        openssl("req", "-new", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
        with open(self.folder + "/server.ext", "w") as file:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile",
                "server.ext", "-out", "server.crt", "-days", "2")
        with open(self.folder + "/server.pem", "w") as target:
            for name in ("server.crt", "server.key"):
                with open(f"{self.folder}/{name}") as source:
                    target.write(source.read())

    def say(self, command):
        self.proxy.stdin.write(command + "\n")
        self.proxy.stdin.flush()

    def stop(self):
        self.proxy.stdin.close()
        self.proxy.wait(10)
        self.stunnel.send_signal(signal.SIGTERM)
        self.stunnel.wait(10)


class _Control(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(5)
        self.sock.connect(self.path)


def status(path):
    control = _Control(path)
    try:
        control.request("GET", "/status")
        return json.loads(control.getresponse().read())
    finally:
        control.close()


def _drop_caches(program):
    """Pages are charged to whoever touches them first: the program's and its libraries' must not be there already."""
    listing = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    files = [program] + [word for line in listing.splitlines() for word in line.split() if word.startswith("/")]
    for file in files:
        subprocess.run(["dd", f"if={file}", "iflag=nocache", "count=0", "status=none"], stderr=subprocess.DEVNULL)


def profiles():
    """The names of Config/profiles."""
    return sorted(name.removesuffix(".yaml") for name in os.listdir(_PROFILES))


def profile(name):
    """What a file of Config/profiles sets, by section: what is measured is what is shipped."""
    sections, section = {}, None
    with open(f"{_PROFILES}/{name}.yaml") as file:
        for line in file:
            key, _, value = line.rstrip().partition(":")
            if not key or key.startswith("#"):
                continue
            if not key.startswith(" "):
                section = sections.setdefault(key, {})
            elif not key.lstrip().startswith("- ") and not key.startswith("    "):
                section[key.strip()] = value.strip()
    del sections["destinations"]
    sections.setdefault("memory", {}).setdefault("cap_bytes", "50MiB")
    return sections


def limit(options):
    """memory.cap_bytes of a profile, in bytes."""
    return int(options["memory"]["cap_bytes"].removesuffix("MiB")) << 20


def of_upcast(bin_dir, options, nginx, video, audio, seconds, folder, say):
    """The daemon in the box, its client outside; what it came to."""
    os.makedirs(folder, exist_ok=True)
    box, uplink = Box(limit(options)), Uplink(folder, nginx.port, bin_dir)
    figures = {"who": "upcast", "seconds": seconds, "polls": 0, "peak_needed": 0, "peak_anonymous": 0, "steps": []}
    options["video"]["adaptive"] = "true"
    contender = contenders.Upcast(bin_dir, options={
        **options, "destination": {"ca_file": folder + "/ca.pem"}})
    task = contenders.Task(
        video, *audio, WIDTH, HEIGHT, KBPS, seconds, f"rtmps://localhost:{uplink.port}/live/box", turned=False)
    try:
        _drop_caches(bin_dir + "/upcastd")
        daemon = contender.start(task, folder, box.path)
        client = contender.client(task, folder, ["--loop", "--orientation", "cycle:3"])
        start, stalled, recovered = time.monotonic(), None, None
        while not client.has_ended() and time.monotonic() - start < seconds + 60:
            elapsed = time.monotonic() - start
            if stalled is None and elapsed >= (seconds - STALL) / 2:
                stalled = elapsed
                uplink.say("stall")
                say(f"box: the uplink stalls at {elapsed:.0f} s")
            elif stalled is not None and recovered is None and elapsed >= stalled + STALL:
                recovered = elapsed
                uplink.say("resume")
                say(f"box: the uplink is back at {elapsed:.0f} s")
            try:
                now = status(folder + "/control.sock")
            except (OSError, ValueError, http.client.HTTPException) as error:
                figures.setdefault("unanswered", []).append(f"{elapsed:.1f} s: {error!r}")
                time.sleep(0.2)
                continue
            figures["polls"] += 1
            memory, main = now["memory"], now["destinations"][0]
            figures["peak_needed"] = max(figures["peak_needed"], memory["needed_bytes"])
            figures["peak_anonymous"] = max(figures["peak_anonymous"], box.anonymous())
            steps = list(memory["given_up"])
            if steps != (figures["steps"][-1][1] if figures["steps"] else []):
                figures["steps"].append((round(elapsed, 1), steps))
            if recovered and "live_again" not in figures and main["state"] == "live":
                figures["live_again"] = round(elapsed - recovered, 1)
            figures["last"] = now
            time.sleep(0.2)
        code, _ = client.wait(30)
        figures["client"] = "ended well" if code == 0 else client.last_words()
        figures["peak_resident"] = daemon.peak
        daemon.signal(signal.SIGTERM)
        figures["status"], figures["cpu"] = daemon.wait(30)
        figures["peak_charged"], figures["kills"] = box.peak(), box.kills()
    finally:
        uplink.stop()
        box.remove()
    return figures


def of_rival(rival, bin_dir, limit_bytes, nginx, video, audio, seconds, folder):
    """A rival in a box of its own: how it ends, and when."""
    os.makedirs(folder, exist_ok=True)
    box, uplink = Box(limit_bytes), Uplink(folder, nginx.port, bin_dir)
    task = contenders.Task(
        video, *audio, WIDTH, HEIGHT, KBPS, seconds, f"rtmps://localhost:{uplink.port}/live/{rival.name}", turned=False)
    try:
        start = time.monotonic()
        process = rival.start(task, folder, box.path)
        code, _ = process.wait(seconds + 60)
        lasted = time.monotonic() - start
        kills = box.kills()
        end = "killed by the kernel for want of memory" if kills else (
            f"ended with status {code}: {process.last_words()[-200:].strip()}")
        return {"who": rival.name, "seconds": round(lasted, 1), "end": end, "kills": kills,
                "peak_charged": box.peak(), "peak_resident": process.peak}
    finally:
        uplink.stop()
        box.remove()


def run(bin_dir, name, nginx, folder, seconds, say, film=None):
    """The whole comparison. Ten seconds of pictures go round and round."""
    length = min(10, seconds)
    video, audio = material.make("motion", length, folder, film=film), material.make_audio(length, folder)
    results, options = [], profile(name)
    try:
        # What has to be killed must not take ten minutes where it is not.
        for rival in (contenders.FFmpeg(), contenders.GStreamer()):
            results.append(of_rival(rival, bin_dir, limit(options), nginx, video, audio, length, f"{folder}/box-{rival.name}"))
            say(f"box: {rival.name} after {results[-1]['seconds']} s: {results[-1]['end']}")
        results.append(of_upcast(bin_dir, options, nginx, video, audio, seconds, folder + "/box-upcast", say))
    finally:
        os.unlink(video)
    return results


def text(results, name):
    lines = [f"in a memory cgroup of {limit(profile(name))} bytes ({name}.yaml), no swap, {WIDTH}x{HEIGHT} at 30 frames a "
             "second, TLS:"]
    for one in results:
        if one["who"] != "upcast":
            lines.append(
                f"  {one['who']}: after {one['seconds']} s {one['end']}; peak {one['peak_charged'] / 2**20:.1f} MiB charged")
            continue
        last = one.get("last", {})
        video, main = last.get("video", {}), (last.get("destinations") or [{}])[0]
        drops = {name: value for name, value in last.get("drops", {}).items() if value}
        lines += [
            f"  upcast: {one['seconds']} s with a stall of {STALL} s, killed {one['kills']} times, exit status "
            f"{one['status']}, client {one['client']}",
            f"    memory: {one['peak_resident'] / 2**20:.1f} MiB peak resident, {one['peak_anonymous'] / 2**20:.1f} "
            f"anonymous, {one['peak_needed'] / 2**20:.1f} needed, {one['peak_charged'] / 2**20:.1f} charged with page cache",
            f"    steps taken: {one['steps'] or 'none'}",
            f"    frames: {video.get('frames_received')} received, {video.get('frames_encoded')} encoded, dropped "
            f"{drops or 'none'}",
            f"    destination: {main.get('connects')} connects, live {one.get('live_again')} s after the stall, left out "
            f"{ {name: value for name, value in main.get('drops', {}).items() if value} }",
            f"    latency to the wire: p50 {main.get('latency', {}).get('p50_us', 0) / 1000:.1f} ms, "
            f"p99 {main.get('latency', {}).get('p99_us', 0) / 1000:.1f} ms; status asked {one['polls']} times, "
            f"{len(one.get('unanswered', []))} without an answer",
        ]
    return "\n".join(lines)
