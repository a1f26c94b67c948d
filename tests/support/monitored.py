# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A wire to watch (a veth pair in a network namespace of its own), and rocescope monitor on it."""
import ctypes
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import termios

from .patience import PATIENCE, settle, until
from .project import ROCESCOPE
from .tap import Tap

BPF_TCX_EGRESS = 47


def own_namespace(*more):
    """Runs this test again in an unnamed network namespace, which ends with the test; more: options of unshare."""
    if os.geteuid():
        Tap().skip_all("needs root (network namespaces)")
    if os.environ.get("TEST_NAMESPACE") != str(os.getppid()):
        os.environ["TEST_NAMESPACE"] = str(os.getpid())
        os.execvp("unshare", ["unshare", "--net", *more, "--fork", "--kill-child", sys.executable] + sys.argv)
    with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w") as f:
        f.write("1")  # only the test's own frames


def run(*command, check=True):
    return subprocess.run(command, capture_output=True, text=True, check=check)


def wire(a="wireA", b="wireB", mtu=1500):
    run("ip", "link", "add", a, "mtu", str(mtu), "type", "veth", "peer", "name", b, "mtu", str(mtu))
    run("ip", "link", "set", a, "up")
    run("ip", "link", "set", b, "up")


def unwire(a="wireA"):
    run("ip", "link", "del", a, check=False)


def send(interface, frames):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((interface, 0))
        for frame in frames:
            s.send(frame)
    settle()


def waiting_bytes(pipe):
    """The bytes that are written to the pipe and not yet read."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def attached(interface):
    """The number of programs attached to the interface: (XDP, tcx egress)."""
    xdp = len(re.findall(r"prog/xdp id \d+", run("ip", "-d", "link", "show", interface).stdout))
    count = ctypes.c_uint32(0)
    query = ctypes.CDLL("libbpf.so.1").bpf_prog_query  # bpftool of Debian 12 does not know tcx
    query(socket.if_nametoindex(interface), BPF_TCX_EGRESS, 0, None, None, ctypes.byref(count))
    return xdp, count.value


# linux/capability.h: what a watching command needs to go on, and what some keep beside it
WATCHING = 1 << 12 | 1 << 38 | 1 << 39     # CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF
DAC_OVERRIDE = 1 << 1


def gives_up(process, but=WATCHING, for_good=True):
    """Waits until no thread has other capabilities than these, nor, for good, gets more by a program that it starts."""
    left = but & _privileges("self")[0]
    return until(lambda: all(_privileges(task) == (left, left, int(for_good)) for task in os.listdir(f"/proc/{process.pid}/task")))


def _privileges(task):
    with open(f"/proc/{task}/status", encoding="ascii") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["CapPrm"], 16), int(status["CapEff"], 16), int(status["NoNewPrivs"])


class Monitor:
    """with Monitor("wireA", "-j") as m: ...; afterwards m.status, m.out, m.err, m.last (the final snapshot)."""

    def __init__(self, *arguments, command=(ROCESCOPE, "monitor"), **how):
        self.process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **how)
        self.err = ""
        while "watching" not in self.err:
            if not self.line():
                break

    def line(self):
        """The next line of standard error; adds it to self.err. Reads byte by byte, so that communicate() finds the rest."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stderr.fileno(), 1)
            if not byte:
                break
            line += byte
        self.err += line.decode()
        return line.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.process.stdout.closed:
            self.end(signal.SIGINT)

    def end(self, number):
        """Ends the monitor. number: a signal; 0: it ends without one."""
        if number:
            self.process.send_signal(number)
        self.out, err = self.process.communicate(timeout=PATIENCE)
        self.err += err
        self.status = self.process.returncode
        lines = self.out.splitlines()
        self.last = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None

    def next_snapshot(self):
        """Waits until it has printed more than so far. The output itself is read at the end."""
        before = waiting_bytes(self.process.stdout)
        until(lambda: waiting_bytes(self.process.stdout) > before)

    def stream(self, **match):
        """The one stream of the final snapshot with these fields; {}: there is none."""
        found = [s for s in self.last["streams"] if all(s.get(k) == v for k, v in match.items())]
        return found[0] if len(found) == 1 else {}
