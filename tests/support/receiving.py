# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""rocescope receive on one end of a wire, and what rocescope send writes to it from the other."""
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import tempfile

from .monitored import Monitor, run
from .patience import PATIENCE, settle, until
from .project import ROCESCOPE

PATTERN = b"".join(struct.pack("!Q", i) for i in range(1 << 17))  # docs/send.md: 1 MiB, repeated
ADDRESSES = {4: ("10.9.0.1", "10.9.0.2"), 6: ("fd00::1", "fd00::2")}


def pattern(begin, size):
    """Bytes of the sender's pattern from `begin` on."""
    begin %= len(PATTERN)
    return (PATTERN[begin:] + PATTERN * (size // len(PATTERN) + 1))[:size]


class Receiver(Monitor):
    """
    with Receiver("--qps", "2") as r: r.tell is what the sender must know. Afterwards r.memory, r.receive (of the final
    snapshot, with -j) and all of Monitor. interface, peer (an address, or None), version of IP by keywords.
    """

    def __init__(self, *arguments, interface="wireA", ip=4, peer=True, command=(ROCESCOPE, "receive"), **how):
        self._folder = tempfile.TemporaryDirectory()
        os.chmod(self._folder.name, 0o777)  # the receiver may be another user's
        self._tell, self._dump = (os.path.join(self._folder.name, name) for name in ("tell", "dump"))
        source, own = ADDRESSES[ip]
        more = ["--address", own, "--dump", self._dump]
        if peer:
            more += ["--peer", source, "--tell", self._tell]
        self.memory = self.tell = self.receive = None
        super().__init__(interface, *more, *arguments, command=command, **how)
        while "receive: " not in self.err and self.line():
            pass
        if peer and os.path.exists(self._tell):
            with open(self._tell, encoding="ascii") as file:
                self.tell = json.load(file)

    def end(self, number):
        super().end(number)
        self.receive = (self.last or {}).get("receive")
        if os.path.exists(self._dump):
            with open(self._dump, "rb") as file:
                self.memory = file.read()
        self._folder.cleanup()

    def place(self, address):
        """Where an address of the first QP's kind lies in the memory."""
        return address - self.tell["regions"][0]["address"]

    def numbers(self):
        """The QPs, as options of send."""
        return [word for q in self.tell["qps"]
                for word in ("--qp", f"qpn={q['qpn']},psn={q['psn']},rkey={q['rkey']},va={q['address']}")]


def send_to(receiver, *arguments, interface="wireB", ip=4, check=True):
    """rocescope send with the numbers that the receiver tells."""
    source, own = ADDRESSES[ip]
    numbers = receiver.numbers() if receiver else []
    result = run(ROCESCOPE, "send", interface, "--src", source, "--dst", own, "--dst-mac", "02:00:00:00:00:02", *numbers,
                 "-j", *arguments, check=check)
    settle()
    return json.loads(result.stdout) if result.stdout else None


class Listener:
    """with Listener("wireB") as l: all frames that come in there are in l.frames afterwards, those of RoCE only."""

    def __init__(self, interface):
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self._socket.bind((interface, 3))
        self.frames = []

    def __enter__(self):
        return self

    def take(self):
        """Reads what has come since."""
        settle()
        new = []
        self._socket.setblocking(False)
        while True:
            try:
                frame, (_, _, kind, *_) = self._socket.recvfrom(1 << 16)
            except BlockingIOError:
                break
            if kind != socket.PACKET_OUTGOING and frame[12:14] in (b"\x08\x00", b"\x86\xdd"):
                new.append(frame)
        self.frames += new
        return new

    def __exit__(self, *_):
        self.take()
        self._socket.close()


def gro(interface):
    """NAPI on this end of a veth, so that its other end can answer (drivers/net/veth.c)."""
    run("ethtool", "-K", interface, "gro", "on")


class Control:
    """A hand-made end of rdma_stream's control connection."""

    def __init__(self, address, port=7471, source=None):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET

        def connected():
            with contextlib.suppress(ConnectionRefusedError):
                return socket.create_connection((address, port), timeout=PATIENCE, source_address=(source, 0) if source else None)

        self.socket = until(connected)
        assert self.socket.family == family
        self._file = self.socket.makefile("rb")

    def say(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def hear(self):
        """The next message; None: closed."""
        try:
            line = self._file.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    def close(self):
        self._file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def gid(address):
    """As the control connection has it: 32 hexadecimal digits."""
    if ":" in address:
        return socket.inet_pton(socket.AF_INET6, address).hex()
    return "00000000000000000000ffff" + socket.inet_aton(address).hex()


def sender_end(qps=1, service="uc", operation="write-imm", size=4096, path_mtu=1024, address="10.9.0.1", psn=0x100, **more):
    """What a sender says first."""
    return {"transport": service, "operation": operation, "filler": False, "size": size, "path_mtu": path_mtu,
            "gid": gid(address), "lid": 0,
            "qps": [{"qpn": 0x500 + i, "psn": psn + i, "rkey": 0, "address": 0} for i in range(qps)], **more}


def said(text):
    """The lines of standard error after those of the start."""
    return [line for line in text.splitlines() if not re.match(r"rocescope: (watching |receive: .* path MTU \d+$)", line)]


def processes(*command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
