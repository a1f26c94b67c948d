# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What the tests share: the two ends that the environment names (README.rst), and QPs between them. `a` is this process and sends,
`b` is the other end.
"""
import contextlib
import json
import os
import socket
import subprocess
import sys

from end import MEMORY, End, Missing, pattern, run   # noqa: F401  tests take them from here
from patience import PATIENCE, until    # noqa: F401
from tap import Tap     # noqa: F401

QUICK = os.environ.get("QUICK") == "1"      # a part of each grid, for emulated CPUs
NAMES = ("LOCAL_V4", "REMOTE_V4", "REMOTE_TYPE", "REMOTE_ARGS")
END = os.path.join(os.path.dirname(os.path.realpath(__file__)), "end.py")
HEADERS = 80    # bytes beside the payload that rxe allows for (rxe_param.h, RXE_MAX_HDR_LENGTH)
PATH_MTUS = (256, 512, 1024, 2048, 4096)
GRH = 40        # bytes in front of the payload of a datagram of UD
OWN_NIC, OWN_V4 = ("rxetest0", "rxetest1"), "192.0.2.1"


class Remote:
    """The other end: End's methods, called from here."""

    def __init__(self, kind, arguments):
        self._process = self._connection = None
        if kind == "tcp":
            address, _, port = arguments.rpartition(":")
            self._connection = socket.create_connection((address, int(port)), PATIENCE)
            self._connection.settimeout(None)
            self._out = self._in = self._connection.makefile("rw", encoding="ascii")
        else:
            before = {"": [], "netns": ["ip", "netns", "exec", arguments], "ssh": ["ssh", "-T", arguments]}[kind]
            self._process = subprocess.Popen([*before, END], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii")
            self._out, self._in = self._process.stdin, self._process.stdout

    def __getattr__(self, name):
        return lambda *words, **named: self._call(name, words, named)

    def _call(self, *call):
        print(json.dumps(call), file=self._out, flush=True)
        line = self._in.readline()
        if not line:
            raise RuntimeError("the other end has gone")
        answer = json.loads(line)
        if "missing" in answer:
            raise Missing(f"other end: {answer['missing']}")
        if "error" in answer:
            raise RuntimeError(f"other end: {answer['error']}")
        return answer["returned"]

    def hang_up(self):
        self._out.close()
        if self._process:
            self._process.wait()
        else:
            self._connection.close()


@contextlib.contextmanager
def ends(t, wire=False):
    """
    (a, b), with SoftRoCE up. Without NETIF both are on an interface that the test makes, and packets never leave rxe. wire: the
    test is skipped then.
    """
    with contextlib.ExitStack() as stack:
        try:
            local, remote, kind, arguments = _named(t) if "NETIF" in os.environ else (OWN_V4, OWN_V4, "", "")
            if wire and not kind:
                raise Missing("needs a wire to another end: set NETIF, see README.rst")
            netif = os.environ["NETIF"] if kind else stack.enter_context(own_nic())
            a = End()
            stack.callback(a.close)
            a.facts = a.open(local)
            if a.facts["netif"] != netif:
                raise Missing(f"{local} is on {a.facts['netif']}, not on {netif}")
            b = Remote(kind, arguments)
            stack.callback(b.hang_up)
            b.facts = b.open(remote)
            stack.callback(b.close)
        except Missing as missing:
            t.skip_all(str(missing))
        a.facts["wire"] = bool(kind)
        t.note(f"kernel {a.facts['kernel']}, the other end {b.facts['kernel']}{'' if kind else ', without a wire'}")
        before = len(a.warnings()), len(b.warnings())
        yield a, b
        found = a.warnings()[before[0]:] + b.warnings()[before[1]:]
        t.ok(not found, "no kernel warns", "\n".join(found))


def _named(t):
    missing = [name for name in NAMES if not os.environ.get(name)]
    if missing or os.environ["REMOTE_TYPE"] not in ("netns", "ssh", "tcp"):
        print(f"Bail out! NETIF is set: set {', '.join(missing) or 'REMOTE_TYPE to netns, ssh or tcp'}, too (README.rst)")
        sys.exit(1)
    return [os.environ[name] for name in NAMES]


@contextlib.contextmanager
def own_nic(mtu=4500, address=OWN_V4):
    """One end of a veth pair. Missing: there is none."""
    if os.geteuid():
        raise Missing("needs root")
    done = subprocess.run(["ip", "link", "add", OWN_NIC[0], "mtu", str(mtu), "type", "veth", "peer", "name", OWN_NIC[1]],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"no veth: {done.stderr.strip()}")
    try:
        for name in OWN_NIC:
            run("ip", "link", "set", name, "mtu", str(mtu), "up")
        run("ip", "address", "add", f"{address}/24", "dev", OWN_NIC[0])
        yield OWN_NIC[0]
    finally:
        run("ip", "link", "delete", OWN_NIC[0], check=False)


class Pair:
    """A QP at each end, connected. What connect() takes: for both ends, or in a and b for one of them."""

    def __init__(self, a, b, service, queues=None, **how):
        self.a, self.b, self.service = a, b, service
        self.qa, self.qb = (end.qp(service, **(queues or {})) for end in (a, b))
        self.connect(**how)

    def connect(self, a=None, b=None, **both):
        self.a.connect(self.qa, **{"gid": self.b.facts["gid"], "peer": self.qb, **both, **(a or {})})
        self.b.connect(self.qb, **{"gid": self.a.facts["gid"], "peer": self.qa, **both, **(b or {})})

    def at(self, place):
        """Words of a work request: where in b's memory."""
        return {"rkey": self.b.facts["rkey"], "to": self.b.facts["address"] + place}

    def ask(self, *requests):
        """Posts on a. Returns the statuses of the completions."""
        posted, why = self.a.post(self.qa, requests)
        if why:
            raise RuntimeError(f"refused: {why}")
        return [each["status"] for each in self.a.sent(posted)]

    def destroy(self):
        self.a.destroy(self.qa)
        self.b.destroy(self.qb)


def largest(mtu):
    """The path MTU that a NIC's MTU allows."""
    return max((each for each in PATH_MTUS if each + HEADERS <= mtu), default=PATH_MTUS[0])


def path_mtus(a, b):
    """Those that the wire allows; one of them for a quick test."""
    most = min(largest(end.facts["mtu"]) for end in (a, b))
    return [min(most, 1024)] if QUICK else [mtu for mtu in PATH_MTUS if mtu <= most]


def increase(before, after):
    """Of counters that both have."""
    return {name: after[name] - before[name] for name in after if name in before}


def fact(t, name, value):
    """What is neither right nor wrong: it is written down, and kernels are compared by it."""
    t.ok(True, f"{name} = {value}")
