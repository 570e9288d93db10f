"""A cgroup of either version, for a limit on what one program takes."""

import os
import random
import time


class Cgroup:
    """One of a controller, `memory` or `cpu`. Whoever is to be in it writes its process id to `cgroup.procs` in `path`."""

    def __init__(self, controller, name):
        self.unified = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        root = "/sys/fs/cgroup" if self.unified else f"/sys/fs/cgroup/{controller}"
        self.path = f"{root}/upcast-{name}-{os.getpid()}-{random.randrange(1000000)}"
        if self.unified:
            with open(root + "/cgroup.subtree_control", "w") as file:
                file.write("+" + controller)
        os.mkdir(self.path)
        self._controller = controller

    def _file(self, name):
        return f"{self.path}/{self._controller}.{name}"

    def has(self, name):
        return os.path.exists(self._file(name))

    def write(self, name, text):
        with open(self._file(name), "w") as file:
            file.write(text)

    def read(self, *names):
        """The first of these files that is there; empty without one."""
        for name in names:
            try:
                with open(self._file(name)) as file:
                    return file.read()
            except OSError:
                pass
        return ""

    def remove(self):
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.05)
