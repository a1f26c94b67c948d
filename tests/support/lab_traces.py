# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The traces of a lab on this machine: processes that name its folder, and all processes in their namespaces."""
import os
import time

from .patience import until


def _processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _namespaces(pid):
    try:
        return {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("net", "pid")}
    except OSError:
        return set()


class Traces:
    """The traces of the lab with that folder. Call look() before the kill, remaining() after it."""

    def __init__(self, folder):
        self._folder = folder + "/"
        self._spaces = set()
        self._own = _namespaces(os.getpid())

    def look(self):
        """Remembers its namespaces. Returns {pid: command line}."""
        found = {pid: _command(pid) for pid in _processes() if self._folder in _command(pid) and pid != os.getpid()}
        for pid in found:
            self._spaces |= _namespaces(pid) - self._own
        return found

    def remaining(self, patience=10):
        """Waits until nothing is left, at most that many seconds: (what is left, seconds it took)."""
        begun, left = time.monotonic(), {}

        def gone():
            left.clear()
            left.update(self.look())
            left.update((pid, _command(pid)) for pid in _processes() if _namespaces(pid) & self._spaces)
            return not left

        until(gone, patience)
        return left, time.monotonic() - begun
