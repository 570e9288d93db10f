"""nginx with its RTMP module on loopback, recording what it is sent."""

import os
import random
import signal
import socket
import subprocess
import time

_CONFIG = """load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
rtmp {{
    log_format wire '$name $bytes_received';
    access_log {folder}/wire.log wire;
    server {{
        listen 127.0.0.1:{port};
        max_message 8M;
        application live {{ live on; record all; record_path {folder}/recordings; }}
    }}
}}
"""


# C0, C1 and C2, which nginx does not count.
HANDSHAKE_BYTES = 1 + 2 * 1536


class Server:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "nginx")
        os.makedirs(self.folder + "/recordings", exist_ok=True)
        for _ in range(8):
            self.port = random.randrange(20000, 30000)
            with open(self.folder + "/nginx.conf", "w") as file:
                user = "user root;" if os.geteuid() == 0 else ""
                file.write(_CONFIG.format(folder=self.folder, port=self.port, user=user))
            program = "/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else "nginx"
            self.child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, "-p", self.folder, "-e", self.folder + "/nginx.log", "-c",
                 self.folder + "/nginx.conf"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self._answers():
                return
            self.child.wait()
        raise RuntimeError("nginx did not come up: see " + self.folder + "/nginx.log")

    def _answers(self):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and self.child.poll() is None:
            if os.path.exists(self.folder + "/nginx.pid"):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                        return True
            time.sleep(0.05)
        return False

    def url(self, stream):
        return f"rtmp://127.0.0.1:{self.port}/live/{stream}"

    def recording(self, stream):
        return f"{self.folder}/recordings/{stream}.flv"

    def wire_bytes(self, stream):
        """Bytes that the stream's connection has carried to the server, as TCP's payload; None while it is open."""
        total = None
        with open(self.folder + "/wire.log") as file:
            for line in file:
                name, received = line.split()
                if name == stream:
                    total = (total or 0) + int(received) + HANDSHAKE_BYTES
        return total

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
