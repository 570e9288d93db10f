"""The benchmark behind scripts/bench, which builds what it needs: paired, interleaved, medians and ratios."""

import argparse
import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import box  # noqa: E402
import checks  # noqa: E402
import clips  # noqa: E402
import contenders  # noqa: E402
import effort  # noqa: E402
import frontier  # noqa: E402
import geometry  # noqa: E402
import latency  # noqa: E402
import material  # noqa: E402
import micro  # noqa: E402
import quality  # noqa: E402
import report  # noqa: E402
import scenes  # noqa: E402
import screen  # noqa: E402
import server  # noqa: E402

# The canvas of each name, turned to stand, and its bitrate.
CANVASES = {"540p": (540, 960, 2000), "720p": (720, 1280, 3500), "1080p": (1080, 1920, 6000)}

# At most this much of the rival's, for each content: processor time beside ffmpeg and beside GStreamer.
TARGETS = {"motion": (0.6, 0.55), "screen": (0.5, 0.45), "static": (0.1, 0.1), "silent": (0.1, 0.1), "card": (0.75, 0.85)}
MEMORY_TARGETS = (0.38, 0.54)
# Of native, which is bicubic as ffmpeg is, and which auto takes here.
GEOMETRY_TARGET = 0.25
# Of ffmpeg; the others have as much as their picture needs to be as good.
MANY_KBPS = 2500
# Seconds by which broadcasts may last longer together than one alone.
MANY_LAG = 0.5
# Of the better rival's.
LATENCY_TARGET = 0.8
# A ratio that has grown by more than this beside an earlier run's is a regression.
REGRESSION = 1.10
# The same for bits that the same quality takes.
QUALITY_REGRESSION = 1.03

SOURCES = ["1920x1080", "1170x2532", "1290x2796", "2048x2732", "2560x1440"]
GEOMETRY_CANVASES = ["720x1280", "1080x1920", "540x960", "1280x720"]


PARTS = ["quality", "work", "geometry", "latency", "many", "growth", "micro", "effort", "box", "screen"]
# What takes hours, and is measured only where it is named.
LONG_PARTS = ["frontier"]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(64, f"scripts/bench: {message}\n")


def words(known):
    def split(text):
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no {word}, but {', '.join(known)}")
        return text
    return split


def number(least):
    def parse(text):
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is no number from {least} on")
        return int(text)
    return parse


def settings(text):
    try:
        quality.option(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error))
    return text


def bitrates(text):
    if not re.fullmatch(r"\d+(,\d+){3,}", text) or len(set(text.split(","))) < 4:
        raise argparse.ArgumentTypeError(f"{text} is not four bitrates or more, with commas")
    return [int(word) for word in text.split(",")]


def x264_settings(text):
    name, colon, words = text.partition(":")
    if not (name and colon) or name in frontier.SETTINGS or any("=" not in word for word in words.split(":") if word):
        raise argparse.ArgumentTypeError(f"{text} is no NAME:KEY=VALUE:... of a new name")
    return text


def existing(path):
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path}")
    return path


def arguments():
    parser = Parser(
        prog="scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Picture quality, processor time and peak memory of upcastd beside ffmpeg and GStreamer at the same "
        "work, on this machine, in this run.",
        epilog="Parts: quality (bits that the same picture takes, at four bitrates), work (broadcasts side by side), "
        "geometry (turning and scaling alone), latency (a frame's last byte to its message at the server), many "
        "(broadcasts at once, at the same quality), growth (frame rates and destinations), micro (PCM, the packet log and "
        "the protocol by themselves), effort (half of the processor, fixed efforts and one that follows it), box (in the "
        "memory of a profile, with a stalling uplink), screen (an X11 screen and its sound, captured and published), frontier "
        "(bits and processor time of x264's settings; hours, therefore only if named). Exit "
        f"status: 0 measured, 1 something failed, 2 a ratio is more than {REGRESSION} times that of --compare "
        f"(for bits {QUALITY_REGRESSION}), 64 wrong "
        "option, 130 interrupted, 143 terminated.")
    parser.add_argument("--only", type=words(PARTS + LONG_PARTS), default=",".join(PARTS),
                        help="parts, with commas (default: all but frontier)")
    parser.add_argument("--content", type=words(TARGETS), default="motion,screen,static,silent",
                        help="contents of work, with commas: " + "; ".join(
                            f"{name} ({what})" for name, what in material.CONTENTS.items())
                        + " (default: all but card)")
    parser.add_argument("--canvas", type=words(CANVASES), default="720p,1080p,540p",
                        help="canvases, with commas (default: all)")
    parser.add_argument("--clips", type=words(clips.NAMES), default=",".join(clips.DEFAULT),
                        help=f"clips of quality and frontier, with commas: {', '.join(clips.NAMES)} (default: all but screen)")
    parser.add_argument("--film", type=existing, help="a video of your own, to be used for film and motion")
    parser.add_argument("--kbps", type=bitrates, help="bitrates of quality, with commas (default: each clip's own)")
    parser.add_argument("--upcast", type=settings, action="append", default=[], metavar="NAME:KEY=VALUE,...",
                        help="upcast with other settings as well: keys of video, SECTION.KEY, or options.NAME for an option "
                        "of the encoder; may be given several times (quality, work, latency, many)")
    parser.add_argument("--x264", type=x264_settings, action="append", default=[], metavar="NAME:KEY=VALUE:...",
                        help="frontier: these settings of x264 as well; may be given several times")
    parser.add_argument("--settings", type=words(frontier.SETTINGS), default=",".join(frontier.SETTINGS),
                        help="frontier: the settings to be measured, with commas (default: all)")
    parser.add_argument("--vmaf", action="store_true", help="quality: VMAF too, by an ffmpeg that PyPI has")
    parser.add_argument("--turned", action="store_true",
                        help="quality: 1920x1080 turned onto 720x1280, instead of 1280x720 as it is")
    parser.add_argument("--rounds", type=number(1),
                        help="runs of each contender, interleaved (default: 5, for quality and frontier 1)")
    parser.add_argument("--seconds", type=number(5), default=10, help="length of a run (default: 10)")
    parser.add_argument("--screen", type=existing, help="a video of a screen, 1920x1080, to be used for screen and static")
    parser.add_argument("--geometry", default="common", choices=["common", "all"],
                        help="common: turned and not; all: the eight orientations and all sizes (default: common)")
    parser.add_argument("--out", default="bench-results", help="folder for the figures and plots")
    parser.add_argument("--box-seconds", type=number(70), default=600,
                        help="length of upcast's run in the box (default: 600)")
    parser.add_argument("--box-profile", choices=box.profiles(), default="1080p30",
                        help="configuration of Config/profiles for the box, and its size (default: 1080p30)")
    parser.add_argument("--scenes", type=words([*scenes.SCENES, "latency"]), default=",".join([*scenes.SCENES, "latency"]),
                        help="screen: what is captured, with commas (default: all)")
    parser.add_argument("--no-sound", action="store_true", help="screen: without sound, on all sides")
    parser.add_argument("--play", type=number(1), metavar="MS",
                        help="screen, latency: meanwhile a program plays sound with this latency (default: none plays)")
    parser.add_argument("--compare", type=existing, help="results.json of an earlier run")
    parser.add_argument("--bin-dir", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--check-options", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.quality_rounds = options.rounds or 1
    options.rounds = options.rounds or 5
    names = ["upcast", "ffmpeg", "gstreamer"] + [text.split(":")[0] for text in options.upcast]
    if len(set(names)) < len(names):
        parser.error("--upcast: two contenders have the same name")
    return options


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release()}


def everybody(options):
    """upcast as it comes, the rivals, and upcast with the settings that were asked for."""
    more = [contenders.Upcast(options.bin_dir, *quality.option(text)) for text in options.upcast]
    return [contenders.Upcast(options.bin_dir), contenders.FFmpeg(), contenders.GStreamer(), *more]


def work(options, folder, results):
    """Each content at each canvas by each contender, in turn, as often as there are rounds."""
    nginx = server.Server(folder)
    music, silence = (make(options.seconds, folder) for make in (material.make_audio, material.make_silence))
    try:
        for content in options.content.split(","):
            audio = silence if content == "silent" else music
            say(f"making {options.seconds} s of {content}")
            video = material.make(content, options.seconds, folder, options.screen, options.film)
            quality.of_content(options, folder, nginx, results, content, video, audio, everybody(options), say)
            for name in options.canvas.split(","):
                # The other sizes show how cost grows; one content is enough for that.
                if name != "720p" and content != "motion":
                    continue
                results["work"].append(pair(options, folder, nginx, content, video, audio, name))
            os.unlink(video)
    finally:
        nginx.stop()


def pair(options, folder, nginx, content, video, audio, canvas):
    width, height, kbps = CANVASES[canvas]
    row = {"content": content, "canvas": canvas, "kbps": kbps, "runs": {}}
    for round_number in range(options.rounds):
        for contender in everybody(options):
            stream = f"{content}-{canvas}-{contender.name.replace(', ', '-')}-{round_number}"
            task = contenders.Task(
                video, *audio, width, height, kbps, options.seconds, nginx.url(stream))
            result = contender.run(task, os.path.join(folder, "run"))
            run = {"cpu": result.cpu, "client_cpu": result.client_cpu, "peak": result.peak, "note": result.note}
            # Frames are all there in the recording once the server has closed it.
            time.sleep(0.3)
            recording = nginx.recording(stream)
            if not os.path.exists(recording):
                run["note"] = run["note"] or "nothing was recorded"
            else:
                run["frames"], run["video_kbps"], run["audio_kbps"] = checks.figures(recording, options.seconds)
                run["wire_bytes"], run["media_bytes"] = nginx.wire_bytes(stream), checks.media_bytes(recording)
                if round_number == 0:
                    run["ssim"] = checks.ssim(recording, video, width, height, True, options.seconds)
                    run["loudness"] = checks.loudness(recording)
                os.unlink(recording)
            row["runs"].setdefault(contender.name, []).append(run)
            say(f"{content} {canvas} {contender.name}: {run['cpu'] + run['client_cpu']:.2f} s, "
                f"{run['peak'] / 2**20:.1f} MiB, {run.get('frames', 0)} frames {run['note'][:200]}")
    return row


def ratios(row, rival, figure):
    """Ours to the rival's, round by round."""
    ours, theirs = row["runs"]["upcast"], row["runs"][rival]
    return [figure(a) / figure(b) for a, b in zip(ours, theirs) if figure(b)]


def processor(run):
    return run["cpu"] + run["client_cpu"]


def bits(results, row, who):
    """What the same quality of this content costs beside ffmpeg: as text, by PSNR and by SSIM, measured at 720p."""
    if row["canvas"] != "720p" or row["content"] not in results["content_quality"]:
        return ["", ""]
    if who == "ffmpeg":
        return ["base", "base"]
    rates = quality.content_rates(results, row["content"], who)
    if who == "upcast":
        results["ratios"].update(
            {f"quality {row['content']} {who} {key} bits": 1 + value / 100
             for key, value in rates.items() if isinstance(value, float) and key in quality.MEASURES})
    return [quality.percent(rates.get(key)) for key in ("psnr", "ssim")]


def wire_overhead(run):
    """Per cent of the media's bytes that the connection carried besides."""
    if not run.get("wire_bytes") or not run.get("media_bytes"):
        return float("nan")
    return (run["wire_bytes"] / run["media_bytes"] - 1) * 100


def differences(results, frames):
    """Where a contender's work is not what the row asks for, or not what upcast's is."""
    lines = []
    for row in results["work"]:
        ours = row["runs"]["upcast"]
        for who, runs in row["runs"].items():
            said = []
            count = report.median([run.get("frames", 0) for run in runs])
            if count < 0.99 * frames:
                said.append(f"{count:.0f} of {frames} frames")
            rate, our_rate = (report.median([run.get("video_kbps", 0) for run in of]) for of in (runs, ours))
            if abs(rate - our_rate) > 0.03 * our_rate:
                said.append(f"{rate:.0f} kbit/s of video beside upcast's {our_rate:.0f}")
            ssim = runs[0].get("ssim", 0) - ours[0].get("ssim", 0)
            if abs(ssim) > 0.003:
                said.append(f"SSIM {ssim:+.4f} beside upcast's")
            loudness = runs[0].get("loudness", 0) - ours[0].get("loudness", 0)
            if abs(loudness) > 0.5:
                said.append(f"sound {loudness:+.1f} dB beside upcast's")
            if said:
                lines.append(f"  {row['content']}, {row['canvas']}, {who}: {'; '.join(said)}")
    if not lines:
        return "the work was the same: frames, bitrate within 3 % of upcast's, SSIM within 0.003, loudness within 0.5 dB"
    return "\n".join(["not the same work:"] + lines)


def work_report(results, options):
    lines, header = [], ["content, canvas, who", "CPU ms/frame", "of it client", "peak MiB", "frames", "video kbit/s",
                         "audio kbit/s", "wire overhead %", "SSIM", "dBFS", "bits, same PSNR", "same SSIM"]
    frames = options.seconds * material.RATE
    verdicts = []
    for row in results["work"]:
        for who, runs in row["runs"].items():
            first = runs[0]
            lines.append([
                f"{row['content']}, {row['canvas']}, {who}",
                f"{report.median([processor(r) for r in runs]) * 1000 / frames:.2f}",
                f"{report.median([r['client_cpu'] for r in runs]) * 1000 / frames:.2f}",
                f"{report.median([r['peak'] for r in runs]) / 2**20:.1f}",
                f"{report.median([r.get('frames', 0) for r in runs]):.0f}",
                f"{report.median([r.get('video_kbps', 0) for r in runs]):.0f}",
                f"{report.median([r.get('audio_kbps', 0) for r in runs]):.0f}",
                f"{report.median([wire_overhead(r) for r in runs]):.3f}",
                f"{first.get('ssim', float('nan')):.4f}", f"{first.get('loudness', float('nan')):.1f}",
                *bits(results, row, who)])
        for index, rival in enumerate(("ffmpeg", "gstreamer")):
            cpu, peak = ratios(row, rival, processor), ratios(row, rival, lambda run: run["peak"])
            key = f"{row['content']} {row['canvas']} / {rival}"
            results["ratios"][key + " CPU"] = report.median(cpu)
            results["ratios"][key + " memory"] = report.median(peak)
            verdicts.append([
                f"{row['content']}, {row['canvas']}, beside {rival}", f"{report.median(cpu):.2f}", report.spread(cpu),
                f"{TARGETS[row['content']][index]:.2f}", f"{report.median(peak):.2f}", report.spread(peak),
                f"{MEMORY_TARGETS[index]:.2f}"])
    report.bars(
        "Processor time of a frame", "ms",
        [(f"{row['content']}, {row['canvas']}",
          [(who, report.median([processor(r) for r in runs]) * 1000 / frames) for who, runs in row["runs"].items()])
         for row in results["work"]], os.path.join(options.out, "processor.svg"))
    report.bars(
        "Peak resident memory", "MiB",
        [(f"{row['content']}, {row['canvas']}",
          [(who, report.median([r["peak"] for r in runs]) / 2**20) for who, runs in row["runs"].items()])
         for row in results["work"]], os.path.join(options.out, "memory.svg"))
    return (
        report.table(header, lines) + "\n\n" + differences(results, frames) + "\n\n" + report.table(
            ["ratio, client included", "CPU", "spread", "target", "memory", "spread", "target"], verdicts))


def geometry_part(options, folder, results):
    filters = geometry.FFmpegFilters(folder)
    sources = SOURCES if options.geometry == "all" else SOURCES[:2] + SOURCES[4:]
    orientations = range(1, 9) if options.geometry == "all" else (1, 3, 6, 8)
    canvases = GEOMETRY_CANVASES if options.geometry == "all" else GEOMETRY_CANVASES[:3]
    rounds = min(3, options.rounds)
    for source in sources:
        for pixels in ("420v", "BGRA"):
            for canvas in canvases:
                for orientation in orientations:
                    pairs = [
                        (geometry.ours(options.bin_dir, source, pixels, canvas, orientation),
                         filters.milliseconds(source, pixels, canvas, orientation)) for _ in range(rounds)]
                    ours = {name: report.median([one[name] for one, _ in pairs]) for name in pairs[0][0]}
                    row = {
                        "source": source, "format": pixels, "canvas": canvas, "orientation": orientation, "ours": ours,
                        "ffmpeg": report.median([rival for _, rival in pairs]),
                        "ratios": {name: report.median([one[name] / rival for one, rival in pairs]) for name in ours}}
                    row["ratio"] = row["ratios"]["native"]
                    results["geometry"].append(row)
                    say(f"geometry {source} {pixels} to {canvas}, orientation {orientation}: "
                        + ", ".join(f"{name} {ms:.2f} ms" for name, ms in ours.items())
                        + f"; ffmpeg {row['ffmpeg']:.2f}, ratio {row['ratio']:.2f}")


def geometry_report(results):
    names = list(results["geometry"][0]["ours"])
    rows = [
        [f"{r['source']} {r['format']} to {r['canvas']}, {r['orientation']}"]
        + [f"{r['ours'][name]:.2f}" for name in names] + [f"{r['ffmpeg']:.2f}", f"{r['ratio']:.2f}"]
        for r in results["geometry"]]
    every = [r["ratio"] for r in results["geometry"]]
    results["ratios"]["geometry"] = report.median(every)
    summary = [
        f"{name}: median {report.median(ratios):.2f} of ffmpeg, {min(ratios):.2f} to {max(ratios):.2f}, the faster of its "
        f"pair in {sum(first < second for first, second in zip(ratios, rivals))} of {len(ratios)}"
        for pair in (names[:2], names[2:]) for name, other in (pair, reversed(pair))
        for ratios, rivals in [[[r["ratios"][which] for r in results["geometry"]] for which in (name, other)]]]
    return report.table(["geometry, EXIF orientation, ms"] + names + ["ffmpeg", "ratio of native"], rows) + (
        "\n" + "\n".join(summary)
        + f"\nnative: median {report.median(every):.2f}, {min(every):.2f} to {max(every):.2f}; target at most "
        f"{GEOMETRY_TARGET}, {sum(ratio > GEOMETRY_TARGET for ratio in every)} of {len(every)} above")


def quality_part(options, folder, results):
    nginx = server.Server(os.path.join(folder, "quality"))
    try:
        quality.run(options, folder, nginx, results, say)
    finally:
        nginx.stop()


def frontier_part(options, folder, results):
    settings = {name: frontier.SETTINGS[name] for name in options.settings.split(",")}
    settings.update(text.split(":", 1) for text in options.x264)
    frontier.run(options, settings, folder, results, say)


def latency_part(options, folder, results):
    frames = latency.material(folder, film=options.film)
    ours = [contender for contender in everybody(options) if isinstance(contender, contenders.Upcast)]
    # By default two threads share a frame, as the rivals' do.
    ours.append(contenders.Upcast(options.bin_dir, "upcast, 1 thread", {"video": {"threads": 1}}))
    for number in range(options.rounds):
        for who in ours:
            run = latency.of_upcast(who, contenders.Task, frames, options.seconds, os.path.join(folder, "latency"))
            note_latency(results, number, who.name, *run)
        for who, command in (("ffmpeg", latency.ffmpeg), ("gstreamer", latency.gstreamer)):
            run = latency.of_command(command, frames, options.seconds, os.path.join(folder, "latency.log"))
            note_latency(results, number, who, *run)


def note_latency(results, round_number, who, values, held_up):
    came = [value for value in values if value is not None]
    if not came:
        say(f"latency {who}: no frame came")
        return
    p50, p99 = latency.percentile(came, 0.5), latency.percentile(came, 0.99)
    left_out = len(values) - len(came)
    results["latency"].append({"who": who, "round": round_number, "p50": p50, "p99": p99, "frames": len(came),
                               "left_out": left_out, "held_up": held_up})
    say(f"latency {who}: p50 {p50:.1f} ms, p99 {p99:.1f} ms of {len(came)} frames, {left_out} left out, "
        f"{held_up} taken late")


def latency_report(results):
    who = list(dict.fromkeys(row["who"] for row in results["latency"]))
    rows, medians = [], {}
    for name in who:
        runs = [row for row in results["latency"] if row["who"] == name]
        medians[name] = [report.median([run[key] for run in runs]) for key in ("p50", "p99")]
        rows.append([name] + [f"{value:.1f}" for value in medians[name]]
                    + [sum(run["left_out"] for run in runs), sum(run["held_up"] for run in runs),
                       sum(run["frames"] + run["left_out"] for run in runs), len(runs)])
    text = report.table(
        ["last byte of a frame to its message, 720p30", "p50 ms", "p99 ms", "left out", "taken late", "of", "runs"], rows)
    for key in ("p50", "p99"):
        ratios = []
        for number in dict.fromkeys(row["round"] for row in results["latency"]):
            values = {row["who"]: row[key] for row in results["latency"] if row["round"] == number}
            rivals = [values[name] for name in ("ffmpeg", "gstreamer") if name in values]
            if "upcast" in values and rivals:
                ratios.append(values["upcast"] / min(rivals))
        if ratios:
            results["ratios"]["latency " + key] = report.median(ratios)
            text += (f"\n{key}: {report.median(ratios):.2f} of the better rival's, {report.spread(ratios)}; target "
                     f"{LATENCY_TARGET}, met in {sum(r <= LATENCY_TARGET for r in ratios)} of {len(ratios)} runs")
    return text


def micro_part(options, results):
    for number in range(options.rounds):
        for step in micro.STEPS:
            rows = micro.measure(options.bin_dir, step)
            results["micro"] += rows
            say(f"{step}, round {number + 1}: {len(rows)} figures")


def many(options, folder, results):
    """How many broadcasts of natural motion run at once, at the same quality: each has the bitrate at which its picture is
    as good as ffmpeg's."""
    nginx = server.Server(os.path.join(folder, "many"))
    audio = material.make_audio(options.seconds, folder)
    video = material.make("motion", options.seconds, folder, film=options.film)
    try:
        who = everybody(options)
        quality.of_content(options, folder, nginx, results, "motion", video, audio, who, say)
        for contender in who:
            rates = quality.content_rates(results, "motion", contender.name)
            # Of the frames that came: those that are left out are what is looked for here.
            dearer = [1 + rates[key] / 100 for key in quality.CAME if isinstance(rates.get(key), float)]
            kbps = MANY_KBPS if contender.name == "ffmpeg" or not dearer else round(MANY_KBPS * max(dearer))
            # Twice as many each time until it is too many, then between the last two.
            most, least_too_many, alone = 0, None, None
            while least_too_many is None or least_too_many - most > 1:
                count = most * 2 or 1 if least_too_many is None else (most + least_too_many) // 2
                if count > 64:
                    break
                # Once may be somebody else's work on this machine; what fails twice is too many.
                for _ in range(2):
                    row = at_once(options, folder, nginx, contender, count, (video, *audio), kbps, alone)
                    if row["keeps_up"]:
                        break
                row["rates"] = rates
                alone = row["lasted"] if alone is None else alone
                results["many"].append(row)
                say(f"{count} x {contender.name}, {kbps} kbit/s: load {row['load']:.2f}, least frames "
                    f"{min(row['frames'])}, {row['lag']:.1f} s behind, {row['memory'] / 2**20 / count:.1f} MiB each")
                if row["keeps_up"]:
                    most = count
                else:
                    least_too_many = count
    finally:
        nginx.stop()
        os.unlink(video)


def at_once(options, folder, nginx, contender, count, inputs, kbps, alone):
    """So many broadcasts; `alone` is how long one of them lasted."""
    width, height, _ = CANVASES["720p"]
    running, begin = [], time.monotonic()
    name = re.sub(r"[^A-Za-z0-9]+", "-", contender.name)
    for index in range(count):
        task = contenders.Task(
            *inputs, width, height, kbps, options.seconds, nginx.url(f"many-{name}-{count}-{index}"))
        place = os.path.join(folder, f"many{index}")
        process = contender.start(task, place)
        client = contender.client(task, place) if hasattr(contender, "client") else None
        running.append((time.monotonic(), process, client))
    row = {"who": contender.name, "count": count, "kbps": kbps, "cpu": 0, "memory": 0, "frames": [], "lasted": 0}
    for start, process, client in running:
        if client:
            row["cpu"] += client.wait(options.seconds + 60)[1]
            row["lasted"] = max(row["lasted"], time.monotonic() - start)
            process.look()
            process.signal(signal.SIGTERM)
        row["cpu"] += process.wait(options.seconds + 60)[1]
        if not client:
            row["lasted"] = max(row["lasted"], time.monotonic() - start)
        row["memory"] += process.peak
    row["load"] = row["cpu"] / ((time.monotonic() - begin) * os.cpu_count())
    time.sleep(0.5)
    for index in range(count):
        recording = nginx.recording(f"many-{name}-{count}-{index}")
        row["frames"].append(checks.figures(recording, options.seconds)[0] if os.path.exists(recording) else 0)
        if os.path.exists(recording):
            os.unlink(recording)
    # Whoever is paced by its input does not drop: it takes longer.
    row["lag"] = row["lasted"] - (row["lasted"] if alone is None else alone)
    row["keeps_up"] = min(row["frames"]) >= 0.99 * options.seconds * material.RATE and row["lag"] <= MANY_LAG
    return row


def growth(options, folder, results):
    """What upcast alone takes as one thing at a time grows: 720p with motion."""
    nginx = server.Server(os.path.join(folder, "growth"))
    audio = material.make_audio(options.seconds, folder)
    video = material.make("motion", options.seconds, folder, film=options.film)
    width, height, kbps = CANVASES["720p"]
    cases = [("frames a second", rate, {"rate": rate}, 1) for rate in (15, 30, 60)]
    cases += [("destinations", count, {}, count) for count in (1, 2, 4, 8)]
    try:
        for round_number in range(options.rounds):
            for what, value, task_options, destinations in cases:
                task = contenders.Task(
                    video, *audio, width, height, kbps, options.seconds,
                    nginx.url(f"growth-{what.split()[0]}-{value}-{round_number}"), **task_options)
                contender = contenders.Upcast(options.bin_dir, destinations=destinations)
                # Ten seconds of pictures last five at twice the rate.
                result = contender.run(task, os.path.join(folder, "run"), ["--loop"])
                results["growth"].append({
                    "what": what, "value": value, "cpu": result.cpu, "peak": result.peak, "note": result.note,
                    "frames": options.seconds * task.rate})
                say(f"growth, {value} {what}: {result.cpu:.2f} s, {result.peak / 2**20:.1f} MiB {result.note[:200]}")
    finally:
        nginx.stop()
        os.unlink(video)


def growth_report(results):
    rows = []
    for what, value in dict.fromkeys((r["what"], r["value"]) for r in results["growth"]):
        runs = [r for r in results["growth"] if (r["what"], r["value"]) == (what, value)]
        rows.append([
            f"{value} {what}", f"{report.median([r['cpu'] * 1000 / r['frames'] for r in runs]):.2f}",
            f"{report.median([r['cpu'] for r in runs]):.2f}", f"{report.median([r['peak'] for r in runs]) / 2**20:.1f}"])
    return report.table(["upcastd alone, 720p with motion", "CPU ms/frame", "CPU s", "peak MiB"], rows)


def many_report(results):
    rows = sorted(results["many"], key=lambda row: row["count"])
    who = list(dict.fromkeys(row["who"] for row in results["many"]))
    most = {name: max((row["count"] for row in rows if row["who"] == name and row["keeps_up"]), default=0)
            for name in who}
    for rival in ("ffmpeg", "gstreamer"):
        if most.get("upcast") and rival in most:
            results["ratios"][f"many / {rival}, inverse"] = most[rival] / most["upcast"]
    lines = []
    for name in who:
        for row in (row for row in rows if row["who"] == name):
            lines.append([
                name, row["count"], row["kbps"],
                *(["base", "base"] if name == "ffmpeg" else
                  [quality.percent(row["rates"].get(key)) for key in quality.CAME]),
                f"{row['load']:.2f}", f"{row['cpu'] / row['count']:.2f}", f"{row['memory'] / 2**20 / row['count']:.1f}",
                min(row["frames"]), f"{row['lag']:.1f}", "yes" if row["keeps_up"] else "no"])
    return report.table(
        ["broadcasts at once, 720p motion, same quality", "count", "kbit/s", "bits, same PSNR", "same SSIM", "load",
         "CPU s each", "MiB each", "least frames", "s behind", "keeps up"], lines) + (
        f"\nmost at once on {results['machine']['cores']} cores: "
        + ", ".join(f"{name} {count}" for name, count in most.items()))


def effort_part(options, folder, results):
    nginx = server.Server(os.path.join(folder, "effort"))
    try:
        results["effort"] = effort.run(
            options.bin_dir, nginx, folder, 2 * options.seconds, min(3, options.rounds), options.film, say)
    finally:
        nginx.stop()


def box_part(options, folder, results):
    nginx = server.Server(os.path.join(folder, "box"))
    try:
        results["box"] = box.run(
            options.bin_dir, options.box_profile, nginx, folder, options.box_seconds, say, options.film)
    finally:
        nginx.stop()


def screen_part(options, folder, results):
    if not options.no_sound and not screen.Upcast.has_sound(options.bin_dir):
        raise RuntimeError("upcast-screen has no --sound here; --no-sound leaves it out on all sides")
    nginx = server.Server(os.path.join(folder, "screen"))
    try:
        screen.measure(options, folder, nginx, results, say)
    finally:
        nginx.stop()


def main():
    options = arguments()
    if options.check_options:
        return 0
    os.makedirs(options.out, exist_ok=True)
    parts = options.only.split(",")
    results = {"machine": machine(), "options": {k: v for k, v in vars(options).items() if k != "bin_dir"},
               "work": [], "geometry": [], "latency": [], "many": [], "growth": [], "micro": [],
               "quality": [], "content_quality": {}, "frontier": [], "screen": [], "screen_latency": [],
               "left_out_clips": [], "ratios": {}}
    folder = tempfile.mkdtemp(prefix="upcast-bench-")
    texts, broken = [], []
    try:
        for name, run, tell in (
                ("quality", lambda: quality_part(options, folder, results), lambda: quality.text(results, options)),
                ("geometry", lambda: geometry_part(options, folder, results), lambda: geometry_report(results)),
                ("frontier", lambda: frontier_part(options, folder, results), lambda: frontier.text(results, options)),
                ("micro", lambda: micro_part(options, results),
                 lambda: micro.tables(results["micro"], results["ratios"])),
                ("work", lambda: work(options, folder, results), lambda: work_report(results, options)),
                ("latency", lambda: latency_part(options, folder, results), lambda: latency_report(results)),
                ("growth", lambda: growth(options, folder, results), lambda: growth_report(results)),
                ("many", lambda: many(options, folder, results), lambda: many_report(results)),
                ("effort", lambda: effort_part(options, folder, results), lambda: effort.text(results["effort"])),
                ("box", lambda: box_part(options, folder, results), lambda: box.text(results["box"], options.box_profile)),
                ("screen", lambda: screen_part(options, folder, results), lambda: screen.text(results, options))):
            if name not in parts:
                continue
            # What the others found in the best part of an hour is not to be lost with one.
            try:
                run()
                texts.append(tell())
            except Exception as error:  # whatever it is, it is told
                traceback.print_exc()
                broken.append(f"{name}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with open(os.path.join(options.out, "results.json"), "w") as file:
            json.dump(results, file, indent=1)
    text = "\n\n".join(texts) + "\n"
    with open(os.path.join(options.out, "table.txt"), "w") as file:
        file.write(text)
    print(text)
    say(f"figures are in {options.out}")
    if broken:
        say("not measured: " + "; ".join(broken))
        return 1
    failed = [run["note"] for row in results["work"] for runs in row["runs"].values() for run in runs if run["note"]]
    failed += [row["note"] for rows in (results["quality"], results["screen"], *results["content_quality"].values())
               for row in rows if row["note"]]
    if failed:
        say(f"{len(failed)} runs failed; the first: {failed[0]}")
        return 1
    if options.compare:
        with open(options.compare) as file:
            before = json.load(file)["ratios"]
        worse = {key: (before[key], value) for key, value in results["ratios"].items()
                 if key in before and value > before[key] * (QUALITY_REGRESSION if key.endswith(" bits") else REGRESSION)}
        for key, (old, new) in worse.items():
            say(f"worse than before: {key}: {new:.2f}, was {old:.2f}")
        return 2 if worse else 0
    return 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
