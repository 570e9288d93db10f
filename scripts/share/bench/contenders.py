"""Who does the work: each takes raw files in real time, turns and scales, mixes, encodes, and publishes by RTMP."""

import os
import re
import resource
import signal
import subprocess
import threading
import time

import material


class Task:
    """One broadcast to be made: what, how large, how fast, where to. `source` is the size of the raw pictures."""

    def __init__(self, video, app, mic, width, height, kbps, seconds, url, turned=True, rate=material.RATE,
                 source=(material.WIDTH, material.HEIGHT)):
        self.video, self.app, self.mic = video, app, mic
        self.width, self.height, self.kbps, self.seconds = width, height, kbps, seconds
        self.url, self.turned, self.rate, self.source = url, turned, rate, source


class Result:
    """Processor seconds of a run, its peak resident bytes, frames that it says it left out, and whether it ended well."""

    def __init__(self):
        self.cpu = 0.0
        self.client_cpu = 0.0
        self.peak = 0
        self.left_out = 0
        self.note = ""


def _own_environment():
    """Without the caller's keys of the configuration: the bench measures the settings that it writes."""
    return {name: value for name, value in os.environ.items() if not name.startswith("UPCAST_")}


class Process:
    """A child whose processor time and peak resident set are taken when it ends."""

    def __init__(self, command, log, group=None, stdin=subprocess.DEVNULL):
        def enter():
            if group:
                with open(os.path.join(group, "cgroup.procs"), "w") as file:
                    file.write(str(os.getpid()))

        self.log = log
        with open(log, "wb") as out:
            self.child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command], stdin=stdin, stdout=out, stderr=out, preexec_fn=enter,
                env=_own_environment())
        self.peak = 0
        self._watching = True
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def _look(self):
        while self._watching:
            self.look()
            time.sleep(0.1)

    def look(self):
        try:
            with open(f"/proc/{self.child.pid}/status") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        self.peak = max(self.peak, int(line.split()[1]) * 1024)
        except OSError:
            pass

    def has_ended(self):
        """Without taking its status and times away from `wait`."""
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def signal(self, number):
        """Popen.send_signal would take the status of a process that has ended."""
        if not self.has_ended():
            os.kill(self.child.pid, number)

    def wait(self, timeout):
        """The exit status and the processor seconds; the process is killed when it takes longer."""
        deadline = time.monotonic() + timeout
        while True:
            pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.signal(signal.SIGKILL)
                pid, status, usage = os.wait4(self.child.pid, 0)
                break
            time.sleep(0.01)
        self._watching = False
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return self.child.returncode, usage.ru_utime + usage.ru_stime

    def last_words(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-600:]


class Upcast:
    name = "upcast"

    def __init__(self, bin_dir, name="upcast", options=None, destinations=1):
        self.bin, self.name, self.options, self.destinations = bin_dir, name, options or {}, destinations
        # The folder of a cgroup for the daemon.
        self.group = None

    def start(self, task, folder, group=None, video=True):
        os.makedirs(folder, exist_ok=True)
        config = os.path.join(folder, "upcastd.yaml")
        sections = {
            "video": {
                "width": task.width, "height": task.height, "bitrate_kbps": task.kbps, "adaptive": "false",
                "frame_rate": task.rate, **self.options.get("video", {})},
            "ingest": {"socket": folder + "/capture.sock"},
            "control": {"socket": folder + "/control.sock"},
            "memory": {"cap_bytes": 209715200, **self.options.get("memory", {})},
        }
        for section, values in self.options.items():
            if section not in ("video", "memory", "destination"):
                sections.setdefault(section, {}).update(values)
        with open(config, "w") as file:
            for section, values in sections.items():
                file.write(section + ":\n")
                for key, value in values.items():
                    file.write(f"  {key}: {value}\n")
            application, key = task.url.rsplit("/", 1)
            file.write("destinations:\n")
            for number in range(self.destinations):
                path = f"{folder}/key{number}"
                file.write(f"  - name: bench{number}\n    url: {application}\n    key_file: {path}\n")
                for line in self.options.get("destination", {}).items():
                    file.write("    %s: %s\n" % line)
                with open(path, "w") as secret:
                    secret.write(key + (f"-{number}" if number else "") + "\n")
        daemon = Process([self.bin + "/upcastd", "--config", config], folder + "/upcastd.log", group)
        deadline = time.monotonic() + 15
        while not os.path.exists(folder + "/capture.sock"):
            if time.monotonic() > deadline or daemon.has_ended():
                raise RuntimeError("upcastd did not start: " + daemon.last_words())
            time.sleep(0.02)
        return daemon

    def client(self, task, folder, options=()):
        command = [
            self.bin + "/upcast-send", "--quiet", "--socket", folder + "/capture.sock", "--video", task.video,
            "--format", "420v", "--size", "%dx%d" % task.source, "--rate", str(task.rate),
            "--orientation", "right" if task.turned else "up", "--app-audio", task.app, "--app-audio-format",
            "s16be,44100,2", "--mic", task.mic, "--mic-format", "s16le,48000,1", "--seconds", str(task.seconds), *options]
        return Process(command, folder + "/upcast-send.log")

    def run(self, task, folder, client_options=()):
        result = Result()
        daemon = self.start(task, folder, self.group)
        client = self.client(task, folder, client_options)
        status, result.client_cpu = client.wait(task.seconds + 30)
        if status != 0:
            result.note = "upcast-send: " + client.last_words()
        daemon.look()
        daemon.signal(signal.SIGTERM)
        status, result.cpu = daemon.wait(20)
        result.peak = daemon.peak
        with open(daemon.log, errors="replace") as file:
            result.left_out = sum(int(count) for count in re.findall(r" frames_dropped=(\d+)", file.read()))
        if status != 0 and not result.note:
            result.note = "upcastd: " + daemon.last_words()
        return result


class _OneProcess:
    def start(self, task, folder, group=None):
        os.makedirs(folder, exist_ok=True)
        return Process(self.command(task), folder + f"/{self.name}.log", group)

    def run(self, task, folder):
        result = Result()
        process = self.start(task, folder)
        status, result.cpu = process.wait(task.seconds + 60)
        result.peak = process.peak
        if status != 0:
            result.note = process.last_words()
        return result


class FFmpeg(_OneProcess):
    name = "ffmpeg"

    def command(self, task):
        turn = "transpose=clock," if task.turned else ""
        filters = (
            f"[0:v]{turn}scale={task.width}:{task.height},format=yuv420p[v];"
            "[1:a]aresample=48000[app];[2:a]aresample=48000,pan=stereo|c0=c0|c1=c0[mic];"
            "[app][mic]amix=inputs=2:normalize=0[a]")
        return [
            "ffmpeg", "-v", "error", "-nostdin", "-y",
            "-re", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", "%dx%d" % task.source, "-r", str(task.rate),
            "-i", task.video,
            "-re", "-f", "s16be", "-ar", "44100", "-ac", "2", "-i", task.app,
            "-re", "-f", "s16le", "-ar", "48000", "-ac", "1", "-i", task.mic,
            "-filter_complex", filters, "-map", "[v]", "-map", "[a]",
            "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-b:v", f"{task.kbps}k",
            "-maxrate", f"{task.kbps}k", "-bufsize", f"{task.kbps}k", "-g", "60", "-sc_threshold", "0",
            "-c:a", "aac", "-b:a", "128k", "-t", str(task.seconds), "-f", "flv", task.url]


class GStreamer(_OneProcess):
    name = "gstreamer"

    def command(self, task):
        turn = "videoflip video-direction=90r ! " if task.turned else ""
        frame = task.source[0] * task.source[1] * 3 // 2
        return ["sh", "-c", "exec " + (
            "gst-launch-1.0 -q flvmux name=mux streamable=true ! rtmp2sink location={url} sync=false "
            "filesrc location={video} blocksize={frame} num-buffers={frames} ! "
            "rawvideoparse width={w} height={h} format=nv12 framerate={rate}/1 ! identity sync=true ! "
            "{turn}videoscale ! videoconvert ! video/x-raw,format=I420,width={width},height={height} ! "
            "x264enc speed-preset=veryfast tune=zerolatency bitrate={kbps} vbv-buf-capacity=1000 key-int-max=60 "
            "option-string=scenecut=0 ! video/x-h264,profile=high ! queue ! mux. "
            "audiomixer name=mix ! audioconvert ! audio/x-raw,rate=48000,channels=2 ! avenc_aac bitrate=128000 ! "
            "aacparse ! queue ! mux. "
            "filesrc location={app} ! rawaudioparse use-sink-caps=false format=pcm pcm-format=s16be sample-rate=44100 "
            "num-channels=2 ! identity sync=true ! audioconvert ! audioresample ! audio/x-raw,rate=48000,channels=2 ! "
            "queue ! mix. "
            "filesrc location={mic} ! rawaudioparse use-sink-caps=false format=pcm pcm-format=s16le sample-rate=48000 "
            "num-channels=1 ! identity sync=true ! audioconvert ! audioresample ! audio/x-raw,rate=48000,channels=2 ! "
            "queue ! mix."
        ).format(
            url=f"'{task.url}'", video=task.video, frame=frame, frames=task.seconds * task.rate,
            w=task.source[0], h=task.source[1], rate=task.rate, turn=turn, width=task.width, height=task.height,
            kbps=task.kbps, app=task.app, mic=task.mic)]
