"""Turning and scaling by itself, beside ffmpeg's `transpose,scale`: processor time of a frame."""

import json
import os
import resource
import subprocess

_TURNS = {
    1: [], 2: ["hflip"], 3: ["hflip", "vflip"], 4: ["vflip"], 5: ["transpose=cclock_flip"], 6: ["transpose=clock"],
    7: ["transpose=clock_flip"], 8: ["transpose=cclock"]}
_FORMATS = {"420v": "nv12", "BGRA": "bgra"}


def size(text):
    return tuple(map(int, text.split("x")))


def destination(source, canvas, orientation):
    """The largest even rectangle of the source's shape inside the canvas."""
    (w, h), (width, height) = size(source), size(canvas)
    if orientation >= 5:
        w, h = h, w
    if w * height > h * width:
        return width, (width * h + w) // (2 * w) * 2
    return (height * w + h) // (2 * h) * 2, height


class FFmpegFilters:
    """Milliseconds a frame: what the filters need beyond the same command without them, on frames in memory."""

    def __init__(self, folder):
        self.folder = folder
        self.bare = {}

    def _source(self, source, pixels):
        path = os.path.join(self.folder, f"{source}-{pixels}.raw")
        if not os.path.exists(path):
            subprocess.run(
                ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={source}:r=30", "-vf",
                 "noise=alls=40:allf=t", "-frames:v", "4", "-pix_fmt", _FORMATS[pixels], "-f", "rawvideo", path],
                check=True, stdin=subprocess.DEVNULL)
        return path

    def _seconds(self, source, pixels, filters, frames):
        command = [
            "ffmpeg", "-v", "error", "-nostdin", "-filter_threads", "1", "-f", "rawvideo", "-pix_fmt",
            _FORMATS[pixels], "-s", source, "-r", "30", "-i", self._source(source, pixels), "-vf",
            ",".join(["loop=loop=-1:size=4:start=0"] + filters), "-frames:v", str(frames), "-f", "null", "-"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def milliseconds(self, source, pixels, canvas, orientation, few=20, many=80):
        width, height = destination(source, canvas, orientation)
        filters = _TURNS[orientation] + [f"scale={width}:{height}", "format=yuv420p"]
        if (width, height) != size(canvas):
            filters.append("pad=%d:%d:(ow-iw)/2:(oh-ih)/2" % size(canvas))
        key = (source, pixels)
        if key not in self.bare:
            self.bare[key] = (
                self._seconds(source, pixels, [], 1000) - self._seconds(source, pixels, [], few)) / (1000 - few)
        seconds = self._seconds(source, pixels, filters, many) - self._seconds(source, pixels, filters, few)
        return max(1e-3, (seconds / (many - few) - self.bare[key]) * 1000)


def ours(bin_dir, source, pixels, canvas, orientation):
    """Milliseconds a frame by scaler: native and libyuv, and both as on an x86 processor that has no AVX2."""
    command = [
        bin_dir + "/upcast-bench", "geometry", "--source", source, "--format", pixels, "--canvas", canvas,
        "--orientation", str(orientation), "--rounds", "5", "--frames", "15"]
    lines = subprocess.check_output(command + ["--scaler", "native,libyuv"], text=True)
    lines += subprocess.check_output(command + ["--scaler", "portable,libyuv", "--ssse3"], text=True)
    rows = [json.loads(line) for line in lines.splitlines()]
    return {row["scaler"] + (", SSSE3" if row["ssse3"] else ""): row["ms"] for row in rows}
