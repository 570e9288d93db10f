"""From a frame's last byte, handed over on a socket or a pipe, to its whole message at the RTMP server.

Frames are written in real time by this process, and the server is in it, so that one clock measures both ends.
"""

import copy
import os
import signal
import socket
import struct
import subprocess
import threading
import time

import clips

WIDTH, HEIGHT, RATE, KBPS = 1280, 720, 30, 2500


class Sink:
    """An RTMP server for one publisher that notes when each coded picture has come, its time in the stream and the order
    of both tracks, and keeps all messages with video if asked to."""

    def __init__(self, keep=False):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.arrivals, self.messages, self.keeps = [], [], keep
        # The type and the time of each message with coded sound or pictures.
        self.order = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def url(self, stream):
        return f"rtmp://127.0.0.1:{self.port}/live/{stream}"

    def _serve(self):
        try:
            peer, _ = self.listener.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.peer, self.buffer = peer, bytearray()
            self._take(1537)
            peer.sendall(b"\x03" + bytes(1536) + bytes(1536))
            self._take(1536)
            self._chunks()
        except (OSError, EOFError):
            pass

    def _take(self, count):
        while len(self.buffer) < count:
            data = self.peer.recv(1 << 18)
            if not data:
                raise EOFError
            self.buffer += data
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def _chunks(self):
        size, streams = 128, {}
        while True:
            first = self._take(1)[0]
            form, number = first >> 6, first & 63
            if number == 0:
                number = 64 + self._take(1)[0]
            elif number == 1:
                number = 64 + int.from_bytes(self._take(2), "little")
            state = streams.setdefault(
                number, {"length": 0, "kind": 0, "body": bytearray(), "extended": False, "time": 0, "step": 0})
            if form < 3:
                header = self._take((11, 7, 3)[form])
                state["extended"] = header[:3] == b"\xff\xff\xff"
                if form < 2:
                    state["length"], state["kind"] = int.from_bytes(header[3:6], "big"), header[6]
                stamp = int.from_bytes(header[:3], "big")
                state["step"] = 0 if form == 0 else stamp
                if form == 0:
                    state["time"] = stamp
            if state["extended"]:
                self._take(4)
            if not state["body"]:
                state["time"] += state["step"]
            part = min(size, state["length"] - len(state["body"]))
            state["body"] += self._take(part)
            if len(state["body"]) < state["length"]:
                continue
            body, state["body"] = bytes(state["body"]), bytearray()
            if state["kind"] in (8, 9) and len(body) > 1 and body[1] == 1:
                self.order.append((state["kind"], state["time"]))
            if state["kind"] == 1:
                size = int.from_bytes(body[:4], "big")
            elif state["kind"] == 9 and len(body) > 1:
                if body[1] == 1:
                    self.arrivals.append((time.monotonic(), state["time"]))
                if self.keeps:
                    self.messages.append((state["time"], body))
            elif state["kind"] == 20:
                self._command(body)

    def _command(self, body):
        length = int.from_bytes(body[1:3], "big")
        name = body[3:3 + length].decode("ascii", "replace")
        transaction = body[3 + length:12 + length]
        if name == "connect":
            self._send(5, struct.pack(">I", 2500000))
            self._send(20, _text("_result") + transaction + b"\x05" + _object(
                {"code": "NetConnection.Connect.Success"}))
        elif name == "createStream":
            self._send(20, _text("_result") + transaction + b"\x05" + _number(1))
        elif name == "publish":
            self._send(20, _text("onStatus") + _number(0) + b"\x05" + _object(
                {"level": "status", "code": "NetStream.Publish.Start"}), 1)

    def _send(self, kind, body, stream=0):
        header = b"\x03" + bytes(3) + len(body).to_bytes(3, "big") + bytes([kind]) + stream.to_bytes(4, "little")
        out, rest = header + body[:128], body[128:]
        while rest:
            out, rest = out + b"\xc3" + rest[:128], rest[128:]
        self.peer.sendall(out)

    def stop(self):
        self.listener.close()


def out_of_order(order):
    """How far a message's time is before that of an earlier message of the other track, in ms: the greatest one.

    Zero means that packets leave in the order of their times. A program that does not wait for late sound has more."""
    newest, worst = {}, 0
    for kind, stamp in order:
        worst = max(worst, newest.get(17 - kind, stamp) - stamp)
        newest[kind] = stamp
    return worst


def _text(text):
    return b"\x02" + len(text).to_bytes(2, "big") + text.encode()


def _number(number):
    return b"\x00" + struct.pack(">d", number)


def _object(values):
    pairs = b"".join(len(key).to_bytes(2, "big") + key.encode() + _text(value) for key, value in values.items())
    return b"\x03" + pairs + b"\x00\x00\x09"


def material(folder, count=60, film=None):
    """Frames of a film, or of pans over photographs where none can be had, as a list."""
    try:
        clip = clips.make("film", folder, WIDTH, HEIGHT, count // RATE, film, rate=RATE)
    except clips.Missing:
        clip = clips.make("pan", folder, WIDTH, HEIGHT, count // RATE)
    size = WIDTH * HEIGHT * 3 // 2
    with open(clip.path, "rb") as file:
        frames = [file.read(size) for _ in range(count)]
    os.unlink(clip.path)
    return frames


def _feed(write, frames, seconds):
    """Writes frames in real time: when each one's last byte was taken, and how many were taken more than a frame late."""
    sent, held_up, start = [], 0, time.monotonic()
    for index in range(seconds * RATE):
        due = start + index / RATE
        time.sleep(max(0, due - time.monotonic()))
        try:
            write(index, frames[index % len(frames)])
        except OSError:
            break
        sent.append(time.monotonic())
        held_up += index >= 2 * RATE and sent[-1] - due > 1 / RATE
    return sent, held_up


def _milliseconds(sent, arrivals, origin):
    """Of each frame but the first two seconds' that has come; None for one that was left out.

    Which frame has come, its time in the stream says, counted from that of the first.
    """
    came = {round((stamp - origin) * RATE / 1000): at for at, stamp in arrivals}
    frames = range(2 * RATE, len(sent) - 1)
    return [(came[frame] - sent[frame]) * 1000 if frame in came else None for frame in frames]


def of_command(command, frames, seconds, log):
    """A program that reads raw frames from its standard input."""
    sink = Sink()
    with open(log, "wb") as out:
        child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command(sink.url("latency"))], stdin=subprocess.PIPE, stdout=out,
            stderr=out, bufsize=0)
    try:
        # One frame fits, so that a write ends when its reader has room, not when it has read.
        import fcntl
        fcntl.fcntl(child.stdin, 1031, 1 << 20)

        def write(_, frame):
            view = memoryview(frame)
            while view:
                view = view[child.stdin.write(view):]

        sent, held_up = _feed(write, frames, seconds)
        child.stdin.close()
        child.wait(20)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    time.sleep(0.2)
    sink.stop()
    # A pipe loses nothing, but may hold its writer up.
    return _milliseconds(sent, sink.arrivals, sink.arrivals[0][1] if sink.arrivals else 0), held_up


def ffmpeg(url):
    return [
        "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i",
        "pipe:0", "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-b:v",
        f"{KBPS}k", "-maxrate", f"{KBPS}k", "-bufsize", f"{KBPS}k", "-g", "60", "-sc_threshold", "0", "-f", "flv", url]


def gstreamer(url):
    return ["sh", "-c", (
        f"exec gst-launch-1.0 -q fdsrc fd=0 blocksize={WIDTH * HEIGHT * 3 // 2} ! rawvideoparse width={WIDTH} "
        f"height={HEIGHT} format=nv12 framerate={RATE}/1 ! videoconvert ! video/x-raw,format=I420 ! "
        f"x264enc speed-preset=veryfast tune=zerolatency bitrate={KBPS} vbv-buf-capacity=1000 key-int-max=60 "
        f"option-string=scenecut=0 ! video/x-h264,profile=high ! flvmux streamable=true ! "
        f"rtmp2sink location='{url}' sync=false")]


def of_upcast(contender, task_type, frames, seconds, folder):
    """upcastd, fed through its capture socket."""
    sink = Sink()
    # The others have no sound to keep in order with pictures; upcastd makes silence, which a picture would wait for.
    contender = copy.copy(contender)
    contender.options = {**contender.options, "buffer": {"interleave": "low_latency"}}
    task = task_type(None, None, None, WIDTH, HEIGHT, KBPS, seconds, sink.url("latency"), turned=False)
    daemon = contender.start(task, folder)
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(folder + "/capture.sock")
        sequence = 0

        def header(kind, body, payload):
            nonlocal sequence
            number, sequence = sequence, sequence + 1
            return struct.pack("<2sBBHHII", b"UC", 1, kind, len(body), 0, payload, number)

        name = b"latency"
        body = struct.pack("<BBBB5IHH", 1, 1, 1, 1, WIDTH, HEIGHT, RATE, 1, 1, len(name), 0) + name + b"\0"
        peer.sendall(header(1, body, 0) + body)
        threading.Thread(target=_drain, args=(peer,), daemon=True).start()

        def write(index, frame):
            body = struct.pack(
                "<qII4sBBBB7I", index * 1_000_000_000 // RATE, WIDTH, HEIGHT, b"420v", 1, 1, 1, 2,
                0, WIDTH, WIDTH * HEIGHT, WIDTH, 0, 0, 0)
            peer.sendall(header(2, body, len(frame)) + body + frame)

        sent, held_up = _feed(write, frames, seconds)
        time.sleep(0.3)
        arrivals = list(sink.arrivals)
    finally:
        peer.close()
        daemon.signal(signal.SIGTERM)
        daemon.wait(20)
        sink.stop()
    # The broadcast begins with the first sample.
    return _milliseconds(sent, arrivals, 0), held_up


def _drain(peer):
    try:
        while peer.recv(65536):
            pass
    except OSError:
        pass


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]
