# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two unnamed network namespaces with a veth between them, with a sender and a receiver of a stream."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

from . import schema
from .patience import PATIENCE, until
from .project import ROOT

NEAR, FAR = "10.9.0.1", "10.9.0.2"
NEAR6, FAR6 = "fd09::1", "fd09::2"
ENTERED = "STREAM_PAIR_ENTERED"


def enter_namespaces():
    """Runs this program again in namespaces that end with it, however it ends. Returns only inside them."""
    if os.environ.get(ENTERED):
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)    # DPDK leaves a folder there
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if os.geteuid():
        print("1..0 # SKIP needs root (network namespaces)", flush=True)
        sys.exit(4)
    os.environ[ENTERED] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                          sys.executable, *sys.argv])


class Pair:
    """near (v0) sends, far (v1) receives."""

    def __init__(self, mtu):
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo up; exec sleep infinity"],
                                       stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self._run([], f"link add v0 mtu {mtu} type veth peer name v1 mtu {mtu} netns {self.holder.pid}")
        for where, name, ip4, ip6 in (([], "v0", NEAR, NEAR6), (self.far(), "v1", FAR, FAR6)):
            self._run(where, f"addr add {ip4}/24 dev {name}")
            self._run(where, f"-6 addr add {ip6}/64 dev {name} nodad")
            self._run(where, f"link set {name} up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        # The veth ends with the other namespace, a moment later.
        subprocess.run(["ip", "link", "del", "v0"], stderr=subprocess.DEVNULL)

    def far(self):
        return ["nsenter", "--net", "--target", str(self.holder.pid)]

    @staticmethod
    def _run(where, arguments):
        subprocess.run([*where, "ip", *arguments.split()], check=True)

    def far_link(self):
        out = subprocess.run([*self.far(), "ip", "-j", "link", "show", "v1"], check=True, capture_output=True).stdout
        return json.loads(out)[0]


class Stream:
    """A started program. Returns its JSON object when it has ended."""

    def __init__(self, argv):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.status = self.object = None

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait_ready(self):
        until(lambda: "ready\n" in self.error_text() or self.process.poll() is not None)
        if "ready\n" not in self.error_text():
            raise RuntimeError("never ready: " + self.error_text())

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=PATIENCE):
        try:
            out = self.process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            out = self.process.communicate()[0]
        self.status = self.process.returncode
        with contextlib.suppress(json.JSONDecodeError):
            self.object = json.loads(out)
        if self.object is not None:
            schema.validate("stream", self.object)
        return self.object


def program(name):
    return os.path.join(ROOT, os.environ.get("BUILD", "build"), name)


def failing(argv):
    """Exit status, stdout and stderr of a program that must fail at once."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def one_line(text):
    return text.endswith("\n") and text.count("\n") == 1


def sent_packets():
    """The number of packets that have left by v0, of this namespace."""
    with open("/proc/net/dev", encoding="ascii") as file:
        return sum(int(line.split()[10]) for line in file if line.split()[0] == "v0:")


def wait_for_packets(count):
    """Waits until that many more packets have left by v0."""
    begin = sent_packets()
    until(lambda: sent_packets() >= begin + count)


def stopped(stream, packets):
    """For as long as it takes that many packets to leave."""
    stream.signal(signal.SIGSTOP)
    wait_for_packets(packets)
    stream.signal(signal.SIGCONT)
