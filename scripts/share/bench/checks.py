"""Whether everybody did the same work: as many frames, the same bitrate, the same picture, the same sound."""

import re
import subprocess

import material


def flv(path):
    """(kind, milliseconds, bytes of payload) of each tag of a recording."""
    with open(path, "rb") as file:
        data = file.read()
    place = 13
    while place + 11 <= len(data):
        kind, size = data[place], int.from_bytes(data[place + 1:place + 4], "big")
        time = int.from_bytes(data[place + 4:place + 7], "big") | data[place + 7] << 24
        body = data[place + 11:place + 11 + size]
        place += 15 + size
        if len(body) < 2:
            continue
        # Sequence headers are no media.
        if kind == 9 and body[1] == 1:
            yield "video", time, len(body) - 5
        elif kind == 8 and body[1] == 1:
            yield "audio", time, len(body) - 2


def rewrite_times(path, copy, times):
    """Copies a recording's pictures without its sound, with other times in milliseconds."""
    with open(path, "rb") as file:
        data = file.read()
    times, place = iter(times), 13
    with open(copy, "wb") as out:
        out.write(b"FLV\x01\x01" + data[5:9] + bytes(4))
        while place + 11 <= len(data):
            size = int.from_bytes(data[place + 1:place + 4], "big")
            tag = bytearray(data[place:place + 15 + size])
            place += 15 + size
            if tag[0] != 9 or size < 2 or len(tag) < 15 + size:
                continue
            time = next(times) if tag[12] == 1 else 0
            tag[4:8] = (time & 0xffffff).to_bytes(3, "big") + bytes([time >> 24])
            out.write(tag)


def media_bytes(path):
    """Of all tags of a recording that carry sound or picture, as RTMP messages carry them: with FLV's 5 and 2 bytes."""
    return sum(size + (5 if kind == "video" else 2) for kind, _, size in flv(path))


def figures(path, seconds):
    """Frames, kilobits of video and of audio a second; the first second, with its keyframe, does not count."""
    frames, video, audio = 0, 0, 0
    for kind, time, size in flv(path):
        frames += kind == "video"
        if 1000 <= time < seconds * 1000:
            if kind == "video":
                video += size
            else:
                audio += size
    return frames, video * 8 / 1000 / (seconds - 1), audio * 8 / 1000 / (seconds - 1)


def ssim(recording, raw, width, height, turned, seconds):
    """Mean SSIM of luma against the source, scaled by ffmpeg with areas, of what is shown at each thirtieth of two
    seconds. Recordings begin a frame or two earlier or later: the best match counts."""
    return max(_ssim(recording, raw, width, height, turned, seconds, shift) for shift in range(-3, 4))


def _ssim(recording, raw, width, height, turned, seconds, shift):
    turn = "transpose=clock," if turned else ""
    first = (seconds - 3) * material.RATE
    filters = (
        f"[0:v]fps={material.RATE}:start_time=0:round=near,trim=start_frame={first}:end_frame={first + 60},"
        f"setpts=PTS-STARTPTS[shown];[1:v]trim=start_frame={first + shift}:end_frame={first + shift + 60},"
        f"{turn}scale={width}:{height}:flags=area,format=yuv420p,setpts=PTS-STARTPTS[source];[shown][source]ssim")
    words = subprocess.run(
        ["ffmpeg", "-nostdin", "-i", recording, "-f", "rawvideo", "-pix_fmt", "nv12", "-s",
         f"{material.WIDTH}x{material.HEIGHT}", "-r", str(material.RATE), "-i", raw, "-filter_complex", filters,
         "-f", "null", "-"], capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
    found = re.search(r"SSIM Y:([0-9.]+)", words)
    return float(found.group(1)) if found else float("nan")


def loudness(recording):
    """Mean volume in dBFS."""
    words = subprocess.run(
        ["ffmpeg", "-nostdin", "-i", recording, "-vn", "-af", "volumedetect", "-f", "null", "-"],
        capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
    found = re.search(r"mean_volume: (-?[0-9.]+)", words)
    return float(found.group(1)) if found else float("nan")
