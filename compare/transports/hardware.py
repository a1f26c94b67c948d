# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCE by an RNIC of this machine, if there is one. Both ends are on the machine, looped inside the RNIC. There is no
referee, because XDP does not see what an RNIC terminates. No RNIC was at hand: this was never run on one."""
import os
import subprocess
import threading
import time

from compare.transport import PATH_MTU, Row, Transport
from compare.transports.softroce import WRITE, RdmaStream
from lab import child
from lab.process import Result

MESSAGE = 65536     # bytes
NO_RNIC = "no RNIC on this machine (/sys/class/infiniband has none)"


def devices(folder="/sys/class/infiniband"):
    """RNICs of this machine. A device of rxe or siw is virtual, on no bus."""
    try:
        return sorted(name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "device")))
    except FileNotFoundError:
        return []


class HostProcess:
    """Like lab.process.Process, on this machine."""

    def __init__(self, argv, timeout):
        self._timeout = timeout
        self._changed = threading.Condition()
        self._text = {"stdout": "", "stderr": ""}
        self._process = subprocess.Popen(child([str(arg) for arg in argv]), stdin=subprocess.DEVNULL, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._readers = [threading.Thread(target=self._read, args=(name,), daemon=True) for name in self._text]
        for reader in self._readers:
            reader.start()

    def _read(self, name):
        for line in getattr(self._process, name):
            with self._changed:
                self._text[name] += line
                self._changed.notify_all()

    stdout = property(lambda self: self._text["stdout"])
    stderr = property(lambda self: self._text["stderr"])

    def expect(self, text, timeout):
        deadline = time.monotonic() + timeout
        with self._changed:
            while text not in self.stdout + self.stderr:
                alive = self._process.poll() is None or any(reader.is_alive() for reader in self._readers)
                if not alive or time.monotonic() > deadline:
                    return False
                self._changed.wait(0.1)
        return True

    def wait(self):
        try:
            self._process.wait(self._timeout)
            timed_out = False
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
            timed_out = True
        for reader in self._readers:
            reader.join()
        return Result(self._process.returncode, self.stdout, self.stderr, timed_out)

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()


class Host:
    """This machine as both ends: what StreamProgram needs of a path."""

    def address(self, _end):
        return "127.0.0.1"

    def start(self, _end, argv, timeout):
        return HostProcess(argv, timeout)

    def exec(self, end, argv, timeout):
        return self.start(end, argv, timeout).wait()


class HardwareRc(Transport):
    name, words, order = "hardware-rc", "RNIC RC", 40
    driver, section, only = None, "In hardware", "local"
    tools = (RdmaStream("rc", WRITE),)

    def rows(self, sizes, rates, path_mtu=PATH_MTU):
        return [self.row(devices())]

    def row(self, rnics):
        """rnics: names of this machine's RNICs. The first one is used."""
        if not rnics:
            return Row(self, self.tools[0], None, None, NO_RNIC)
        return Row(self, RdmaStream("rc", WRITE, device=rnics[0]), MESSAGE, None)

    def path(self, lab):
        return Host()
