"""What is on a screen that is captured: a desk, a terminal, a page, a film, as raw pictures that stage.py draws."""

import os
import subprocess

import clips
import stage

RATE = 30


class Scene:
    """What is drawn, how large the screen is, and what it becomes: a canvas and its bitrate."""

    def __init__(self, name, kind, source, canvas, kbps, aim, music):
        self.name, self.kind, self.source, self.canvas, self.kbps = name, kind, source, canvas, kbps
        # Of the better rival's processor time, at most; and whether something plays.
        self.aim, self.music = aim, music


_HD, _UHD, _HD_READY = (1920, 1080), (3840, 2160), (1280, 720)
SCENES = {scene.name: scene for scene in (
    Scene("still", "still", _HD, _HD_READY, 3500, 0.12, False),
    Scene("typed", "typed", _HD, _HD_READY, 3500, 0.30, False),
    Scene("scroll", "scroll", _HD, _HD_READY, 3500, 0.65, False),
    Scene("video", "video", _HD, _HD_READY, 3500, 0.75, True),
    Scene("still-4k", "still", _UHD, _HD, 6000, 0.12, False),
    Scene("video-4k", "video", _UHD, _HD, 6000, 0.75, True),
)}
# Pictures of the film for each size: what is in memory at once.
_FILM_SECONDS = {_HD: 5, _UHD: 2}


def order(scene, frames):
    """The number of the picture that each frame from 0 to `frames` shows."""
    film = _FILM_SECONDS.get(scene.source, 0) * RATE
    return [stage.picture_of(scene.kind, index, film) for index in range(frames + 1)]


def prepare(scene, frames, folder, film=None):
    """Writes what `stage.py` needs for a scene of so many frames. Where no film can be had, pans over photographs."""
    os.makedirs(folder, exist_ok=True)
    width, height = scene.source
    if scene.kind in ("still", "typed"):
        # A still screen has all of its text from the beginning.
        _picture(_desk(folder, width, height, stage.TYPED_BEFORE if scene.kind == "typed" else stage.ROWS),
                 f"{folder}/desk.bgrx")
    if scene.kind == "typed":
        _picture(_desk(folder, width, height, stage.ROWS), f"{folder}/text.bgrx")
    if scene.kind == "scroll":
        _picture(_page(folder, width, height + frames * stage.SCROLLED), f"{folder}/page.bgrx")
    if scene.kind == "video":
        _film(folder, width, height, _FILM_SECONDS[scene.source], film)


def _picture(graph, path):
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-filter_complex", graph, "-frames:v", "1", "-pix_fmt", "bgr0", "-f", "rawvideo",
         path], check=True, stdin=subprocess.DEVNULL)


def _text(folder, name, first, count, words, options):
    return f"drawtext=textfile={clips.lines(folder, name, first, count, words)}:font=monospace:{options}"


def _desk(folder, width, height, rows):
    """A page behind a terminal with so many rows of text, at 1080 lines or twice as many."""
    unit = height // 1080
    (left, top), across, down = stage.TERMINAL, stage.COLUMNS * stage.CELL_WIDTH, stage.ROWS * stage.CELL_HEIGHT
    boxes = [
        (70, 60, 900, 940, "0xf4f4f0"), (70, 60, 900, 30, "0xc8ccd4"),
        (left - 2, top - 32, across + 4, down + 34, "0x3a4048"), (left, top, across, down, "0x1e2227")]
    draw = [f"drawbox=x={x * unit}:y={y * unit}:w={w * unit}:h={h * unit}:c={color}:t=fill"
            for x, y, w, h, color in boxes]
    page = _text(folder, "behind.txt", 40, 40, 7, f"fontsize={15 * unit}:line_spacing={6 * unit}:x={84 * unit}:"
                 f"y={104 * unit}:fontcolor=0x303030")
    draw.insert(2, page)
    for row in range(rows):
        draw.append(_text(
            folder, f"row{row}.txt", row, 1, 15, f"fontsize={20 * unit}:x={left * unit}:"
            f"y={(top + row * stage.CELL_HEIGHT + 3) * unit}:fontcolor=0xd8d0b0"))
    return f"gradients=s={width}x{height}:c0=0x204060:c1=0x80a0b0:x0=0:y0=0:x1={width}:y1={height}:n=2:d=1," + ",".join(draw)


def _page(folder, width, height):
    """Text in two columns, with a picture here and there."""
    columns = [
        _text(folder, f"page{index}.txt", 90 * index, height // 22, 9, f"fontsize=18:line_spacing=5:x={x}:y=12:"
              "fontcolor=0x202020") for index, x in enumerate((60, width // 2 + 40))]
    pictures = height // 900
    chain = f"color=0xf8f8f4:s={width}x{height},{','.join(columns)}[p0];"
    chain += f"mandelbrot=s=560x320:maxiter=120,split={pictures}" + "".join(f"[m{n}]" for n in range(pictures)) + ";"
    return chain + ";".join(
        f"[p{n}][m{n}]overlay=format=rgb:x={(80, width // 2 + 60)[n % 2]}:y={260 + 900 * n}"
        + (f"[p{n + 1}]" if n + 1 < pictures else "") for n in range(pictures))


def _film(folder, width, height, seconds, film):
    try:
        clip = clips.make("film", folder, width, height, seconds, film, rate=RATE)
    except clips.Missing:
        clip = clips.make("pan", folder, width, height, seconds)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{width}x{height}", "-i", clip.path,
         "-vf", "scale=in_color_matrix=bt709:in_range=tv", "-pix_fmt", "bgr0", "-f", "rawvideo", f"{folder}/film.bgrx"],
        check=True, stdin=subprocess.DEVNULL)
    os.unlink(clip.path)
