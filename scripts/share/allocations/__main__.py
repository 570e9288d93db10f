"""Counts a running program's allocations for a while and says who made them. Behind scripts/allocations, which loads
count.c into the program."""

import argparse
import json
import mmap
import os
import re
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "bench")]
import report  # noqa: E402
import symbols  # noqa: E402

# Of `struct table` and `struct entry` in count.c.
HEADER, ENTRY, DEPTH = 32, 16 + 3 * 8 + 28 * 8, 28
OURS = "our own code"
# They are asked by others for memory.
SKIPPED_FILES = re.compile(r"/(libstdc\+\+|libgcc_s|ld-linux)")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", required=True)
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--status", required=True, help="a command that prints the daemon's status as JSON")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--json", required=True, help="where to write the figures")
    parser.add_argument("--stacks", action="store_true", help="print whole stacks of our own code")
    return parser.parse_args()


def frames(command):
    words = subprocess.check_output(command, shell=True, text=True)
    return json.loads(words)["video"]["frames_received"]


def count(options):
    """Entries of the table after so many seconds: thread, calls, bytes, addresses; and the frames meanwhile."""
    with open(options.table, "r+b") as file:
        table = mmap.mmap(file.fileno(), 0)
    before = frames(options.status)
    # What the question itself costs is over soon.
    time.sleep(0.3)
    table[8:24] = bytes(16)
    start = time.monotonic()
    table[0:8] = struct.pack("<Q", 1)
    time.sleep(options.seconds)
    table[0:8] = bytes(8)
    seconds = time.monotonic() - start
    time.sleep(0.1)
    # At the same distance from the window as the first question: 0.4 s in all are outside.
    taken = frames(options.status) - before
    taken *= seconds / (seconds + 0.4)
    entries, lost = struct.unpack_from("<QQ", table, 8)
    rows = []
    for index in range(entries):
        at = HEADER + index * ENTRY
        thread = table[at:at + 16].split(b"\0")[0].decode(errors="replace")
        calls, size, depth = struct.unpack_from("<3Q", table, at + 16)
        rows.append((thread, calls, size, struct.unpack_from(f"<{min(depth, DEPTH)}Q", table, at + 40)))
    return rows, taken, seconds, lost


class Owners:
    """Whose a stack is."""

    def __init__(self, code, sources, stacks):
        self.code = code
        self.own = {name for name in os.listdir(sources) if os.path.isdir(os.path.join(sources, name))}
        self.own = {name.replace("-", "_") for name in self.own}
        self.c_names = set()
        for name in os.listdir(sources):
            folder = os.path.join(sources, name)
            for entry in os.listdir(folder) if os.path.isdir(folder) else []:
                if entry.endswith(".c"):
                    with open(os.path.join(folder, entry)) as file:
                        self.c_names.update(re.findall(r"\b(\w+)\(", file.read()))
        self.places = {address: code.find(address) for stack in stacks for address in stack}
        self.texts = symbols.demangle(name for _, name in self.places.values())

    def text(self, address):
        return self.texts.get(self.places[address][1], self.places[address][1])

    def is_ours(self, address):
        path, name = self.places[address]
        if path != self.code.program:
            return False
        return name in self.c_names or symbols.module(self.text(address)) in self.own

    def of(self, stack):
        """The owner, the function that asked, and the nearest function of ours."""
        ours = next((symbols.shorten(self.text(address)) for address in stack if self.is_ours(address)), "")
        for address in stack:
            path, _ = self.places[address]
            if self.is_ours(address):
                return OURS, symbols.shorten(self.text(address)), ours
            if path == self.code.program:
                # The runtime and the standard library ask for whoever calls them.
                module = symbols.module(self.text(address))
                if module in (None, "Swift", "Synchronization", "Glibc") or not self._is_swift(address):
                    continue
                return module, symbols.shorten(self.text(address)), ours
            if path == "?" or SKIPPED_FILES.search(path):
                continue
            return os.path.basename(path), symbols.shorten(self.text(address)), ours
        return "?", "?", ours

    def _is_swift(self, address):
        return self.places[address][1].startswith(("$s", "_$s"))


def main():
    options = arguments()
    rows, taken, seconds, lost = count(options)
    owners = Owners(symbols.Code(options.pid), options.sources, [row[3] for row in rows])
    by_owner, by_site, freed = {}, {}, {}
    for thread, calls, size, stack in rows:
        if not stack:
            freed[thread] = freed.get(thread, 0) + calls
            continue
        owner, function, ours = owners.of(stack)
        for table, key in ((by_owner, (thread, owner)), (by_site, (thread, owner, function, ours))):
            known = table.get(key, (0, 0))
            table[key] = (known[0] + calls, known[1] + size)
        if options.stacks and owner == OURS:
            print(f"{thread}, {calls} times:")
            for address in stack:
                path, _ = owners.places[address]
                print(f"    {os.path.basename(path)}: {symbols.shorten(owners.text(address), 160)}")

    def line(key, calls, size):
        return [*key, f"{calls / taken:.3f}", f"{calls / seconds:.1f}", f"{size / taken:.0f}"]

    print(f"\n{options.name}: {taken:.0f} frames in {seconds:.1f} s"
          + (f", {lost} allocations without an entry" if lost else "") + "\n")
    lines = [line(key, *by_owner[key]) for key in sorted(by_owner, key=lambda key: (key[0], -by_owner[key][0]))]
    lines += [line((thread, "given back"), calls, 0)[:-1] + [""] for thread, calls in sorted(freed.items())]
    print(report.table(["thread", "who", "a frame", "a second", "bytes a frame"], lines))
    most = sorted(by_site, key=lambda key: -by_site[key][0])
    for title, wanted in (("where, in our own code", True), ("where, in libraries", False)):
        lines = [
            line((f"{thread}: {function}" if wanted else f"{thread}: {owner}, {function}"
                  + (f", for {ours}" if ours else ""),), *by_site[thread, owner, function, ours])
            for thread, owner, function, ours in most if (owner == OURS) == wanted][:24]
        if lines:
            print("\n" + report.table([title, "a frame", "a second", "bytes a frame"], lines))
    own = sum(calls for (_, owner), (calls, _) in by_owner.items() if owner == OURS)
    print(f"\n{options.name}: {own} allocations of our own code in {taken:.0f} frames, {own / taken:.4f} a frame")
    with open(options.json, "w") as file:
        json.dump({"name": options.name, "frames": taken, "seconds": seconds, "own": own, "sites": [
            {"thread": thread, "who": owner, "function": function, "for": ours, "calls": calls, "bytes": size}
            for (thread, owner, function, ours), (calls, size) in by_site.items()]}, file, indent=1)
    return 0


sys.exit(main())
