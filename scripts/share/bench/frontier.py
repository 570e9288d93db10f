"""Settings of x264 by themselves, through ffmpeg: the bits that each needs for the same picture, and its processor time."""

import collections
import html
import math
import os
import re
import subprocess

import clips
import quality
import report

# How everything is encoded; upcastd gives libx264 the same. VBV is in seconds of the bitrate.
_COMMON = ["-preset", "veryfast", "-tune", "zerolatency", "-profile:v", "high", "-sc_threshold", "0", "-threads", "2"]

BASE = "veryfast"
# Points to choose from, and those that one expects to be. The efforts are Sources/Encoding/X264/X264Effort.swift's.
_NORMAL = "subme=1:me=dia:partitions=i4x4:aq-strength=0.9:deadzone-inter=17:qcomp=0.8:ipratio=1.2"
_NAMED = {
    BASE: "",
    "superfast": "subme=1:me=dia:partitions=i8x8,i4x4:weightp=1:aq-strength=1",
    "subme=0": "subme=0",
    "subme=1": "subme=1",
    "subme=2 dia": "subme=2:me=dia:partitions=i8x8,i4x4",
    "subme=3": "subme=3",
    "subme=1 dia i8x8": "subme=1:me=dia:partitions=i8x8",
    "low": _NORMAL + ":no-deblock=1",
    "normal": _NORMAL,
    "high": _NORMAL + ":subme=2",
    "without planes": _NORMAL + ":subme=0",
    "high without planes": _NORMAL + ":subme=2:subme=0:partitions=i4x4,p8x8",
}
# One thing at a time, beside normal.
_CHANGES = (
    "subme=3", "me=hex", "merange=4", "partitions=none", "partitions=i8x8,i4x4", "partitions=i4x4,p8x8",
    "partitions=i4x4,p8x8:subme=2", "8x8dct=0", "ref=2", "aq-mode=0", "aq-mode=2", "aq-mode=3:aq-strength=0.8",
    "aq-strength=0.5", "aq-strength=0.7", "aq-strength=1.1", "psy=0", "deblock=-1,-1", "deblock=1,1",
    "no-chroma-me=1", "chroma-qp-offset=2", "weightp=0", "weightp=2", "trellis=1", "subme=0:trellis=1",
    "deadzone-inter=8", "deadzone-inter=14", "deadzone-inter=21", "cabac=0", "nr=100", "no-fast-pskip=1",
    "no-dct-decimate=1", "threads=1", "threads=4", "lookahead-threads=1", "ipratio=1", "ipratio=1.4", "qcomp=0.6",
    "qcomp=1", "vbv=0.5", "vbv=2", "g=30", "g=120",
)
# What is tried, by name: x264-params beside those that everybody has.
SETTINGS = {**_NAMED, **{f"normal with {change.replace(',', ' ')}": f"{_NORMAL}:{change}" for change in _CHANGES}}
# The base is encoded again after so many others, because the machine is never quiet.
_BETWEEN = 4

# A clip is a Y4M file; its rates, in kbit/s, span about 30 to 45 dB.
Clip = collections.namedtuple("Clip", "name path rates")


def _spawn(command):
    """Runs a command; processor time in seconds, peak memory in bytes, and what it said."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with process.stderr:
        said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said.strip()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, said


def reading(clip):
    """What ffmpeg needs to read the clip and encode nothing."""
    return _spawn(["ffmpeg", "-v", "error", "-i", clip.path, "-f", "null", "-"])[:2]


def encode(clip, kbps, settings, path):
    """Encodes to a raw stream. `settings` are x264's, with `vbv`, in seconds, and `g`, in frames, besides."""
    words = dict(word.split("=", 1) for word in settings.split(":") if word)
    vbv, interval = float(words.pop("vbv", 1)), words.pop("g", "60")
    text = ":".join(["force-cfr=1"] + [f"{name}={value}" for name, value in words.items()])
    cpu, peak, said = _spawn(
        ["ffmpeg", "-v", "warning", "-y", "-i", clip.path, "-c:v", "libx264", *_COMMON, "-g", interval, "-b:v", f"{kbps}k",
         "-maxrate", f"{kbps}k", "-bufsize", f"{kbps * vbv:.0f}k", "-x264-params", text, "-f", "h264", path])
    # libavcodec goes on without an option that x264 does not know.
    if "Error parsing option" in said:
        raise RuntimeError(said.strip())
    return cpu, peak


def compare(path, clip):
    """PSNR over all frames and planes, and SSIM, both in dB."""
    # Frames are matched by their number: timestamps of a raw stream, or rounded ones, pair the wrong frames.
    text = subprocess.run(
        ["ffmpeg", "-nostdin", "-i", path, "-i", clip.path, "-lavfi",
         "[0:v]settb=AVTB,setpts=N*1000,split[a][b];[1:v]settb=AVTB,setpts=N*1000,split[c][d];"
         "[a][c]ssim;[b][d]psnr", "-f", "null", "-"],
        capture_output=True, text=True, check=True).stderr
    psnr = float(re.search(r"PSNR.*average:([0-9.]+)", text).group(1))
    ssim = float(re.search(r"SSIM.*All:([0-9.]+)", text).group(1))
    return psnr, quality.decibels(ssim)


def _bits(base, other, index):
    """BD-rate by PSNR (1) or SSIM (2) in per cent, or None where none can be told."""
    curves = [[(point[0], point[index]) for point in of] for of in (base, other)]
    try:
        return quality.bd_rate(*curves)
    except quality.Meaningless:
        try:
            return quality.bd_rate_between(*curves)
        except quality.Meaningless:
            return None


def _order(names):
    """Names to be encoded in turn: the first, the base, comes again after every few others and at the end."""
    order = []
    for first in range(1, len(names), _BETWEEN):
        order += [names[0], *names[first:first + _BETWEEN]]
    return order + [names[0]]


def _beside_base(order, seconds):
    """For each name but the base: its processor time, and the base's on average of the runs before and after it."""
    base = order[0]
    places = [index for index, name in enumerate(order) if name == base]
    for index, name in enumerate(order):
        if name != base:
            before, after = max(p for p in places if p < index), min(p for p in places if p > index)
            yield name, seconds[index], (seconds[before] + seconds[after]) / 2


def measure(clip, settings, rounds, folder, say):
    """Encodes a clip with each of `settings`, a dictionary whose first is the base; a row for each."""
    path = os.path.join(folder, "frontier.h264")
    names = list(settings)
    order = _order(names)
    alone = [reading(clip) for _ in range(3)]
    read, resident = min(cpu for cpu, _ in alone), max(peak for _, peak in alone)
    rows = {name: {"clip": clip.name, "name": name, "settings": settings[name], "points": [], "cpu": [], "peak": 0}
            for name in names}
    for kbps in clip.rates:
        known = set()
        for _ in range(rounds):
            seconds = []
            for name in order:
                cpu, peak = encode(clip, kbps, settings[name], path)
                seconds.append(cpu - read)
                rows[name]["peak"] = max(rows[name]["peak"], peak - resident)
                if name not in known:
                    known.add(name)
                    rows[name]["points"].append((os.path.getsize(path), *compare(path, clip)))
            for name, own, other in _beside_base(order, seconds):
                rows[name]["cpu"].append((own, other))
        say(f"frontier {clip.name}, {kbps} kbit/s: {len(names)} settings")
    os.unlink(path)
    base = rows[names[0]]["points"]
    for row in rows.values():
        row["psnr"], row["ssim"] = (_bits(base, row["points"], index) for index in (1, 2))
        row["ratio"] = sum(own for own, _ in row["cpu"]) / sum(other for _, other in row["cpu"]) if row["cpu"] else 1
    return list(rows.values())


def run(options, settings, folder, results, say):
    """All clips; what is not first in `settings` is compared with veryfast, which is always measured."""
    settings = {BASE: SETTINGS[BASE], **settings}
    for name in options.clips.split(","):
        try:
            made = clips.make(
                name, folder, 1280, 720, options.seconds, options.film, options.screen, y4m=True)
        except clips.Missing as reason:
            say(f"{name} is left out: {reason}")
            results["left_out_clips"].append(f"{name}: {reason}")
            continue
        results["frontier"] += measure(Clip(name, made.path, clips.RATES[name]), settings, options.quality_rounds, folder,
                                       say)
        os.unlink(made.path)


def _mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else float("nan")


def points(rows):
    """Over the clips, for each name: BD-rates and CPU on average, the worst BD-rate and its clip, and memory. `loss` is
    the greater of the two BD-rates. `beaten` names one that costs no more CPU and no more bits, if there is one."""
    found = []
    for name in dict.fromkeys(row["name"] for row in rows):
        of = [row for row in rows if row["name"] == name]
        psnr, ssim = (_mean(row[key] for row in of) for key in ("psnr", "ssim"))
        worst = max(((value, row["clip"]) for row in of for value in (row["psnr"], row["ssim"]) if value is not None),
                    default=(float("nan"), "none"))
        found.append({
            "name": name, "settings": of[0]["settings"], "psnr": psnr, "ssim": ssim, "loss": max(psnr, ssim),
            "worst": worst[0], "worst_clip": worst[1], "cpu": _mean(row["ratio"] for row in of),
            "peak": max(row["peak"] for row in of)})
    for point in found:
        point["beaten"] = next(
            (other["name"] for other in sorted(found, key=lambda other: other["loss"])
             if other["cpu"] <= point["cpu"] and other["loss"] <= point["loss"]
             and (other["cpu"], other["loss"]) != (point["cpu"], point["loss"])), "")
    return found


def text(results, options):
    rows = results["frontier"]
    if not rows:
        return "frontier: no clip could be made"
    found = sorted(points(rows), key=lambda point: (point["cpu"], point["loss"]))
    draw(found, os.path.join(options.out, "frontier.svg"))
    names = list(dict.fromkeys(row["clip"] for row in rows))
    cells = {(row["name"], row["clip"]): row for row in rows}

    def percent(value):
        return "?" if value is None or math.isnan(value) else f"{value:+.1f}"

    table = [[point["name"], f"{point['cpu']:.2f}", percent(point["psnr"]), percent(point["ssim"]),
              f"{percent(point['worst'])} {point['worst_clip']}", f"{point['peak'] / 2**20:.1f}", point["beaten"] or "frontier"]
             for point in found]
    each = [[point["name"]] + [
        f"{percent(row['psnr'])} {percent(row['ssim'])} {row['ratio']:.2f}x" if row else "-"
        for row in (cells.get((point["name"], clip)) for clip in names)] for point in found]
    key = [f"{point['name']}: {point['settings'] or 'as it is'}" for point in found]
    return (
        report.table(["x264 beside veryfast zerolatency", "CPU", "BD-rate % PSNR", "SSIM", "worst", "MiB", "beaten by"], table)
        + "\n\n" + report.table(["BD-rate % PSNR, SSIM, CPU", *names], each)
        + "\n\nx264-params:\n" + "\n".join(key))


def draw(found, path):
    """BD-rate over processor time as SVG; what lost is grey, what is beyond the edge is drawn on it."""
    width, height, left, top, wide, high = 1060, 760, 60, 70, 600, 640
    kept = [point for point in found if not math.isnan(point["loss"])]
    least, most = min(point["cpu"] for point in kept) - 0.02, max(point["cpu"] for point in kept) + 0.02
    low, greatest = min(point["loss"] for point in kept) - 1, min(25, max(point["loss"] for point in kept) + 1)

    def across(cpu):
        return left + (cpu - least) / (most - least) * wide

    def up(loss):
        return top + high - (min(loss, greatest) - low) / (greatest - low) * high

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="16" y="24" font-size="16">Bits for the same picture beside veryfast zerolatency, over processor time</text>',
        f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="none" stroke="#999"/>',
        f'<text x="{left + wide / 2}" y="{height - 14}" text-anchor="middle">encoder\'s processor time, times '
        "veryfast zerolatency's</text>",
        f'<text x="16" y="{top - 20}">BD-rate, %: the greater of PSNR and SSIM, average of the clips</text>']
    for tenth in range(math.ceil(least * 10), math.floor(most * 10) + 1):
        x = across(tenth / 10)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + high}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x:.1f}" y="{top + high + 16}" text-anchor="middle">{tenth / 10:.1f}</text>')
    for value in range(math.ceil(low / 5) * 5, math.floor(greatest) + 1, 5):
        out.append(f'<line x1="{left}" x2="{left + wide}" y1="{up(value):.1f}" y2="{up(value):.1f}" '
                   f'stroke="{"#e4e4e4" if value else "#999"}"/>')
        out.append(f'<text x="{left - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{value:+d}</text>')
    best = [point for point in kept if not point["beaten"]]
    line = " ".join(f"{across(point['cpu']):.1f},{up(point['loss']):.1f}" for point in best)
    out.append(f'<polyline points="{line}" fill="none" stroke="#3b6fb6" stroke-width="1.6"/>')
    step = min(16, (height - 40) / max(1, len(kept)))
    for index, point in enumerate(kept):
        x, y, color = across(point["cpu"]), up(point["loss"]), "#b4b4b4" if point["beaten"] else "#3b6fb6"
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>')
        out.append(f'<text x="{x + 6:.1f}" y="{y - 4:.1f}" fill="{"#888" if point["beaten"] else "#000"}">{index + 1}</text>')
        out.append(
            f'<text x="{left + wide + 20}" y="{30 + (index + 1) * step:.1f}" font-size="{min(11, step):.1f}" '
            f'fill="{"#888" if point["beaten"] else "#000"}">{index + 1}  {html.escape(point["name"])}: '
            f'{point["cpu"]:.2f}x, {point["loss"]:+.1f} %</text>')
    out.append("</svg>\n")
    with open(path, "w") as file:
        file.write("\n".join(out))
