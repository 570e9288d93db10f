"""From an address in a process to a function's name, and to whom the function belongs."""

import bisect
import os
import re
import struct
import subprocess


class Code:
    """What is mapped as code in a process, and the functions in it."""

    def __init__(self, pid):
        self.ranges = []
        self.program = os.readlink(f"/proc/{pid}/exe")
        with open(f"/proc/{pid}/maps") as file:
            for line in file:
                fields = line.split(None, 5)
                if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
                    start, end = (int(part, 16) for part in fields[0].split("-"))
                    self.ranges.append((start, end, int(fields[2], 16), fields[5].strip()))
        self.ranges.sort()
        self.starts = [each[0] for each in self.ranges]
        self.files = {}

    def find(self, address):
        """The file that the instruction before `address` belongs to, and its function there, or ("?", "?")."""
        index = bisect.bisect_right(self.starts, address - 1) - 1
        if index < 0 or address > self.ranges[index][1]:
            return "?", "?"
        start, _, offset, path = self.ranges[index]
        if path not in self.files:
            self.files[path] = _File(path)
        return path, self.files[path].function(address - 1 - start + offset)


class _File:
    def __init__(self, path):
        self.segments = list(_segments(path))
        found = {}
        # A stripped library has only those that it exports.
        for options in (["-D"], []):
            words = subprocess.run(
                ["nm", *options, "--defined-only", path], capture_output=True, text=True).stdout
            for line in words.splitlines():
                address, kind, name = line.split(None, 2)
                if kind in "tTwWiV":
                    found[int(address, 16)] = name.split("@")[0]
        self.addresses = sorted(found)
        self.names = [found[address] for address in self.addresses]

    def function(self, offset):
        address = next((offset - at + virtual for at, size, virtual in self.segments if at <= offset < at + size), None)
        if address is None:
            return "?"
        index = bisect.bisect_right(self.addresses, address) - 1
        return self.names[index] if index >= 0 else "?"


def _segments(path):
    """Offset, size and address of each part of an ELF file that is loaded."""
    with open(path, "rb") as file:
        header = file.read(64)
        table, = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        file.seek(table)
        for _ in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", file.read(size))
            if kind == 1:
                yield offset, length, address


def demangle(names):
    """Swift's names as the compiler writes them in full; unchanged where there is no Swift here."""
    names = sorted(set(names))
    try:
        words = subprocess.run(
            ["swift", "demangle", "--compact"], input="\n".join(names), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}
    return dict(zip(names, words.stdout.splitlines()))


def module(text):
    """The Swift module that a demangled function was written in, or None for what no module wrote (thunks, runtime)."""
    text = _without_specializations(text)
    extension = re.search(r"\(extension in (\w+)\)", text)
    if extension:
        return extension[1]
    found = re.search(r"(?:^|[ (])([A-Za-z_]\w*)\.", text)
    return found[1] if found else None


def _without_specializations(text):
    while True:
        start = text.find("specialization <")
        if start < 0:
            return text
        place, depth = start + len("specialization "), 0
        while place < len(text):
            depth += {"<": 1, ">": -1}.get(text[place], 0) if text[place - 1:place + 1] != "->" else 0
            place += 1
            if depth == 0:
                break
        text = text[place:].removeprefix(" of ")


def shorten(text, width=110):
    """For a line of a table."""
    text = _without_specializations(text)
    text = re.sub(r"\(extension in \w+\):", "", text)
    # A private name has its file's hash with it.
    text = re.sub(r"\((\w+) in _[0-9A-F]+\)", r"\1", text)
    text = re.sub(r" ?(?:async )?(?:throws(?:\([^)]*\))? )?-> .*", "", text)
    return text if len(text) <= width else text[:width - 3] + "..."
