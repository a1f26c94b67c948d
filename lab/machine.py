# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An end of a lab on a machine as it is: this one, a network namespace of it, or another machine. The agent runs there under
guard.sh. Another machine gets a copy of what it needs, which vanishes with the guard.
"""
import io
import os
import re
import shlex
import socket
import subprocess
import tarfile
import threading
import time

from lab import LabError, frames, nic
from lab.guest import Guest
from lab.netif_settings import LOGINS

# What goes to another machine.
FILES = ("lab", "bench/machine.py", "compare/counters.sh", "compare/meter.sh", "compare/ring_drops.py", "compare/refill.py",
         "compare/spead_stream.py", "build/rocescope", "build/udp_stream", "build/tcp_stream", "build/xdp_stream",
         "build/bpf/redirect.bpf.o", "build/dpdk_stream", "build/rdma_stream", "build/bench/watch_run")
# head reads no byte more than told (GNU coreutils), so the agent finds its frames behind the archive.
UNPACK = """
scratch=$(mktemp -d "${{TMPDIR:-/tmp}}/rocescope.XXXXXXXX") || exit
timeout 600 head -c {bytes} | tar -xzC "$scratch" || {{
	rm -rf "$scratch"
	echo "the programs do not fit into ${{TMPDIR:-/tmp}} there: free 20 MB" >&2
	exit 1
}}
exec sh "$scratch/lab/guard.sh" "$scratch" "$scratch"
"""
# How to get there: a command that passes its input to a shell command there. srun was never run.
REACH = {
    "ssh": lambda host: ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
                         "-o", "ServerAliveCountMax=6", host],
    "srun": lambda host: ["srun", "--nodelist", host, "--ntasks", "1", "--unbuffered", "sh", "-c"],
}
KINDS = ("netns", *REACH)
PING_S = 5      # seconds between signs of life; the agent gives up after agent.SILENCE_S without one
HELLO_S = 120     # most time for the programs to get there, and the agent to start
PUT_BACK_S = 60     # most time that putting back may take


def check(at):
    """at: "" is this machine; netns:NAME, ssh:USER@HOST, srun:NODE. Returns it; a ValueError says what is wrong."""
    kind, colon, name = at.partition(":")
    if at and not (kind in KINDS and colon and name and not name.startswith("-")):
        raise ValueError(f"{at}: none of netns:NAME, ssh:USER@HOST, srun:NODE")
    return at


def logins():
    """
    {variable: value} of LOGINS that this process's parents have. netif_settings.py leaves the way to those who
    are logged in alone, and sudo takes SSH_CONNECTION away from what it starts.
    """
    found, pid = {}, os.getpid()
    while pid:
        try:
            with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
                variables = [each.partition("=") for each in file.read().split("\0")]
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                pid = int(re.search(r"^PPid:\s+(\d+)$", file.read(), re.M)[1])
        except OSError:
            break
        found = {**{name: value for name, _, value in variables if name in LOGINS}, **found}
    return found


class Machine(Guest):
    def boot(self):
        at = self._config["machines"][self.end]
        kind, _, name = at.partition(":")
        self._name = at or "this machine"
        self._apart = self._config["apart"].get(self.end)
        files = self._archive() if kind in REACH else b""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = self._spawn(self._command(kind, name, len(files)), theirs)
        stream = self._control.makefile("rb", buffering=frames.CHUNK)
        try:
            self._control.settimeout(HELLO_S)
            self._control.sendall(files)
            hello = frames.read(stream)
            self._control.settimeout(None)
        except TimeoutError:
            raise LabError(f"end {self.end}, {self._name}: no sign of the agent; does the shell there write anything at "
                           "login?") from None
        except OSError:
            hello = None
        if not hello:
            self._process.wait()
            raise LabError(self._why())
        if hello[:2] != (frames.HELLO, 0):
            raise LabError(f"end {self.end}, {self._name}: the shell there writes to standard output at login: {hello[2][:40]}")
        self._listen(self._control, stream, hello)
        threading.Thread(target=self._ping, daemon=True).start()

    def prepare(self):
        number = self._config["ends"].index(self.end) + 1
        return nic.prepare_apart(self._apart, number, self._config["mtu"]) if self._apart else ":"

    def close(self):
        """Ends it, and waits until all is put back there."""
        try:
            self._control.shutdown(socket.SHUT_WR)
            self._process.wait(PUT_BACK_S)
        except (AttributeError, OSError, subprocess.TimeoutExpired):
            pass    # it never was up, has ended, or cannot be reached

    def _command(self, kind, name, size):
        if kind in REACH:
            script = UNPACK.format(bytes=size)
            return [*REACH[kind](name), script if kind == "srun" else f"sh -c {shlex.quote(script)}"]
        guard = ["sh", os.path.join(self._config["root"], "lab", "guard.sh"), self._config["root"]]
        return ["ip", "netns", "exec", name, *guard] if kind else guard

    def _spawn(self, command, control):
        with open(self._log, "wb") as log:
            try:
                return subprocess.Popen(command, stdin=control, stdout=control, stderr=log,
                                        env={**logins(), **os.environ, "APART": self._apart or ""})
            except FileNotFoundError:
                raise LabError(f"{command[0]} is missing: install it") from None

    def _archive(self):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
            for name in FILES:
                tar.add(os.path.join(self._config["root"], name), name,
                        filter=lambda entry: None if "__pycache__" in entry.name else entry)
        return archive.getvalue()

    def _ping(self):
        while True:
            self.handle(frames.PING, 0, b"")
            time.sleep(PING_S)

    def _why(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()]
        return f"end {self.end}, {self._name}: {lines[-1] if lines else f'it ended with status {self._process.returncode}'}"
