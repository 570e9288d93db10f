"""Single steps by themselves, each beside a rival in the same process: what upcast-bench prints, and a table of it."""

import json
import subprocess

import report

STEPS = ["pcm", "log", "protocol"]
FRAME_NS = 1e9 / 30


def measure(bin_dir, step):
    """The rows of a step."""
    words = subprocess.check_output([bin_dir + "/upcast-bench", step], text=True)
    return [json.loads(line) for line in words.splitlines()]


def _of(rows, **wanted):
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def _median(rows, key):
    return report.median([row[key] for row in rows])


def _spread(rows, key):
    return f"{min(row[key] for row in rows):.2f}-{max(row[key] for row in rows):.2f}"


def tables(rows, ratios):
    """As text; the ratios are noted for a later run to compare with."""
    texts = []
    lines = []
    for name in dict.fromkeys(row["format"] for row in _of(rows, bench="pcm")):
        runs = _of(rows, bench="pcm", format=name)
        ratios[f"pcm {name} / libavcodec"] = _median(runs, "libavcodec_ratio")
        lines.append([
            name, f"{_median(runs, 'ns'):.2f}", f"{_median(runs, 'libavcodec_ns'):.2f}",
            f"{_median(runs, 'libavcodec_ratio'):.2f}", _spread(runs, "libavcodec_ratio"),
            f"{_median(runs, 'swresample_ns'):.2f}"])
    texts.append(report.table(
        ["stereo PCM to float planes, ns a frame", "upcast", "libavcodec, libswresample", "ratio", "spread",
         "libswresample alone"], lines))

    one, two = _of(rows, bench="log", threads=1), _of(rows, bench="log", threads=2)
    ratios["log / copies"] = _median(one, "copy_ratio")
    texts.append(report.table(
        ["packet log, ns a packet", "CPU", "two copies", "ratio", "spread", "MB/s"],
        [["written and read, one thread", f"{_median(one, 'ns'):.0f}", f"{_median(one, 'copy_ns'):.0f}",
          f"{_median(one, 'copy_ratio'):.2f}", _spread(one, "copy_ratio"),
          f"{_median(one, 'megabytes_per_second'):.0f}"],
         ["written, another thread reads", f"{_median(two, 'writer_ns'):.0f}", "", "", "",
          f"{_median(two, 'megabytes_per_second'):.0f}"],
         ["read, another thread writes", f"{_median(two, 'reader_ns'):.0f}", "", "", "", ""]]))

    lines = []
    for name in dict.fromkeys(row["message"] for row in _of(rows, bench="protocol")):
        runs = _of(rows, bench="protocol", message=name)
        nanoseconds = _median(runs, "ns")
        lines.append([name, f"{nanoseconds:.0f}", f"{nanoseconds / FRAME_NS * 100:.4f} %"])
    texts.append(report.table(["protocol, header and body", "ns a message", "of 33.3 ms"], lines))
    return "\n\n".join(texts)
