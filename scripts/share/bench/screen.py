"""A screen that is captured, with its sound, and published: upcast-screen and upcastd beside ffmpeg and GStreamer.

Processor time is that of everything that works for a line: the X server, the sound server, and the line's processes. The
RTMP server and the program that draws do not count. Each run has a window of so many seconds, which begins when the
broadcast has been live for two seconds and the first frame of the scene is drawn.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import checks
import contenders
import latency
import material
import report
import scenes
from stage import FLASHES as GREYS

HERE = os.path.dirname(os.path.abspath(__file__))
RATE = scenes.RATE
SETTLE = 2
# Bytes of memory that only the capture client has.
PRIVATE_TARGET = 20_000_000
LATENCY_TARGET = 0.8
FLASHES, SEED = 64, 20_26
# How programs scale, beside GStreamer and upcast; a picture is compared with the one that it is nearest to.
SCALERS = ("area", "bicubic", "bilinear")
# What all are compared with, too: nobody scales like this by default.
NEUTRAL = "lanczos"
# What else is measured: nobody captures.
NOBODY = "nobody"


def spent(process):
    """Processor seconds of a process so far, with all of its threads, those that have ended too."""
    # The clock that clock_getcpuclockid(3) gives.
    return time.clock_gettime((~process.child.pid << 3) | 2)


def memory(process):
    """Bytes: proportional, private (of files too), anonymous alone, and the greatest resident so far."""
    figures = {}
    for name in ("smaps_rollup", "status"):
        with open(f"/proc/{process.child.pid}/{name}") as file:
            for key, value in re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M):
                figures[key] = int(value) * 1024
    return {"pss": figures["Pss"], "private": figures["Private_Clean"] + figures["Private_Dirty"],
            "anonymous": figures["Anonymous"], "peak": figures["VmHWM"]}


def end(process, seconds=10):
    if process:
        process.signal(signal.SIGTERM)
        process.wait(seconds)


class Screen:
    """An X server without a monitor, on a number that is free."""

    def __init__(self, size, folder):
        self.size = size
        self.process = contenders.Process(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "%dx%dx24" % size, "-nolisten", "tcp", "-noreset"],
            folder + "/xvfb.log")
        self.display = ":" + _wait_for(self._number, self.process, "Xvfb")

    def _number(self):
        with open(self.process.log) as file:
            found = re.search(r"^(\d+)\n", file.read(), re.M)
        return found and found.group(1)

    def stop(self):
        end(self.process)


class Sound:
    """A PulseAudio server of its own that plays to nobody; music runs into it for as long as it is wanted."""

    def __init__(self, folder):
        self.folder = folder + "/sound"
        os.makedirs(self.folder)
        self.socket = self.folder + "/native"
        with open(self.folder + "/default.pa", "w") as file:
            file.write(f"load-module module-native-protocol-unix auth-anonymous=1 socket={self.socket}\n"
                       "load-module module-null-sink sink_name=bench rate=48000\n"
                       "set-default-sink bench\nset-default-source bench.monitor\n")
        self.variables = {"PULSE_SERVER": "unix:" + self.socket, "PULSE_COOKIE": self.folder + "/cookie"}
        self.process = contenders.Process(
            ["env", "HOME=" + self.folder, "XDG_RUNTIME_DIR=" + self.folder, "pulseaudio", "-n", "--daemonize=no",
             "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=no", "--high-priority=no", "-F",
             self.folder + "/default.pa"], self.folder + "/pulseaudio.log")
        _wait_for(lambda: os.path.exists(self.socket), self.process, "pulseaudio")
        self.player = None

    def play(self, path, latency=None):
        """`latency`: the milliseconds that the player asks PulseAudio for; None for as many as it gives."""
        self.player = contenders.Process(
            [*_env(self.variables), "pacat", "--playback", "--raw", "--format=s16be", "--rate=44100", "--channels=2",
             *([f"--latency-msec={latency}"] if latency else []), path],
            self.folder + "/pacat.log")

    def quiet(self):
        end(self.player)
        self.player = None

    def stop(self):
        self.quiet()
        end(self.process)


def _wait_for(condition, process, what, seconds=20):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if process.has_ended() or time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not start: {process.last_words()}")
        time.sleep(0.02)
    return found


def _env(variables):
    return ["env", *("%s=%s" % pair for pair in variables.items())]


class Stage:
    """The program that draws; it is not counted."""

    def __init__(self, *arguments):
        self.child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", sys.executable, HERE + "/stage.py", *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.came = b""
        self.read("ready", 60)

    def read(self, word, seconds):
        """The words of the next line; it must begin with this one, if there is one."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.came:
            left = max(0, deadline - time.monotonic())
            data = os.read(self.child.stdout.fileno(), 4096) if select.select([self.child.stdout], [], [], left)[0] else b""
            if not data:
                raise RuntimeError(f"the program that draws says nothing more, but {word or 'a line'} was to come")
            self.came += data
        line, _, self.came = self.came.partition(b"\n")
        words = line.decode().split()
        if word and words[0] != word:
            raise RuntimeError(f"the program that draws says {words} instead of {word}")
        return words

    def go(self):
        self.child.stdin.write(b"go\n")

    def stop(self):
        self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()


class Job:
    """One broadcast to be made of a screen."""

    def __init__(self, display, source, canvas, kbps, url, variables, sound):
        self.display, self.source, self.canvas, self.kbps, self.url = display, source, canvas, kbps, url
        self.variables, self.sound = {**variables, "DISPLAY": display}, sound


class Upcast:
    """upcast-screen, and upcastd as it comes: in its 50 MiB where the canvas fits."""

    def __init__(self, bin_dir, name="upcast", options=None):
        self.bin, self.name, self.options = bin_dir, name, options or {}

    def start(self, job, folder):
        cap = 52_428_800 if job.canvas[1] <= 720 else 209_715_200
        options = {"memory": {"cap_bytes": cap}, **self.options}
        task = contenders.Task(None, None, None, *job.canvas, job.kbps, 0, job.url, turned=False, rate=RATE)
        daemon = contenders.Upcast(self.bin, options=options).start(task, folder)
        sound = ["--sound", "auto" if job.sound else "none"] if self.has_sound(self.bin) else []
        client = contenders.Process(
            [*_env(job.variables), self.bin + "/upcast-screen", "--socket", folder + "/capture.sock", "--fps", str(RATE),
             "--quiet", *sound], folder + "/upcast-screen.log")
        return {"client": client, "daemon": daemon}

    @staticmethod
    def has_sound(bin_dir):
        text = subprocess.run([bin_dir + "/upcast-screen", "--help"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL).stdout
        return "--sound " in text


class FFmpeg:
    name = "ffmpeg"

    def start(self, job, folder):
        width, height = job.canvas
        command = [
            "ffmpeg", "-v", "error", "-nostdin", *(["-copyts"] if job.sound else []), "-thread_queue_size", "64", "-f",
            "x11grab", "-framerate", str(RATE), "-video_size", "%dx%d" % job.source, "-i", job.display]
        if job.sound:
            # By default it reads two seconds at once, which pictures would wait for. 20 ms of 48 kHz, two channels, 16 bits.
            command += ["-thread_queue_size", "64", "-f", "pulse", "-fragment_size", "3840", "-i", "@DEFAULT_MONITOR@"]
        command += [
            "-vf", f"scale={width}:{height}:out_color_matrix=bt709,format=yuv420p", "-colorspace", "bt709",
            "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-b:v", f"{job.kbps}k",
            "-maxrate", f"{job.kbps}k", "-bufsize", f"{job.kbps}k", "-g", "60", "-sc_threshold", "0"]
        if job.sound:
            # Both inputs have the machine's time. Without -copyts each begins at 0, and pictures are as much too early as
            # the sound server took to answer, and wait for their sound.
            command += ["-c:a", "aac", "-b:a", "128k", "-ar", "48000", "-avoid_negative_ts", "make_zero"]
        command += ["-f", "flv", job.url]
        return {"client": contenders.Process([*_env(job.variables), *command], f"{folder}/{self.name}.log")}


class GStreamer:
    def __init__(self, damage):
        self.damage = damage
        self.name = "gstreamer, damage" if damage else "gstreamer, no damage"

    def start(self, job, folder):
        width, height = job.canvas
        text = (
            f"exec gst-launch-1.0 -q flvmux name=mux streamable=true ! rtmp2sink location='{job.url}' sync=false "
            f"ximagesrc display-name={job.display} use-damage={str(self.damage).lower()} ! video/x-raw,framerate={RATE}/1 ! "
            f"videoscale ! videoconvert ! video/x-raw,format=I420,width={width},height={height} ! "
            f"x264enc speed-preset=veryfast tune=zerolatency bitrate={job.kbps} vbv-buf-capacity=1000 key-int-max=60 "
            "option-string=scenecut=0 ! video/x-h264,profile=high ! queue ! mux. ")
        if job.sound:
            text += ("pulsesrc device=@DEFAULT_MONITOR@ ! audioconvert ! audioresample ! "
                     "audio/x-raw,rate=48000,channels=2 ! queue ! avenc_aac bitrate=128000 ! aacparse ! queue ! mux. ")
        return {"client": contenders.Process([*_env(job.variables), "sh", "-c", text], f"{folder}/gstreamer.log")}


class Nobody:
    """What drawing takes of the X server, and playing of the sound server, by themselves."""

    name = NOBODY

    def start(self, job, folder):
        return {}


def everybody(options):
    import quality
    more = [Upcast(options.bin_dir, *quality.option(text)) for text in options.upcast]
    return [Upcast(options.bin_dir), FFmpeg(), GStreamer(True), GStreamer(False), *more]


def _pictures(recording):
    """(time, bytes) of the pictures that a server has written so far."""
    return [(stamp, size) for kind, stamp, size in checks.flv(recording) if kind == "video"]


def _live(nginx, stream, processes):
    recording = nginx.recording(stream)
    _wait_for(lambda: os.path.exists(recording) and _pictures(recording), processes["client"], stream, 30)


def run(who, scene, number, screen, stage, sound, nginx, folder, options):
    """A run: processor seconds of the window by role, pictures, bits, memory."""
    os.makedirs(folder, exist_ok=True)
    stream = re.sub(r"[^A-Za-z0-9]+", "-", f"screen-{scene.name}-{who.name}-{number}")
    row = {"scene": scene.name, "who": who.name, "round": number, "seconds": options.seconds, "note": ""}
    job = Job(screen.display, scene.source, scene.canvas, scene.kbps, nginx.url(stream),
              sound.variables if sound else {}, bool(sound))
    if sound and scene.music:
        sound.play(options.music)
    processes = who.start(job, folder)
    try:
        if processes:
            _live(nginx, stream, processes)
        time.sleep(SETTLE)
        counted = {"X server": screen.process, **({"sound server": sound.process} if sound else {}), **processes}
        before, load = {role: spent(process) for role, process in counted.items()}, os.getloadavg()[0]
        first = len(_pictures(nginx.recording(stream))) if processes else 0
        stage.go()
        _, _, late = stage.read("done", options.seconds + 30)
        row["cpu"] = {role: spent(process) - before[role] for role, process in counted.items()}
        row.update(late=int(late), load=load, memory={role: memory(process) for role, process in counted.items()})
        if processes:
            shown = _pictures(nginx.recording(stream))[first:]
            row.update(frames=len(shown), kbps=sum(size for _, size in shown) * 8 / 1000 / options.seconds, first=first)
    finally:
        for process in processes.values():
            end(process)
        if sound:
            sound.quiet()
    row["recording"] = nginx.recording(stream)
    return row


def _references(scene, screen, folder, frames, bin_dir):
    """All pictures that are drawn, on the canvas, in each way of scaling, first the neutral one: paths."""
    width, height = scene.canvas
    scalers = NEUTRAL, *SCALERS
    paths = [f"{folder}/{scaler}.nv12" for scaler in scalers]
    graph = f"[0:v]split={len(scalers)}" + "".join(f"[a{n}]" for n in range(len(scalers))) + "".join(
        f";[a{n}]scale={width}:{height}:flags={scaler}:out_color_matrix=bt709:out_range=tv,format=nv12[b{n}]"
        for n, scaler in enumerate(scalers))
    _dump(scene, screen, folder, frames, [
        "ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", "%dx%d" % scene.source, "-i", "-",
        "-filter_complex", graph,
        *(word for n, path in enumerate(paths) for word in ("-map", f"[b{n}]", "-f", "rawvideo", path))])
    paths.append(f"{folder}/gstreamer.nv12")
    _dump(scene, screen, folder, frames, [
        "gst-launch-1.0", "-q", "fdsrc", "fd=0", f"blocksize={scene.source[0] * scene.source[1] * 4}", "!", "rawvideoparse",
        "format=bgrx", f"width={scene.source[0]}", f"height={scene.source[1]}", f"framerate={RATE}/1", "!", "videoscale",
        "!", "videoconvert", "!", f"video/x-raw,format=NV12,width={width},height={height}", "!", "filesink",
        f"location={paths[-1]}"])
    paths.append(f"{folder}/upcast.nv12")
    with open(paths[-1], "wb") as file:
        _dump(scene, screen, folder, frames, [
            f"{bin_dir}/upcast-bench", "scale", "--source", "%dx%d" % scene.source, "--canvas", f"{width}x{height}"], file)
    return paths


def _dump(scene, screen, folder, frames, command, output=subprocess.DEVNULL):
    """Draws all pictures at once, for a command that reads them as raw BGRX."""
    with subprocess.Popen(
            [sys.executable, HERE + "/stage.py", "--dump", screen.display, scene.kind, *map(str, scene.source), str(RATE),
             str(frames), folder], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as drawing:
        subprocess.run(command, check=True, stdin=drawing.stdout, stdout=output)
    if drawing.returncode:
        raise RuntimeError("the frames to compare with could not be drawn")


# Frames whose times say nothing but their order: recordings have some that are equal.
_NUMBERED = "settb=1/1000,setpts=N*1000"


def _quality(row, scene, references, folder):
    """PSNR and SSIM of the pictures of the window against what was drawn, and how many of the drawn ones they show."""
    raw = f"{folder}/recorded.nv12"
    # Where nothing was sent in the window, viewers see the last picture before it.
    first, count = (row["first"], row["frames"]) if row["frames"] else (row["first"] - 1, 1)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-i", row["recording"], "-an", "-vf", f"select='gte(n,{first})',{_NUMBERED}",
         "-fps_mode", "passthrough", "-frames:v", str(count), "-pix_fmt", "nv12", "-f", "rawvideo", raw],
        check=True, stdin=subprocess.DEVNULL)
    if os.path.getsize(raw) != count * scene.canvas[0] * scene.canvas[1] * 3 // 2:
        raise RuntimeError(f"of {count} pictures of {row['who']}, not all could be decoded")
    order = scenes.order(scene, row["seconds"] * RATE)
    for python in ("/usr/bin/python3", sys.executable):
        done = subprocess.run(
            [python, HERE + "/drawn.py", raw, *map(str, scene.canvas), json.dumps(order), *references],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            break
    else:
        raise RuntimeError("frames could not be compared: " + done.stderr[-300:])
    os.unlink(raw)
    row.update(json.loads(done.stdout))


def measure(options, folder, nginx, results, say):
    """Each scene by everybody, in turn, as often as there are rounds."""
    frames = options.seconds * RATE
    sound = None if options.no_sound else Sound(folder)
    if sound:
        # As long as a run can take.
        options.music, _ = material.make_audio(options.seconds + 60, folder)
    try:
        for name in options.scenes.split(","):
            if name in scenes.SCENES:
                scene, place = scenes.SCENES[name], f"{folder}/{name}"
                say(f"drawing {name}")
                scenes.prepare(scene, frames, place, options.film)
                screen = Screen(scene.source, place)
                try:
                    references = _references(scene, screen, place, frames, options.bin_dir)
                    _rounds(options, scene, screen, sound, nginx, place, references, results, say)
                finally:
                    screen.stop()
                    for file in os.listdir(place):
                        if file.endswith((".nv12", ".bgrx")):
                            os.unlink(f"{place}/{file}")
        if "latency" in options.scenes.split(","):
            _latencies(options, folder, sound, results, say)
    finally:
        if sound:
            sound.stop()


def _rounds(options, scene, screen, sound, nginx, place, references, results, say):
    for number in range(options.rounds):
        for who in [*everybody(options), *([Nobody()] if number == 0 else [])]:
            stage = Stage(screen.display, scene.kind, *scene.source, RATE, options.seconds * RATE, place)
            try:
                row = run(who, scene, number, screen, stage, sound, nginx, f"{place}/run", options)
            except RuntimeError as error:
                row = {"scene": scene.name, "who": who.name, "round": number, "note": str(error)[-400:]}
            finally:
                stage.stop()
            if row.get("frames") is not None and not any("psnr" in run for run in _of(results, scene.name, who.name)):
                _quality(row, scene, references, place)
            recording = row.pop("recording", None)
            if recording and os.path.exists(recording):
                os.unlink(recording)
            results["screen"].append(row)
            say(f"screen {scene.name}, {who.name}: " + (row["note"] or _line(row)))


def _line(row):
    text = f"{processor(row):.3f} s (" + ", ".join(f"{role} {value:.3f}" for role, value in row["cpu"].items()) + ")"
    if "frames" in row:
        text += f", {row['frames']} frames, {row['kbps']:.0f} kbit/s"
    if "psnr" in row:
        text += (f", {row['psnr']:.2f} dB, SSIM {row['ssim']:.4f} ({row['scaled']}), {row['whole_psnr']:.2f} dB, SSIM "
                 f"{row['whole_ssim']:.4f} ({NEUTRAL}), "
                 f"{row['shown']} of {row['changed']} shown")
    return text + f", load {row['load']:.1f}" + (f", drawn late {row['late']}" if row["late"] else "")


def processor(row):
    return sum(row["cpu"].values())


# Latency.

def _latencies(options, folder, sound, results, say):
    """From a change on the screen to the whole message whose frame shows it, at random moments."""
    place = f"{folder}/screen-latency"
    os.makedirs(place, exist_ok=True)
    screen = Screen((1920, 1080), place)
    # Sound that is made in place of what nobody sends would be waited for.
    direct = {"buffer": {"interleave": "low_latency"}}
    ours = [Upcast(options.bin_dir), Upcast(options.bin_dir, "upcast, low_latency", direct)] if sound else [
        Upcast(options.bin_dir, options=direct)]
    try:
        for number in range(min(3, options.rounds)):
            for who in [*ours, *everybody(options)[1:]]:
                seed = SEED + number
                if sound and options.play:
                    sound.play(options.music, options.play)
                try:
                    values, gap, load, unordered = _flashes(who, screen, sound, place, seed)
                except RuntimeError as error:
                    say(f"screen latency, {who.name}: {error}")
                    continue
                finally:
                    if sound:
                        sound.quiet()
                came = [value for value in values if value is not None]
                results["screen_latency"].append({
                    "who": who.name, "round": number, "seed": seed, "values": values, "drawing_ms": gap, "load": load,
                    "out_of_order_ms": unordered})
                say(f"screen latency, {who.name}, seed {seed}: p50 {latency.percentile(came, 0.5):.1f} ms, p99 "
                    f"{latency.percentile(came, 0.99):.1f} ms of {len(came)}, {len(values) - len(came)} not seen, out of "
                    f"order by {unordered} ms, load {load:.1f}")
    finally:
        screen.stop()


def _flashes(who, screen, sound, place, seed):
    """Milliseconds of each flash, None for one that was not seen; how long drawing took at most; the load; how far the
    tracks are out of order meanwhile."""
    sink = latency.Sink(keep=True)
    job = Job(screen.display, screen.size, (1280, 720), 2500, sink.url("latency"), sound.variables if sound else {},
              bool(sound))
    stage, processes, load = None, {}, os.getloadavg()[0]
    try:
        stage = Stage("--flash", screen.display, *screen.size, seed, FLASHES)
        processes = who.start(job, place)
        _wait_for(lambda: len(sink.arrivals) > 0, processes["client"], who.name, 30)
        time.sleep(SETTLE)
        settled = len(sink.order)
        stage.go()
        drawn = [tuple(map(float, stage.read("", 10))) for _ in range(FLASHES)]
        stage.read("done", 10)
        # The last one has a second to arrive.
        time.sleep(1)
        order = sink.order[settled:]
    finally:
        for process in processes.values():
            end(process)
        if stage:
            stage.stop()
        sink.stop()
    shown = _shown_flashes(sink, place)
    return (seen([after for _, after in drawn], [at for at, _ in sink.arrivals], shown),
            max(after - before for before, after in drawn) * 1000, load, latency.out_of_order(order))


def seen(moments, arrivals, shown):
    """For each flash the milliseconds to the first message that shows it; None where none does before its grey comes again.
    `shown` has the number of the grey in each message's frame, or None."""
    kinds, values = len(GREYS), []
    for index, moment in enumerate(moments):
        again = index + kinds - 1
        until = moments[again] if again < len(moments) else float("inf")
        values.append(next(
            ((at - moment) * 1000 for at, grey in zip(arrivals, shown)
             if moment <= at < until and grey == index % kinds), None))
    return values


def _shown_flashes(sink, place):
    """The number of the grey in the middle of each picture, in the order of the messages; None for another grey."""
    path = f"{place}/flashes.flv"
    with open(path, "wb") as file:
        file.write(b"FLV\x01\x01\x00\x00\x00\x09" + bytes(4))
        for stamp, body in sink.messages:
            file.write(b"\x09" + len(body).to_bytes(3, "big") + (stamp & 0xffffff).to_bytes(3, "big")
                       + bytes([stamp >> 24 & 0xff]) + bytes(3) + body + (11 + len(body)).to_bytes(4, "big"))
    # Four samples of luma and two of chroma for each.
    samples = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-vf",
         "crop=iw/4:ih/4:iw*3/8:ih*3/8,scale=2:2:flags=area,format=yuv420p," + _NUMBERED, "-fps_mode", "passthrough", "-f",
         "rawvideo", "-"], check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    os.unlink(path)
    if len(samples) != 6 * len(sink.arrivals):
        raise RuntimeError(f"{len(sink.arrivals)} pictures came, and {len(samples) // 6} could be decoded")
    return [grey(value) for value in samples[::6]]


def grey(luma):
    """The number of the grey that has this luma, of video range."""
    found = [number for number, value in enumerate(GREYS) if abs(16 + value * 219 / 255 - luma) < 8]
    return found[0] if found else None


# Tables.

def text(results, options):
    with open(os.path.join(options.out, "screen.md"), "w") as file:
        file.write(_markdown(results))
    texts = []
    if results["screen"]:
        texts += [_table(results, options), _verdicts(results)]
    if results["screen_latency"]:
        texts.append(_latency_table(results, options))
    loads = [row["load"] for row in results["screen"] + results["screen_latency"] if "load" in row]
    if loads:
        texts.append(f"load average of the machine as runs began: {report.spread(loads)}; "
                     + ("without sound, on all sides" if options.no_sound else "with the sound of the screen"))
    return "\n\n".join(texts)


def _of(results, scene, who):
    return [row for row in results["screen"] if (row["scene"], row["who"]) == (scene, who) and "cpu" in row]


def _names(results, key):
    return list(dict.fromkeys(row[key] for row in results["screen"]))


def _table(results, options):
    lines = []
    for scene in _names(results, "scene"):
        for who in _names(results, "who"):
            runs = _of(results, scene, who)
            if not runs:
                continue

            def each(figure):
                return report.median([figure(row) for row in runs])

            def role(name):
                return f"{each(lambda row: row['cpu'].get(name, 0) / row['seconds'] * 100):.2f}"

            line = [f"{scene}, {who}", f"{each(lambda row: processor(row) / row['seconds'] * 100):.2f}",
                    *map(role, ("X server", "sound server", "client", "daemon"))]
            if who == NOBODY:
                lines.append(line + [""] * 10)
                continue
            first = next((row for row in runs if "psnr" in row), {})
            lines.append(line + [
                f"{each(lambda row: row['frames'] / row['seconds']):.1f}",
                f"{first['shown']}/{first['changed']}" if first else "-", f"{each(lambda row: row['kbps']):.0f}",
                *(f"{first[key]:{form}}" if first else "-"
                  for key, form in (("psnr", ".2f"), ("ssim", ".4f"), ("whole_psnr", ".2f"), ("whole_ssim", ".4f"))),
                f"{each(lambda row: row['memory']['client']['private']) / 2**20:.1f}",
                f"{each(lambda row: row['memory']['client']['anonymous']) / 2**20:.1f}",
                " + ".join(f"{each(lambda row: row['memory'][name]['peak']) / 2**20:.0f}"
                           for name in ("client", "daemon") if name in runs[0]["memory"])])
    return report.table(
        ["a captured screen, who: CPU, % of a core", "all", "X server", "sound server", "client", "daemon", "frames/s",
         "drawn shown", "kbit/s", "PSNR dB", "SSIM", "PSNR dB, whole", "SSIM, whole", "client's own MiB", "anonymous",
         "peak MiB"], lines)


def complete(row):
    """Processor time as it would be had no frame been missing: who leaves frames out, because a machine is busy, does less.
    Rivals send all frames, and upcast each that differs."""
    pictures = len(set(scenes.order(scenes.SCENES[row["scene"]], row["seconds"] * RATE)))
    moves = scenes.SCENES[row["scene"]].kind in ("scroll", "video")
    due = row["seconds"] * RATE if moves or row["who"] in RIVALS else pictures - 1
    return processor(row) * max(1, due / max(1, row["frames"]))


RIVALS = ("ffmpeg", "gstreamer, damage", "gstreamer, no damage")


def beside(results, scene, who="upcast", figure=processor):
    """Ours to the better rival's processor time, round by round; and which it is."""
    ratios, names = [], []
    for row in _of(results, scene, who):
        rivals = [(figure(other), other["who"]) for rival in RIVALS for other in _of(results, scene, rival)
                  if other["round"] == row["round"]]
        if rivals:
            least, name = min(rivals)
            ratios.append(figure(row) / least)
            names.append(name)
    return ratios, max(set(names), key=names.count) if names else ""


def _verdicts(results):
    lines = []
    for scene in _names(results, "scene"):
        ours = [name for name in _names(results, "who") if name not in (*RIVALS, NOBODY)]
        for who in ours:
            ratios, rival = beside(results, scene, who)
            if not ratios:
                continue
            results["ratios"][f"screen {scene} {who} / better rival CPU"] = report.median(ratios)
            private = report.median([row["memory"]["client"]["private"] for row in _of(results, scene, who)])
            aim = scenes.SCENES[scene].aim
            drawing = sum(map(processor, _of(results, scene, NOBODY)))
            lines.append([
                f"{scene}, {who} beside {rival}", f"{report.median(ratios):.3f}", report.spread(ratios), f"{aim:.2f}",
                "met" if report.median(ratios) <= aim else "missed",
                f"{report.median(beside(results, scene, who, lambda row: processor(row) - drawing)[0]):.3f}",
                f"{report.median(beside(results, scene, who, complete)[0]):.3f}",
                f"{private / 2**20:.1f}", f"{PRIVATE_TARGET / 2**20:.1f}"])
    return report.table(
        ["CPU of all, beside the better rival", "ratio", "spread", "target", "", "without drawing", "no frame missing",
         "client's own MiB", "target"], lines)


def _markdown(results):
    """The tables of docs/performance.md."""
    out = ["| | CPU, % of a core | X server + sound server + line | frames/s | PSNR dB | SSIM | PSNR dB, whole | SSIM, whole "
           "| kbit/s | peak MiB |", "|---" * 10 + "|"]
    for scene in _names(results, "scene"):
        for who in ("upcast", *RIVALS):
            runs = _of(results, scene, who)
            first = next((row for row in runs if "psnr" in row), None)
            if not first:
                continue

            def each(figure):
                return report.median([figure(row) for row in runs])

            def share(*roles):
                return each(lambda row: sum(row["cpu"].get(role, 0) for role in roles) * 100 / row["seconds"])

            shares = share("X server"), share("sound server"), share("client", "daemon")
            peak = each(lambda row: sum(row["memory"].get(role, {"peak": 0})["peak"] for role in ("client", "daemon")))
            out.append(
                f"| {scene}, {who} | **{each(processor) * 100 / first['seconds']:.1f} %** | "
                f"{' + '.join(f'{value:.1f}' for value in shares)} | {each(lambda row: row['frames'] / row['seconds']):.1f} | "
                f"{first['psnr']:.1f} | {first['ssim']:.4f} | {first['whole_psnr']:.1f} | {first['whole_ssim']:.4f} | "
                f"{each(lambda row: row['kbps']):.0f} | {peak / 2**20:.0f} |")
    out += ["", "| | beside the better rival | had no frame been missing | aim | the client's own MiB |", "|---" * 5 + "|"]
    for scene in _names(results, "scene"):
        ratios, rival = beside(results, scene)
        if ratios:
            whole = report.median(beside(results, scene, figure=complete)[0])
            own = report.median([row["memory"]["client"]["private"] for row in _of(results, scene, "upcast")])
            out.append(f"| {scene} | {report.median(ratios):.2f} ({report.spread(ratios)}), {rival} | {whole:.2f} | "
                       f"{scenes.SCENES[scene].aim:.2f} | {own / 2**20:.1f} |")
    out += ["", "| | p50, ms | p99, ms | not seen | out of order, ms |", "|---" * 5 + "|"]
    for who, values in _latencies_of(results).items():
        came = [value for value in values if value is not None]
        if came:
            out.append(f"| {who} | {latency.percentile(came, 0.5):.1f} | {latency.percentile(came, 0.99):.1f} | "
                       f"{len(values) - len(came)} of {len(values)} | {_out_of_order(results, who)} |")
    return "\n".join(out) + "\n"


def _latencies_of(results):
    """All flashes of each contender, over the rounds."""
    rows = results["screen_latency"]
    return {who: [value for row in rows if row["who"] == who for value in row["values"]]
            for who in dict.fromkeys(row["who"] for row in rows)}


def _out_of_order(results, who):
    return max(row["out_of_order_ms"] for row in results["screen_latency"] if row["who"] == who)


def _latency_table(results, options):
    rows = results["screen_latency"]
    pooled, lines = {}, []
    for who, values in _latencies_of(results).items():
        came = [value for value in values if value is not None]
        if came:
            pooled[who] = [latency.percentile(came, share) for share in (0.5, 0.99)]
            lines.append([who, *(f"{value:.1f}" for value in pooled[who]), len(came), len(values) - len(came),
                          _out_of_order(results, who)])
    out = report.table(["a change on the screen to its message", "p50 ms", "p99 ms", "flashes", "not seen",
                        "out of order, ms"], lines)
    rivals = [pooled[name] for name in RIVALS if name in pooled]
    for index, key in enumerate(("p50", "p99")):
        if "upcast" in pooled and rivals:
            ratio = pooled["upcast"][index] / min(rival[index] for rival in rivals)
            results["ratios"]["screen latency " + key] = ratio
            out += f"\n{key}: {ratio:.2f} of the better rival's; target {LATENCY_TARGET}"
    seeds = sorted({row["seed"] for row in rows})
    if options.play:
        out += f"\na program plays sound with a latency of {options.play} ms"
    return out + (f"\nseeds {', '.join(map(str, seeds))}; drawing took at most "
                  f"{max(row['drawing_ms'] for row in rows):.1f} ms, and counts for none")
