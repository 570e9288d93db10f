"""What is sent: raw NV12 of 1920x1080 at 30 frames a second, and two inputs of PCM."""

import os
import subprocess
import sys

import clips

WIDTH, HEIGHT, RATE = 1920, 1080, 30

CONTENTS = {
    "motion": "a film, or pans over photographs where none can be had",
    "screen": "text that scrolls, text that is typed, a film in a window",
    "static": "one picture of a screen, and music",
    "silent": "one picture of a screen, and digital silence",
    "card": "60 frames of a test card, noise and a fractal that all move, again and again",
}
# Bitrates that show how the same picture costs other bits, at 1280x720, for all that moves.
QUALITY_RATES = {"motion": clips.RATES["film"], "screen": clips.RATES["screen"], "card": (300, 700, 1500, 4000)}

# A page of text that scrolls by 60 lines a second in the left half, a line that is typed, and a film in a window.
_PAGE = (
    "color=0xf4f4f0:s=960x2160:r=30,drawgrid=w=960:h=24:c=0xd8d8d8:t=1,"
    "drawtext=textfile={text}:fontsize=18:line_spacing=4:fontcolor=0x202020:x=16:y=8"
)


def make(content, seconds, folder, screen=None, film=None):
    """Writes the raw video of a content and returns its path: `seconds` of it, as long as a run needs."""
    path = os.path.join(folder, f"{content}.nv12")
    frames = seconds * RATE
    if content == "motion":
        try:
            return clips.make("film", folder, WIDTH, HEIGHT, seconds, film, rate=RATE).path
        except clips.Missing as reason:
            print(f"motion is pans over photographs: {reason}", file=sys.stderr, flush=True)
            return clips.make("pan", folder, WIDTH, HEIGHT, seconds).path
    if content == "card":
        source = (
            f"testsrc2=s={WIDTH}x{HEIGHT}:r={RATE}[a];mandelbrot=s=960x540:r={RATE}:maxiter=200[b];"
            "[a]noise=alls=6:allf=t[c];[c][b]overlay=x='480+200*sin(t*2)':y='270+100*cos(t*3)'"
        )
        short = path + ".short"
        _ffmpeg(["-f", "lavfi", "-i", source, "-frames:v", "60"], short)
        _repeat(short, path, frames * WIDTH * HEIGHT * 3 // 2)
        os.unlink(short)
    elif content == "screen" and screen:
        _ffmpeg(["-stream_loop", "-1", "-i", screen, "-frames:v", str(frames)], path)
    elif content == "screen":
        text = os.path.join(folder, "page.txt")
        with open(text, "w") as file:
            words = "the quick brown fox jumps over a lazy dog while 1234567890 numbers pass by".split()
            for line in range(90):
                file.write(" ".join(words[(line * 7 + i * 3) % len(words)] for i in range(11)) + "\n")
        source = (
            _PAGE.format(text=text) + "[page];color=0x303840:s=1920x1080:r=30[desk];"
            "[desk][page]overlay=x=0:y='-mod(n*2,1080)'[left];"
            "testsrc2=s=640x360:r=30[film];[left][film]overlay=x=1120:y=120[both];"
            "[both]drawtext=text='%{eif\\:n*7919\\:d}':fontsize=28:fontcolor=white:x=1120:y=700:"
            "enable='gte(mod(n,8),0)'"
        )
        _ffmpeg(["-f", "lavfi", "-i", source, "-frames:v", str(frames)], path)
    else:
        one = path + ".one"
        if screen:
            _ffmpeg(["-i", screen, "-frames:v", "1"], one)
        else:
            _ffmpeg(["-f", "lavfi", "-i", f"testsrc2=s={WIDTH}x{HEIGHT}:r={RATE}", "-frames:v", "1"], one)
        _repeat(one, path, frames * WIDTH * HEIGHT * 3 // 2)
        os.unlink(one)
    return path


def _ffmpeg(inputs, path):
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", *inputs, "-pix_fmt", "nv12", "-s", f"{WIDTH}x{HEIGHT}", "-f", "rawvideo", path],
        check=True, stdin=subprocess.DEVNULL)


def _repeat(source, path, size):
    with open(source, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        while size > 0:
            file.write(data[:size])
            size -= len(data)


def make_silence(seconds, folder):
    """As `make_audio`, of zeros."""
    app, mic = os.path.join(folder, "silence.s16be"), os.path.join(folder, "silence.s16le")
    for path, size in ((app, 44100 * 4), (mic, 48000 * 2)):
        with open(path, "wb") as file:
            file.write(bytes(size * (seconds + 2)))
    return app, mic


def make_audio(seconds, folder):
    """App audio, plucked strings and a drum, big-endian at 44.1 kHz; and a microphone, a murmur, little-endian and
    mono at 48 kHz."""
    def string(hertz, period, start, volume):
        return f"{volume}*sin({hertz}*2*PI*t)*exp(-mod(t+{start},{period})*4)"

    left = "+".join([string(440, 0.5, 0, 0.2), string(554.37, 0.7, 0.1, 0.15), string(110, 1, 0, 0.15)])
    right = "+".join([string(441, 0.5, 0, 0.2), string(659.25, 0.7, 0.2, 0.15), string(110, 1, 0, 0.15)])
    drum = "0.05*random({})*exp(-mod(t,0.25)*20)"
    music = f"aevalsrc='{left}+{drum.format(0)}|{right}+{drum.format(1)}':s=44100:d={seconds + 2}"
    murmur = (f"anoisesrc=d={seconds + 2}:c=brown:r=48000:a=0.4:seed=1,"
              "tremolo=f=3:d=0.9,highpass=f=120,lowpass=f=3500")
    app, mic = os.path.join(folder, "app.s16be"), os.path.join(folder, "mic.s16le")
    for source, layout, path in (
        (music, "s16be", app),
        (murmur, "s16le", mic),
    ):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, "-f", layout, path],
            check=True, stdin=subprocess.DEVNULL)
    return app, mic
