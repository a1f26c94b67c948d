# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A forwarding host that loses packets on purpose, and counts which: what stands between two points of a path."""
import collections
import socket
import struct
import threading
import time

SOL_PACKET, PACKET_STATISTICS, SO_RCVBUFFORCE = 263, 6, 33
ETH_P_ALL = 3
BTH = 14 + 20 + 8   # of IPv4 without options


class Dropper:
    """
    with Dropper("in0", "out0", drop=lambda qpn, psn, nth: ...) as d: forwards RoCE frames that come to in0 out of out0. Each of
    drop, damage, late and twice may be given: whether this packet of the QP, the nth from 1, is lost, gets a wrong byte of
    payload, leaves five packets of its QP later, or leaves twice. Afterwards d.seen, d.dropped, d.damaged, d.sent: packets by
    QPN; d.longest: seconds for which it has stood still.
    """
    LATE = 5

    def __init__(self, enter, leave, **what):
        self._what = what
        self._in = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._in.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self._in.bind((enter, ETH_P_ALL))
        self._in.settimeout(0.05)
        self._out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._out.bind((leave, 0))
        self._held = collections.defaultdict(list)  # by QPN: (count of the QP at which it leaves, frame)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.longest = 0
        self.seen, self.dropped, self.damaged, self.sent = (collections.Counter() for _ in range(4))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        received, self.missed = struct.unpack("II", self._in.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        self._in.close()
        self._out.close()

    def _does(self, what, *packet):
        return what in self._what and self._what[what](*packet)

    def _run(self):
        before = time.monotonic()
        while True:
            self.longest = max(self.longest, time.monotonic() - before)
            before = time.monotonic()
            try:
                frame, (_, _, kind, *_) = self._in.recvfrom(65536)
            except TimeoutError:
                if self._over.is_set():
                    return
                continue
            if kind != socket.PACKET_OUTGOING and len(frame) > BTH + 12 and frame[36:38] == b"\x12\xb7":
                self._take(frame)

    def _take(self, frame):
        qpn, psn = (struct.unpack_from("!I", frame, BTH + at)[0] & 0xffffff for at in (4, 8))
        self.seen[qpn] += 1
        packet = qpn, psn, self.seen[qpn]
        if self._does("drop", *packet):
            self.dropped[qpn] += 1
        elif self._does("late", *packet):
            self._held[qpn].append((self.seen[qpn] + self.LATE, frame))
        else:
            if self._does("damage", *packet):
                self.damaged[qpn] += 1
                frame = frame[:-8] + bytes([frame[-8] ^ 1]) + frame[-7:]
            for _ in range(1 + bool(self._does("twice", *packet))):
                self._send(qpn, frame)
        for due, held in self._held[qpn][:]:
            if due <= self.seen[qpn]:
                self._held[qpn].remove((due, held))
                self._send(qpn, held)

    def _send(self, qpn, frame):
        self.sent[qpn] += 1
        self._out.send(frame)
