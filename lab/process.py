# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A command that runs in a lab, as the program that started it sees it."""
import json
import os
import signal
import socket
import threading
from dataclasses import dataclass

from lab import LabError, frames


@dataclass
class Result:
    """rc as in subprocess (negative: a signal). timed_out: killed by its timeout; its output until then is kept."""
    rc: int
    stdout: str
    stderr: str
    timed_out: bool = False


def connect(folder):
    """
    The control socket of the lab in this folder. The path leads through /proc, since a socket's path has at most 107
    bytes.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        directory = os.open(folder, os.O_PATH)
        try:
            connection.connect(f"/proc/self/fd/{directory}/control")
        finally:
            os.close(directory)
    except OSError:
        connection.close()
        name = os.path.basename(folder)
        raise LabError(f"the lab '{name}' is not up: lab up --name {name} boots it") from None
    return connection


class Process:
    """on_output(kind, data): called from a thread as output comes. The output is then not kept."""

    def __init__(self, folder, where, argv, timeout=None, cwd=None, env=None, on_output=None):
        spec = {"where": where, "argv": [str(arg) for arg in argv], "timeout": timeout, "cwd": cwd, "env": env}
        self._output = {frames.STDOUT: bytearray(), frames.STDERR: bytearray()}
        self._on_output = on_output or (lambda kind, data: self._output[kind].extend(data))
        self._changed = threading.Condition()
        self._exit = None
        self._connection = connect(folder)
        self._writer = frames.Writer(self._connection.send)
        self._writer.send(frames.START, 0, json.dumps(spec).encode())
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        status = None
        with self._connection, self._connection.makefile("rb", buffering=frames.CHUNK) as stream:
            try:
                while frame := frames.read(stream):
                    if frame[0] == frames.EXIT:
                        status = json.loads(frame[2])
                        break
                    with self._changed:
                        self._on_output(frame[0], frame[2])
                        self._changed.notify_all()
            except OSError:
                pass
        if not status:
            self._on_output(frames.STDERR, b"lab: the lab has ended\n")
        with self._changed:
            self._exit = status or {"rc": 125, "timed_out": False}
            self._changed.notify_all()

    @property
    def stdout(self):
        """The output so far."""
        return self._output[frames.STDOUT].decode(errors="replace")

    @property
    def stderr(self):
        return self._output[frames.STDERR].decode(errors="replace")

    def poll(self):
        """Its rc, or None while it runs."""
        return self._exit["rc"] if self._exit else None

    def wait(self, timeout=None):
        """The Result. Raises TimeoutError if the command has not ended by then; it keeps running."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._exit, timeout):
                raise TimeoutError(f"still running after {timeout} s")
        return Result(self._exit["rc"], self.stdout, self.stderr, self._exit["timed_out"])

    def expect(self, text, timeout=120):
        """Waits until this text is in either output. False: the command ended without it, or the timeout passed."""
        def seen():
            return text in self.stdout or text in self.stderr
        with self._changed:
            self._changed.wait_for(lambda: self._exit or seen(), timeout)
        return seen()

    def kill(self, number=signal.SIGKILL):
        """Sends a signal to its process group, if it still runs."""
        try:
            self._writer.send(frames.KILL, 0, b"%d" % number)
        except OSError:
            pass
