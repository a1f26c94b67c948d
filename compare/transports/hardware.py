# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCE by RNICs: between two machines, or looped inside one of this machine. There is no referee, because XDP does not see what
an RNIC terminates. No RNIC was at hand: this was never run on one."""
import subprocess
import threading
import time

from compare.transport import PATH_MTU, Load, Row, Transport
from compare.programs import Qperf
from compare.transports.softroce import WRITE, Perftest, PerftestLatency, RdmaStream
from compare.transports.udp import ONE_DATAGRAM
from lab import child
from lab.hosts import gid_index
from lab.lab import ROOT
from lab.inventory import rdma
from lab.process import Result

MESSAGE = 65536     # bytes
NO_RNIC = "no RNIC on this machine (/sys/class/infiniband has none)"


def rnics(folder="/sys/class/infiniband"):
    """RDMA devices in hardware of this machine that have a RoCEv2 GID, as inventory.rdma() describes them."""
    return [device for device in rdma(folder=folder) if not device["virtual"]]


class HostProcess:
    """Like lab.process.Process, on this machine."""

    def __init__(self, argv, timeout):
        self._timeout = timeout
        self._changed = threading.Condition()
        self._text = {"stdout": "", "stderr": ""}
        self._process = subprocess.Popen(child([str(arg) for arg in argv]), cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
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


class Loop:
    """This machine as both ends, looped inside an RNIC."""

    def __init__(self, device):
        self._device = device

    def address(self, _end, _family=4):
        return "127.0.0.1"

    def rdma(self, _end):
        return self._device["name"]

    def gid_index(self, _end, _family=4):
        return next(iter(self._device["gids"]))

    def start(self, _end, argv, timeout):
        return HostProcess(argv, timeout)

    def exec(self, end, argv, timeout):
        return self.start(end, argv, timeout).wait()


class HardwareRc(Transport):
    name, words, order = "hardware-rc", "RNIC loop", 40
    driver, section, only = None, "In hardware", ("local",)
    tools = (RdmaStream("rc", WRITE),)

    def rows(self, loads):
        return [self.row(rnics(), loads[0].path_mtu)]

    def row(self, found, path_mtu=PATH_MTU):
        """found: RNICs of this machine. The first one is used."""
        self._device = found[0] if found else None
        return Row.of(self, self.tools[0], Load(size=MESSAGE, path_mtu=path_mtu), None if found else NO_RNIC)

    def path(self, lab):
        return Loop(self._device)


class ByRnic:
    """Two machines (lab.hosts.Hosts) whose RDMA devices are those in hardware."""

    def __init__(self, lab):
        self._lab = lab

    def __getattr__(self, name):
        return getattr(self._lab, name)

    def rdma(self, end):
        return self._lab.rnic(end)["name"]

    def gid_index(self, end, family=4):
        return gid_index(self._lab.rnic(end), self._lab.address(end, family))


class Rnic(Transport):
    """Common to RC, UC and UD between machines. No XDP program sees the packets: only the ends' own counters tell of them."""
    only, seen_on_nic, by_rnic = ("hosts",), False, True

    def refusal(self, lab):
        missing = [end for end in lab.ends if not lab.rnic(end)]
        return f"no RNIC on {' and '.join(map(lab.named, missing))}" if missing else None

    def path(self, lab):
        return ByRnic(lab)

    def count(self, row, outcome, did, seen):
        return {"on_wire": None, "left_wire": None, "retransmitted": None}


class RnicRc(Rnic):
    name, words, order = "rnic-rc", "RNIC RC", 41
    throttles = True
    tools = (RdmaStream("rc", WRITE), Perftest("rc", "ib_write_bw"), PerftestLatency("rc", "ib_write_lat"),
             Qperf("rc_rdma_write_bw", ("-cm1",), ipv6=False))


class RnicUc(Rnic):
    name, words, order = "rnic-uc", "RNIC UC", 42
    tools = (RdmaStream("uc", WRITE), Perftest("uc", "ib_write_bw"), PerftestLatency("uc", "ib_write_lat"))


class RnicUd(Rnic):
    name, words, order = "rnic-ud", "RNIC UD", 43
    tools = (RdmaStream("ud", "SEND"), Perftest("ud", "ib_send_bw", ONE_DATAGRAM),
             PerftestLatency("ud", "ib_send_lat", ONE_DATAGRAM))
