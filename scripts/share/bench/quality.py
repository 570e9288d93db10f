"""Picture quality per bit of the whole line: what a server has recorded, compared frame by frame in time with the source.

At each source frame's time a viewer sees the last picture that came, so a frame that was left out counts as the one
before it. BD-rate says by how many per cent more bits the same quality takes: below 0 is better.
"""

import json
import math
import os
import re
import subprocess
import time
import zlib

import checks
import clips
import contenders
import material
import report

# BD-rate in per cent, on average and at most on any clip; then processor time beside ffmpeg and GStreamer, at most, on
# natural motion and on screens. By effort.
TARGETS = {
    "low": (12, None, {"natural": (0.50, None), "screen": (0.50, None)}),
    "normal": (5, 9, {"natural": (0.60, 0.55), "screen": (0.50, 0.45)}),
    "high": (0.5, None, {"natural": (0.75, None), "screen": (0.75, None)}),
}
NATURAL = ("film", "film2", "pan")
SCREENS = ("screen", "text")
# What a recording may begin earlier or later than its source, in frames.
SHIFTS = range(-5, 6)
MEASURES = ("psnr", "ssim", "vmaf")
# Of the frames that came: see Shown.measures.
CAME = ("psnr_came", "ssim_came")
_NAMES = {"psnr": "PSNR", "ssim": "SSIM", "vmaf": "VMAF", "psnr_came": "PSNR", "ssim_came": "SSIM"}


class Meaningless(Exception):
    """Two curves of which no BD-rate can be told, and why."""


def _solve(rows):
    """Gauss with pivots: the unknowns of linear equations, whose right sides are the last column."""
    rows = [list(row) for row in rows]
    count = len(rows)
    for column in range(count):
        pivot = max(range(column, count), key=lambda r: abs(rows[r][column]))
        if abs(rows[pivot][column]) < 1e-12:
            raise Meaningless("points fall together")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for other in range(count):
            if other != column:
                factor = rows[other][column] / rows[column][column]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[column])]
    return [row[-1] / row[index] for index, row in enumerate(rows)]


def _cubic(qualities, logarithms, middle, width):
    """The cubic of least squares for the logarithm of the rate, over (quality - middle) / width; lowest power first."""
    scaled = [(quality - middle) / width for quality in qualities]
    return _solve([
        [sum(x ** (i + j) for x in scaled) for j in range(4)]
        + [sum(x ** i * y for x, y in zip(scaled, logarithms))] for i in range(4)])


def _overlap(base, other):
    """The lowest and highest quality that both curves have; they must rise, and overlap by a quarter of the shorter."""
    ranges = []
    for curve in (base, other):
        if len(curve) < 4 or any(not math.isfinite(quality) or rate <= 0 for rate, quality in curve):
            raise Meaningless("fewer than four points")
        if any(after[1] <= before[1] for before, after in zip(curve, curve[1:])):
            raise Meaningless("more bits, no more quality")
        ranges.append((curve[0][1], curve[-1][1]))
    low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
    if high - low < 0.25 * min(r[1] - r[0] for r in ranges):
        raise Meaningless("the curves hardly overlap")
    return low, high


def bd_rate(base, other):
    """By how many per cent more bits `other` takes for the quality of `base`; both are lists of (rate, quality), at least
    four. As usual, a cubic through the logarithms of the rates, over the qualities that both have. Raises Meaningless."""
    base, other = sorted(base), sorted(other)
    low, high = _overlap(base, other)
    middle, width = (low + high) / 2, (high - low) / 2
    means = []
    for curve in (base, other):
        fit = _cubic([q for _, q in curve], [math.log(r) for r, _ in curve], middle, width)
        # A cubic that falls where its points rise says nothing.
        if any(fit[1] + 2 * fit[2] * x + 3 * fit[3] * x * x <= 0 for x in (step / 20 for step in range(-20, 21))):
            raise Meaningless("no smooth curve goes through the points")
        # The mean over -1 to 1: odd powers vanish.
        means.append(fit[0] + fit[2] / 3)
    return 100 * (math.exp(means[1] - means[0]) - 1)


def bd_rate_between(base, other):
    """The same by straight lines between the points, which always go through them."""
    base, other = sorted(base), sorted(other)
    low, high = _overlap(base, other)
    means = []
    for curve in (base, other):
        area = 0.0
        for (rate, quality), (next_rate, next_quality) in zip(curve, curve[1:]):
            slope = (math.log(next_rate) - math.log(rate)) / (next_quality - quality)
            begin, end = max(low, quality), min(high, next_quality)
            if begin < end:
                area += (end - begin) * (math.log(rate) + slope * ((begin + end) / 2 - quality))
        means.append(area / (high - low))
    return 100 * (math.exp(means[1] - means[0]) - 1)


def decibels(ssim):
    return -10 * math.log10(max(1e-9, 1 - ssim))


class Source:
    """A clip to be sent, the raw pictures that it should look like at the far end, and which differ from the one before."""

    def __init__(self, clip, width, height, turned, folder):
        self.clip, self.width, self.height, self.turned = clip, width, height, turned
        self.reference = clip.path
        if turned or (clip.width, clip.height) != (width, height):
            self.reference = os.path.join(folder, clip.name + "-reference.nv12")
            turn = "transpose=clock," if turned else ""
            subprocess.run(
                ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{clip.width}x{clip.height}",
                 "-i", clip.path, "-vf", f"{turn}scale={width}:{height}:flags=area", "-pix_fmt", "nv12", "-f", "rawvideo",
                 self.reference], check=True, stdin=subprocess.DEVNULL)
        self.moved = []
        before = None
        with open(self.reference, "rb") as file:
            while data := file.read(width * height * 3 // 2):
                now = zlib.crc32(data)
                self.moved.append(now != before)
                before = now

    def remove(self):
        for path in {self.clip.path, self.reference}:
            os.unlink(path)


class VMAF:
    """An ffmpeg that has libvmaf, which Debian's has not: PyPI's imageio-ffmpeg carries one."""

    package = "imageio-ffmpeg>=0.6,<1"

    def __init__(self, folder):
        place = os.path.join(folder, "vmaf")
        subprocess.run(["python3", "-m", "venv", place], check=True, stdin=subprocess.DEVNULL)
        python = place + "/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                        self.package], check=True, stdin=subprocess.DEVNULL)
        self.ffmpeg = subprocess.check_output(
            [python, "-c", "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"], text=True).strip()
        filters = subprocess.check_output([self.ffmpeg, "-v", "error", "-filters"], text=True, stdin=subprocess.DEVNULL)
        if " libvmaf " not in filters:
            raise RuntimeError(self.package + " has no libvmaf")


def _phase(stamps, rate):
    """How far the times of frames are from whole frames, in frames, on average: their mean on the circle."""
    turns = [2 * math.pi * stamp * rate / 1000 for stamp in stamps]
    return math.atan2(sum(map(math.sin, turns)), sum(map(math.cos, turns))) / (2 * math.pi)


def slots(stamps, rate):
    """The number of the source's frame that each picture of a recording is, counted from the time 0; each has its own.

    Some muxers move times forward, so that pictures bunch at the time of a sound: those that would fall together are
    counted back from the last one."""
    behind = _phase(stamps, rate)
    numbers = [round(stamp * rate / 1000 - behind) for stamp in stamps]
    for index in range(len(numbers) - 2, -1, -1):
        numbers[index] = min(numbers[index], numbers[index + 1] - 1)
    # A stream may begin at any time; the rest is found by looking.
    begin = numbers[0] if numbers[0] < 0 or numbers[0] > rate else 0
    return [number - begin for number in numbers]


class Shown:
    """What a viewer of a recording sees at each frame of its source."""

    def __init__(self, recording, source):
        self.source, self.rate = source, source.clip.rate
        tags = [(stamp, size) for kind, stamp, size in checks.flv(recording) if kind == "video"]
        if not tags:
            raise RuntimeError("nothing was recorded")
        numbers = slots([stamp for stamp, _ in tags], self.rate)
        self.slots = set(numbers)
        self.recording = recording + ".slots"
        checks.rewrite_times(recording, self.recording, [number * 1000 for number in numbers])
        self.kbps = sum(size for _, size in tags) * 8 / 1000 / (source.clip.frames / self.rate)
        self.first, self.end = max(SHIFTS), source.clip.frames - max(SHIFTS)
        self.shift = self._best_shift()

    def remove(self):
        os.unlink(self.recording)

    def left_out(self):
        """Frames that moved and were not shown in their time, counted from `first`."""
        return [frame - self.first for frame in range(self.first, self.end)
                if self.source.moved[frame] and frame + self.shift not in self.slots]

    def _shown(self, shift, extra=""):
        """Of the recording, what is shown at frames `first` to `end` of the source."""
        # In the rewritten recording a frame takes a second.
        return (f"fps=1:start_time=0:round=near,tpad=stop_mode=clone:stop={self.end},settb=1/{self.rate},setpts=N,"
                f"{extra}{self._range(shift)}")

    def _range(self, shift):
        # Both sides count their frames, so that no rounded time pairs the wrong ones.
        # The samples are compared as they are: colours that only one side names would have them converted.
        return (f"trim=start_frame={self.first + shift}:end_frame={self.end + shift},settb=1/{self.rate},setpts=N,"
                "format=yuv420p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709")

    def _filter(self, graph, outputs, ffmpeg="ffmpeg"):
        done = subprocess.run(
            [ffmpeg, "-nostdin", "-hide_banner", "-nostats", "-copyts", "-i", self.recording, "-f", "rawvideo",
             "-pix_fmt", "nv12", "-s", f"{self.source.width}x{self.source.height}", "-r", str(self.rate), "-i",
             self.source.reference, "-filter_complex", graph,
             *(word for name in outputs for word in ("-map", f"[{name}]")), "-f", "null", "-"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError("ffmpeg could not compare: " + done.stderr[-400:])
        return done.stderr

    def _best_shift(self):
        """By how many frames the recording is later than its source: what matches best, judged on small pictures."""
        small, numbers = "scale=320:-2:flags=area,", range(len(SHIFTS))
        graph = (
            f"[0:v]{self._shown(0, small)},split={len(SHIFTS)}" + "".join(f"[a{i}]" for i in numbers)
            + f";[1:v]{small}split={len(SHIFTS)}" + "".join(f"[b{i}]" for i in numbers)
            + "".join(f";[b{i}]{self._range(-shift)}[c{i}];[a{i}][c{i}]psnr@s{i}[d{i}]"
                      for i, shift in enumerate(SHIFTS)))
        words = self._filter(graph, [f"d{i}" for i in numbers])
        found = [(float(value), -abs(SHIFTS[int(index)]), SHIFTS[int(index)])
                 for index, value in re.findall(r"\[psnr@s(\d+) @.*average:([0-9.inf]+)", words)]
        return max(found)[2]

    def _two(self, pick):
        words = self._filter(
            f"[0:v]{self._shown(self.shift)}{pick},split[a][b];[1:v]{self._range(0)}{pick},split[c][d];"
            "[a][c]ssim[e];[b][d]psnr[f]", ["e", "f"])
        return {
            "psnr": float(re.search(r"PSNR.*average:([0-9.inf]+)", words).group(1)),
            "ssim": decibels(float(re.search(r"SSIM.*All:([0-9.]+)", words).group(1)))}

    def measures(self, vmaf=None):
        """PSNR in dB, of the mean square error of all planes and frames; SSIM in dB; with a VMAF that too. And both of the
        frames that came, which say how good an encoder is where a busy machine left some out."""
        values = self._two("")
        came = values
        if missing := self.left_out():
            came = self._two(without(missing))
        values = {**values, "psnr_came": came["psnr"], "ssim_came": came["ssim"]}
        if vmaf:
            words = self._filter(
                f"[0:v]{self._shown(self.shift)}[a];[1:v]{self._range(0)}[b];[a][b]libvmaf=n_threads=2[c]", ["c"],
                vmaf.ffmpeg)
            values["vmaf"] = float(re.search(r"VMAF score: ([0-9.]+)", words).group(1))
        return values


def without(frames):
    """A filter chain that leaves frames out, by their number, and numbers what stays. An expression may not be long."""
    chunks = [frames[start:start + 50] for start in range(0, len(frames), 50)]
    return "".join(f",select='not({'+'.join(f'eq(pts,{index})' for index in chunk)})'" for chunk in chunks) + ",setpts=N"


def option(text):
    """`NAME:key=value,...` as a contender of upcast: keys of `video`, or SECTION.key, or options.NAME for the encoder's
    own. A comma ends a value where another key follows."""
    name, colon, settings = text.partition(":")
    sections = {"video": {}}
    for part in re.split(r",(?=[A-Za-z0-9_.-]+=)", settings):
        key, equals, value = part.partition("=")
        if not name or not colon or not key or not equals or not value:
            raise ValueError(f"{text} is not NAME:key=value,...")
        section, dot, word = key.rpartition(".")
        if section == "options":
            sections["video"].setdefault("encoder_options", {})[word] = value
        else:
            sections.setdefault(section or "video", {})[word] = value
    if "encoder_options" in sections["video"]:
        # JSON is YAML.
        sections["video"]["encoder_options"] = json.dumps(sections["video"]["encoder_options"])
    return name, sections


def everybody(bin_dir, more):
    """upcast as it comes in its 50 MiB, the rivals, and upcast with other settings."""
    cap = {"memory": {"cap_bytes": 52_428_800}}
    return [contenders.Upcast(bin_dir, options=cap), contenders.FFmpeg(), contenders.GStreamer()] + [
        contenders.Upcast(bin_dir, name, {**cap, **sections}) for name, sections in map(option, more)]


def effort(who, more):
    """Whose targets hold for a contender: those of the effort, where nothing else differs from the defaults."""
    if who == "upcast":
        return "normal"
    settings = dict(map(option, more)).get(who, {}).get("video", {})
    return settings["effort"] if list(settings) == ["effort"] and settings["effort"] in TARGETS else None


def measure(nginx, audio, source, who, kbps, folder, stream, vmaf=None):
    """One broadcast, and what came of it."""
    clip = source.clip
    task = contenders.Task(
        clip.path, *audio, source.width, source.height, kbps, clip.frames // clip.rate, nginx.url(stream),
        turned=source.turned, rate=clip.rate, source=(clip.width, clip.height))
    result = who.run(task, os.path.join(folder, "run"))
    row = {"clip": clip.name, "who": who.name, "asked": kbps, "cpu": result.cpu + result.client_cpu,
           "peak": result.peak, "note": result.note, "frames": clip.frames}
    time.sleep(0.3)
    recording = nginx.recording(stream)
    if not os.path.exists(recording):
        row["note"] = row["note"] or "nothing was recorded"
        return row
    shown = Shown(recording, source)
    # A picture that was encoded again in place of a frame has a time too; the daemon says what it left out.
    left_out = max(len(shown.left_out()), result.left_out)
    row.update(shown.measures(vmaf), kbps=shown.kbps, left_out=left_out, shift=shown.shift)
    shown.remove()
    os.unlink(recording)
    return row


def run_clip(nginx, audio, source, who, rates, rounds, folder, say, vmaf=None, label="quality"):
    """The rows of a clip: everybody at every rate, in turn, as often as there are rounds."""
    rows = []
    for round_number in range(rounds):
        for kbps in rates:
            for contender in who:
                stream = re.sub(
                    r"[^A-Za-z0-9]+", "-", f"{label}-{source.clip.name}-{contender.name}-{kbps}-{round_number}")
                row = measure(nginx, audio, source, contender, kbps, folder, stream, vmaf)
                rows.append(row)
                if "psnr" in row:
                    say(f"{label} {source.clip.name} {contender.name}, {kbps} kbit/s: {row['kbps']:.0f} kbit/s, "
                        f"{row['psnr']:.2f} dB, SSIM {row['ssim']:.2f} dB"
                        + (f", VMAF {row['vmaf']:.1f}" if "vmaf" in row else "")
                        + f", {row['cpu']:.2f} s, {row['peak'] / 2**20:.1f} MiB, {row['left_out']} left out "
                        + row["note"][:200])
                else:
                    say(f"{label} {source.clip.name} {contender.name}, {kbps} kbit/s: {row['note'][:300]}")
    return rows


def of_content(options, folder, nginx, results, content, video, audio, who, say):
    """The rows for a content of another part, at 1280x720 as it is, once in a run; `video` is its raw video."""
    if content in results["content_quality"] or content not in material.QUALITY_RATES:
        return
    path = os.path.join(folder, content + "-720p.nv12")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{material.WIDTH}x{material.HEIGHT}",
         "-i", video, "-vf", "scale=1280:720:flags=area", "-pix_fmt", "nv12", "-f", "rawvideo", path], check=True,
        stdin=subprocess.DEVNULL)
    clip = clips.Clip(content, path, 1280, 720, material.RATE, options.seconds * material.RATE)
    source = Source(clip, 1280, 720, False, folder)
    results["content_quality"][content] = run_clip(
        nginx, audio, source, who, material.QUALITY_RATES[content], 1, folder, say, label="quality of")
    source.remove()


def content_rates(results, content, who):
    """BD-rate of a contender for a content, in per cent, by PSNR and by SSIM; see rates_of."""
    return rates_of(results["content_quality"].get(content, []), content, who)


def run(options, folder, nginx, results, say):
    """The part `quality` of scripts/bench."""
    audio = material.make_audio(options.seconds, folder)
    vmaf = VMAF(folder) if options.vmaf else None
    who = everybody(options.bin_dir, options.upcast)
    width, height = (720, 1280) if options.turned else (1280, 720)
    size = (1920, 1080) if options.turned else (1280, 720)
    for name in options.clips.split(","):
        say(f"making {options.seconds} s of {name}")
        try:
            clip = clips.make(name, folder, *size, options.seconds, options.film, options.screen)
        except clips.Missing as reason:
            say(f"{name} is left out: {reason}")
            results["left_out_clips"].append(f"{name}: {reason}")
            continue
        source = Source(clip, width, height, options.turned, folder)
        results["quality"] += run_clip(
            nginx, audio, source, who, options.kbps or clips.RATES[name], options.quality_rounds, folder, say, vmaf)
        source.remove()


def _of(rows, clip, who):
    return [row for row in rows if row["clip"] == clip and row["who"] == who]


def curve(rows, clip, who, measure_name):
    """(rate, quality), medians of the rounds, in the order of what was asked for."""
    mine = [row for row in _of(rows, clip, who) if measure_name in row]
    return [(report.median([row["kbps"] for row in mine if row["asked"] == asked]),
             report.median([row[measure_name] for row in mine if row["asked"] == asked]))
            for asked in sorted({row["asked"] for row in mine})]


class Rough(float):
    """A BD-rate by straight lines, where no cubic goes through the points."""


def rates_of(rows, clip, who, base="ffmpeg"):
    """BD-rate by each measure that is there, in per cent; or a sentence, where none can be told."""
    found = {}
    for name in (*MEASURES, *CAME):
        mine, theirs = curve(rows, clip, who, name), curve(rows, clip, base, name)
        if not mine or not theirs:
            continue
        try:
            try:
                found[name] = bd_rate(theirs, mine)
            except Meaningless:
                found[name] = Rough(bd_rate_between(theirs, mine))
        except Meaningless as reason:
            found[name] = str(reason)
    return found


def percent(value):
    if isinstance(value, float):
        return ("~" if isinstance(value, Rough) else "") + f"{value:+.1f} %"
    return value or "-"


def cpu_ratio(rows, clip, who, rival):
    """The processor time of all rates together beside a rival's, the median of the rounds."""
    ours, theirs = _of(rows, clip, who), _of(rows, clip, rival)
    rounds = min(len(ours), len(theirs)) // max(1, len({row["asked"] for row in ours}))
    each = len({row["asked"] for row in ours})
    values = [sum(row["cpu"] for row in ours[r * each:(r + 1) * each])
              / max(1e-9, sum(row["cpu"] for row in theirs[r * each:(r + 1) * each])) for r in range(rounds)]
    return report.median(values) if values else math.nan


def text(results, options):
    """The tables; ratios go into the results for a later run to compare with."""
    rows, names = results["quality"], list(dict.fromkeys(row["clip"] for row in results["quality"]))
    who = list(dict.fromkeys(row["who"] for row in rows))
    vmaf = any("vmaf" in row for row in rows)
    measures = MEASURES if vmaf else MEASURES[:2]
    lines, bd = [], {}
    for clip in names:
        for name in who:
            mine = _of(rows, clip, name)
            values = bd[clip, name] = rates_of(rows, clip, name)
            rate = [row["kbps"] for row in mine if "kbps" in row]
            lines.append([
                f"{clip}, {name}", *("base" if name == "ffmpeg" else percent(values.get(key)) for key in measures),
                f"{min(rate):.0f}-{max(rate):.0f}" if rate else "-",
                f"{report.median([row['cpu'] * 1000 / row['frames'] for row in mine]):.2f}",
                *(f"{cpu_ratio(rows, clip, name, rival):.2f}" for rival in ("ffmpeg", "gstreamer")),
                f"{max(row['peak'] for row in mine) / 2**20:.1f}", sum(row.get("left_out", 0) for row in mine)])
            if name not in ("ffmpeg", "gstreamer"):
                for key, value in values.items():
                    if isinstance(value, float) and key in MEASURES:
                        results["ratios"][f"quality {clip} {name} {key} bits"] = 1 + value / 100
                for rival in ("ffmpeg", "gstreamer"):
                    results["ratios"][f"quality {clip} {name} / {rival} CPU"] = cpu_ratio(rows, clip, name, rival)
    texts = [report.table(
        ["quality: clip, who", *(f"bits, same {_NAMES[key]}" for key in measures), "kbit/s", "CPU ms/frame", "/ ffmpeg",
         "/ GStreamer", "peak MiB", "left out"], lines)]
    if any(isinstance(value, Rough) for values in bd.values() for value in values.values()):
        texts.append("~ is by straight lines between the points: no cubic that rises goes through them")
    if any(row.get("left_out") for row in rows):
        texts.append(
            "Frames were left out, and cost quality: a busy machine does that too, and with --rounds 3 medians count.\n"
            + report.table(
                ["of the frames that came: clip, who", *(f"bits, same {_NAMES[key]}" for key in CAME)],
                [[f"{clip}, {name}", *(percent(bd[clip, name].get(key)) for key in CAME)]
                 for clip in names for name in who if name != "ffmpeg"]))
    texts += [f"left out: {reason}" for reason in results["left_out_clips"]]
    verdicts = [line for name in who if name not in ("ffmpeg", "gstreamer")
                for line in _verdicts(rows, names, name, bd, effort(name, options.upcast))]
    texts.append(report.table(["quality: over the clips", "value", "target", ""], verdicts))
    curves = [[(f"{clip}, {_NAMES[key]}" + ("" if key == "vmaf" else " in dB"),
                [(name, curve(rows, clip, name, key)) for name in who]) for key in measures] for clip in names]
    report.curves("The same quality for fewer bits is further left; kbit/s, a logarithm", curves,
                  os.path.join(options.out, "quality.svg"))
    return "\n\n".join(texts)


def _verdicts(rows, names, who, bd, level):
    """Average and worst over the clips, beside what is wanted of this effort."""
    average, worst, processor = TARGETS.get(level, (None, None, {}))
    lines = []

    def line(what, value, target, form):
        verdict = "" if target is None else "met" if value <= target else "missed"
        lines.append([f"{who}, {what}", form.format(value), "" if target is None else "<= " + form.format(target), verdict])

    for key in MEASURES:
        known = [(bd[clip, who][key], clip) for clip in names if isinstance(bd[clip, who].get(key), float)]
        if known:
            line(f"bits for the same {_NAMES[key]}, average of {len(known)}", sum(v for v, _ in known) / len(known),
                 average, "{:+.1f} %")
            line(f"bits for the same {_NAMES[key]}, worst ({max(known)[1]})", max(known)[0], worst, "{:+.1f} %")
        without = [clip for clip in names if isinstance(bd[clip, who].get(key), str)]
        if without:
            lines.append([f"{who}, no BD-rate by {_NAMES[key]}", ", ".join(without), "", ""])
    for kind, members in (("natural", NATURAL), ("screen", SCREENS)):
        for index, rival in enumerate(("ffmpeg", "gstreamer")):
            values = [cpu_ratio(rows, clip, who, rival) for clip in names if clip in members]
            values = [value for value in values if math.isfinite(value)]
            if values:
                line(f"CPU beside {rival}, {kind}", sum(values) / len(values),
                     processor.get(kind, (None, None))[index], "{:.2f}")
    return lines
