"""A client of an X server that draws what a screen shows: text that is typed, a page that scrolls, a film, flashes.

It speaks the X protocol itself, so that the server reports its drawing as that of any application, and so that each
frame is known. It prints `ready` once the first frame is on the screen, and draws the others when a line comes in:

    stage.py DISPLAY SCENE WIDTH HEIGHT RATE FRAMES FOLDER          until its input ends, FRAMES for each line
    stage.py --dump DISPLAY SCENE WIDTH HEIGHT RATE FRAMES FOLDER   each picture of the screen as raw BGRX, once
    stage.py --flash DISPLAY WIDTH HEIGHT SEED COUNT                a flash for each line, until COUNT; prints when

Times are those of CLOCK_MONOTONIC in seconds.
"""

import array
import mmap
import os
import random
import socket
import struct
import sys
import time

# A terminal at 1080 lines: where it is, its columns and rows, and the size of a letter's cell.
TERMINAL = (360, 120)
COLUMNS, ROWS, CELL_WIDTH, CELL_HEIGHT = 84, 36, 12, 24
# Rows that have their text from the beginning.
TYPED_BEFORE = 12
# A letter each so many frames: ten in a second, as fast as people type.
FRAMES_A_LETTER = 3
# Pixels by which the page moves in a frame.
SCROLLED = 8
# Grey values of flashes, in turn: each differs much from the one before, and comes again after seven others, so that late
# frames are not taken for others.
FLASHES = (40, 136, 64, 160, 88, 184, 112, 208)


class Display:
    """A connection to an X server on this machine, with a window that covers its screen."""

    def __init__(self, name, width, height):
        self.width, self.height = width, height
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.connect("/tmp/.X11-unix/X" + name.lstrip(":"))
        self.requests = []
        self.peer.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
        head = self._take(8)
        rest = self._take(4 * struct.unpack_from("<H", head, 6)[0])
        if head[0] != 1:
            raise RuntimeError(f"the X server refuses: {rest[:head[1]].decode(errors='replace')}")
        self.next_id = struct.unpack_from("<I", rest, 4)[0]
        vendor, formats = struct.unpack_from("<H", rest, 16)[0], rest[21]
        screen = 32 + (vendor + 3) // 4 * 4 + 8 * formats
        self.root, self.depth = struct.unpack_from("<I", rest, screen)[0], rest[screen + 38]
        if self.depth != 24:
            raise RuntimeError(f"the screen's depth is {self.depth}, not 24")
        self.shm = self._extension(b"MIT-SHM")
        self.window, self.gc = self.make_id(), self.make_id()
        # Override-redirect, without a background that the server would draw by itself.
        self.request(1, 0, struct.pack("<IIhhHHHHIIII", self.window, self.root, 0, 0, width, height, 0, 1, 0, 0x201, 0, 1))
        self.request(55, 0, struct.pack("<IIII", self.gc, self.window, 0x10000, 0))
        self.request(8, 0, struct.pack("<I", self.window))
        # The pointer stays out of the picture.
        self.request(41, 0, struct.pack("<IIhhHHhh", 0, self.root, 0, 0, 0, 0, width - 1, height - 1))
        self.sync()

    def make_id(self):
        self.next_id += 1
        return self.next_id

    def request(self, opcode, detail, body):
        self.requests.append(struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body)

    def flush(self):
        if self.requests:
            self.peer.sendall(b"".join(self.requests))
            self.requests = []

    def sync(self):
        """Returns when the server has done all that it was asked."""
        self.request(43, 0, b"")
        self.flush()
        return self._reply()

    def _reply(self):
        while True:
            packet = self._take(32)
            if packet[0] == 0:
                raise RuntimeError(f"the X server reports error {packet[1]} of request {packet[10]}")
            if packet[0] == 1:
                return packet + self._take(4 * struct.unpack_from("<I", packet, 4)[0])

    def _take(self, count):
        data = b""
        while len(data) < count:
            more = self.peer.recv(count - len(data))
            if not more:
                raise RuntimeError("the X server has closed the connection")
            data += more
        return data

    def _extension(self, name):
        self.request(98, 0, struct.pack("<Hxx", len(name)) + name + bytes(-len(name) % 4))
        self.flush()
        reply = self._reply()
        if not reply[8]:
            raise RuntimeError(f"the X server has no {name.decode()}")
        return reply[9]

    def share(self, size):
        """Memory that the server sees, too: its number there, and here."""
        segment, descriptor = self.make_id(), os.memfd_create("stage")
        os.ftruncate(descriptor, size)
        memory = mmap.mmap(descriptor, size)
        self.flush()
        self.peer.sendmsg(
            [struct.pack("<BBHIBxxx", self.shm, 6, 3, segment, 0)],
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])
        os.close(descriptor)
        self.sync()
        return segment, memory

    def put(self, target, segment, width, height, offset=0):
        """A picture of shared memory to the upper left corner of a window or a pixmap."""
        self.request(self.shm, 3, struct.pack(
            "<IIHHHHHHhhBBBxII", target, self.gc, width, height, 0, 0, width, height, 0, 0, self.depth, 2, 0, segment,
            offset))

    def pixmap(self, path, width, height):
        """A raw BGRX file as a pixmap of the server."""
        segment, memory = self.share(width * height * 4)
        with open(path, "rb") as file:
            if file.readinto(memory) != len(memory):
                raise RuntimeError(f"{path} is too short")
        pixmap = self.make_id()
        self.request(53, self.depth, struct.pack("<IIHH", pixmap, self.window, width, height))
        self.put(pixmap, segment, width, height)
        self.sync()
        self.request(self.shm, 2, struct.pack("<I", segment))
        return pixmap

    def copy(self, pixmap, source, place, size):
        self.request(62, 0, struct.pack("<IIIhhhhHH", pixmap, self.window, self.gc, *source, *place, *size))

    def fill(self, color, place, size):
        self.request(56, 0, struct.pack("<III", self.gc, 4, color))
        self.request(70, 0, struct.pack("<IIhhHH", self.window, self.gc, *place, *size))

    def grab(self, segment):
        """The whole screen, into shared memory."""
        self.request(self.shm, 4, struct.pack(
            "<IhhHHIBxxxII", self.root, 0, 0, self.width, self.height, 0xffffffff, 2, segment, 0))
        self.flush()
        self._reply()


def picture_of(kind, index, film):
    """The number of the picture that a frame shows; new ones count up from 0. `film` is the number of a film's pictures."""
    if kind == "still":
        return 0
    if kind == "typed":
        return index // FRAMES_A_LETTER
    if kind == "video":
        turn = index % (2 * film - 2)
        return min(turn, 2 * film - 2 - turn)
    return index


class Still:
    """One picture of a screen."""

    def __init__(self, display, folder):
        self.display = display
        self.desk = display.pixmap(f"{folder}/desk.bgrx", display.width, display.height)

    def draw(self, index):
        if index == 0:
            self.display.copy(self.desk, (0, 0), (0, 0), (self.display.width, self.display.height))


class Typed:
    """A terminal in which letters appear, with a cursor after the last."""

    def __init__(self, display, folder):
        self.display = display
        self.desk = display.pixmap(f"{folder}/desk.bgrx", display.width, display.height)
        self.text = display.pixmap(f"{folder}/text.bgrx", display.width, display.height)

    def draw(self, index):
        if index == 0:
            self.display.copy(self.desk, (0, 0), (0, 0), (self.display.width, self.display.height))
            self._cursor(0)
        elif index % FRAMES_A_LETTER == 0:
            letter = index // FRAMES_A_LETTER
            place = _cell(letter - 1)
            self.display.copy(self.text, place, place, (CELL_WIDTH, CELL_HEIGHT))
            self._cursor(letter)

    def _cursor(self, letter):
        self.display.fill(0xd0d0d0, _cell(letter), (CELL_WIDTH, CELL_HEIGHT))


def _cell(letter):
    row, column = divmod(letter, COLUMNS)
    return TERMINAL[0] + column * CELL_WIDTH, TERMINAL[1] + (TYPED_BEFORE + row) * CELL_HEIGHT


class Scrolled:
    """A page that covers the screen and moves up all the time."""

    def __init__(self, display, folder):
        self.display = display
        rows = os.path.getsize(f"{folder}/page.bgrx") // (display.width * 4)
        self.last = rows - display.height
        self.page = display.pixmap(f"{folder}/page.bgrx", display.width, rows)

    def draw(self, index):
        top = min(index * SCROLLED, self.last)
        self.display.copy(self.page, (0, top), (0, 0), (self.display.width, self.display.height))


class Film:
    """A film that fills the screen, as players show it: forwards and backwards, so that nothing jumps."""

    def __init__(self, display, folder):
        self.display, self.size = display, display.width * display.height * 4
        self.segment, memory = display.share(2 * self.size)
        self.memory = memoryview(memory)
        with open(f"{folder}/film.bgrx", "rb") as file:
            self.file = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        self.frames = len(self.file) // self.size

    def draw(self, index):
        frame, slot = picture_of("video", index, self.frames), index % 2
        self.memory[slot * self.size:(slot + 1) * self.size] = self.file[frame * self.size:(frame + 1) * self.size]
        self.display.put(self.display.window, self.segment, self.display.width, self.display.height, slot * self.size)


SCENES = {"still": Still, "typed": Typed, "scroll": Scrolled, "video": Film}


def play(display, scene, rate, frames):
    """Draws frames 1 to `frames` in time; prints when it began, and how many were more than half a frame late."""
    start, late = time.monotonic(), 0
    for index in range(1, frames + 1):
        due = start + index / rate
        time.sleep(max(0, due - time.monotonic()))
        scene.draw(index)
        display.flush()
        late += time.monotonic() - due > 0.5 / rate
    display.sync()
    print(f"done {start:.6f} {late}", flush=True)


def dump(display, kind, scene, frames):
    segment, memory = display.share(display.width * display.height * 4)
    count = 0
    for index in range(frames + 1):
        if picture_of(kind, index, getattr(scene, "frames", 0)) < count:
            continue
        count += 1
        scene.draw(index)
        display.grab(segment)
        sys.stdout.buffer.write(memory)


def flash(display, seed, count):
    """Half of the screen in each direction turns to another grey, at random moments of the frames around it."""
    chance, place = random.Random(seed), (display.width // 4, display.height // 4)
    size = (display.width // 2, display.height // 2)
    display.fill(0x404850, (0, 0), (display.width, display.height))
    display.fill(FLASHES[-1] * 0x010101, place, size)
    display.sync()
    print("ready", flush=True)
    sys.stdin.readline()
    next_at = time.monotonic()
    for number in range(count):
        next_at += 0.5 + chance.random() / 3
        time.sleep(max(0, next_at - time.monotonic()))
        display.fill(FLASHES[number % len(FLASHES)] * 0x010101, place, size)
        before = time.monotonic()
        display.sync()
        print(f"{before:.6f} {time.monotonic():.6f}", flush=True)
    print("done", flush=True)
    sys.stdin.readline()


def main():
    mode, words = (sys.argv[1], sys.argv[2:]) if sys.argv[1].startswith("--") else ("", sys.argv[1:])
    if mode == "--flash":
        name, *numbers = words
        width, height, seed, count = map(int, numbers)
        return flash(Display(name, width, height), seed, count)
    name, kind, width, height, rate, frames, folder = words
    display = Display(name, int(width), int(height))
    scene = SCENES[kind](display, folder)
    if mode == "--dump":
        return dump(display, kind, scene, int(frames))
    scene.draw(0)
    display.sync()
    print("ready", flush=True)
    for _ in sys.stdin:
        play(display, scene, int(rate), int(frames))


if __name__ == "__main__":
    main()
