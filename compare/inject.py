# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults injected on purpose, each at one place, to test that the accounting finds them there.

A share of the packets (P%) means every Nth packet of the row (IPv4 datagrams of 4096 to 8191 bytes), no end markers and no
control traffic: what is dropped is what is missing. A slow receiver loses what comes: with a ring or a socket that is read less
often than every 200 ms (SENDER_END_FIRST_NS) also end markers, which are then lost and not missing.
"""
import dataclasses
import json
import os
import re
import struct
from typing import Optional

from compare import PATIENCE_S
from lab import LabError, bpftool
from lab.lab import ROOT

OBJECT = os.path.join(ROOT, "build", "bpf", "drop.bpf.o")
PREFERENCE = 49     # priority of the filter

# Each fault, and the form of its value.
FAULTS = {"sender-qdisc": "P%", "wire": "P%", "receiver-ring": "Nms", "receive-buffer": "BYTES", "slow-receiver": "Nms",
          "receive-requests": "N", "sender-link": "RATE"}
# Ethernet's preamble, FCS and gap, which skb->len has not. A packet of any MTU must fit the burst, and what a socket may have under
# way the queue: a sender then waits, as for a NIC.
OVERHEAD, LINK_QUEUE = ("stab", "overhead", 24), ("burst", 1 << 16, "limit", 1 << 24)
# What the programs take (userspace/traffic/streams/stream_options.c and udp_stream/udp_stream.c beside it,
# rxe_tests/rdma_stream/main.c).
MOST = {"Nms": 60000, "N": 16384, "BYTES": 2 ** 30 - 1}


@dataclasses.dataclass(frozen=True)
class Injection:
    sender_qdisc: Optional[float] = None    # share of the packets
    wire: Optional[float] = None
    receiver_ring: Optional[int] = None     # milliseconds between two readings of the receiving NIC's ring
    receive_buffer: Optional[int] = None    # bytes, of the receiving socket of kernel UDP, and of SPEAD
    slow_receiver: Optional[int] = None     # milliseconds for which our receiver sleeps after each read
    receive_requests: Optional[int] = None  # that our RDMA receiver posts on each QP
    sender_link: Optional[str] = None       # the rate of the sender's NIC: no fault, but what a slower NIC would be

    @classmethod
    def parse(cls, text):
        """Faults with commas between them, such as 'wire=1%' or 'receive-requests=16,slow-receiver=20ms'."""
        faults = [_fault(word) for word in text.split(",")]
        if len(dict(faults)) < len(faults):
            raise ValueError(f"{text}: a fault twice")
        if {"sender_qdisc", "sender_link"} <= set(dict(faults)):
            raise ValueError(f"{text}: both need the queue of the sender's NIC")
        return cls(**dict(faults))

    def __str__(self):
        """'wire 1 %'"""
        kinds = {"sender_qdisc": "{:.2g} %", "wire": "{:.2g} %", "receiver_ring": "{} ms", "receive_buffer": "{} bytes",
                 "slow_receiver": "{} ms", "receive_requests": "{}", "sender_link": "{}/s"}
        values = ((name, value * 100 if "%" in kinds[name] else value) for name, value in vars(self).items() if value)
        return ", ".join(f"{name.replace('_', ' ')} {kinds[name].format(value)}" for name, value in values)

    @property
    def text(self):
        """What parse() reads; '': none."""
        units = {"P%": "%", "Nms": "ms"}
        values = ((name.replace("_", "-"), f"{value * 100:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else value)
                  for name, value in vars(self).items() if value)
        return ",".join(f"{name}={value}{units.get(FAULTS[name], '')}" for name, value in values)

    @property
    def changes_machines(self):
        """Whether it is more than options of our receivers."""
        return any((self.wire, self.receiver_ring, self.takes_queue))

    @property
    def takes_queue(self):
        """Whether it needs the queue of the sender's NIC."""
        return bool(self.sender_qdisc or self.sender_link)

    def begin(self, lab):
        if self.sender_qdisc:
            # a classful qdisc that shapes nothing: it counts what a filter drops, and tells the sender nothing
            lab.check("A", ["tc", "qdisc", "replace", "dev", lab.netif("A"), "root", "handle", "1:", "htb"], timeout=PATIENCE_S)
            _drop(lab, "A", lab.netif("A"), ["parent", "1:"], round(1 / self.sender_qdisc))
        if self.sender_link:
            lab.check("A", ["tc", "qdisc", "replace", "dev", lab.netif("A"), *OVERHEAD, "root", "tbf", "rate", self.sender_link, *LINK_QUEUE],
                      timeout=PATIENCE_S)
        if self.wire:
            # after the referee's first look (XDP) and before its second (the other port); clsact may exist already
            lab.wire(["tc", "qdisc", "add", "dev", lab.port("A"), "clsact"], timeout=PATIENCE_S)
            _drop(lab, "wire", lab.port("A"), ["ingress"], round(1 / self.wire))
        if self.receiver_ring:
            _read_ring_every(lab, self.receiver_ring * 10 ** 6)

    def end(self, lab):
        if self.takes_queue:
            lab.check("A", ["tc", "qdisc", "del", "dev", lab.netif("A"), "root"], timeout=PATIENCE_S)
        if self.wire:
            lab.check("wire", ["tc", "filter", "del", "dev", lab.port("A"), "ingress", "pref", PREFERENCE], timeout=PATIENCE_S)
        if self.receiver_ring:
            _read_ring_every(lab, 0)


def _fault(word):
    """('wire', 0.01) of 'wire=1%'"""
    fault, _, value = word.partition("=")
    number = _number(FAULTS.get(fault), value)
    if not number:
        raise ValueError(f"{word}: neither {' nor '.join(f'{fault}={form}' for fault, form in FAULTS.items())}")
    return fault.replace("-", "_"), number


def _number(form, value):
    """0: the value has another form."""
    if form == "RATE":
        return value if re.fullmatch(r"[1-9]\d*[KMG]bit", value) else 0
    if form == "P%":
        share = re.fullmatch(r"(\d+(?:\.\d+)?)%", value)
        return float(share[1]) / 100 if share and float(share[1]) <= 100 else 0
    number = re.fullmatch(r"(\d+)ms" if form == "Nms" else r"(\d+)", value) if form else None
    return int(number[1]) if number and int(number[1]) <= MOST[form] else 0


def _read_ring_every(lab, ns):
    """
    NAPI's deferral: after reading the ring the receiver's NIC waits so long, whatever comes
    (Documentation/networking/napi.rst). 0: not at all, which is the kernel's default.
    """
    settings = {"gro_flush_timeout": ns, "napi_defer_hard_irqs": int(ns > 0)}
    script = "\n".join(f"echo {n} >/sys/class/net/{lab.netif('B')}/{name}" for name, n in settings.items())
    lab.check("B", ["sh", "-ec", script], timeout=PATIENCE_S)


def _drop(lab, where, device, hook, every):
    """Drops packets of the row by a filter. hook: words for tc."""
    place = ["dev", device, *hook, "pref", PREFERENCE]
    lab.check(where, ["tc", "filter", "add", *place, "bpf", "da", "obj", OBJECT, "sec", "tc"], timeout=PATIENCE_S)
    shown = json.loads(lab.check(where, ["tc", "-j", "filter", "show", *place], timeout=PATIENCE_S))
    program = next(f["options"]["prog"]["id"] for f in shown if f.get("options", {}).get("prog"))
    maps = json.loads(lab.check(where, bpftool("-j", "prog", "show", "id", program), timeout=PATIENCE_S))["map_ids"]
    if len(maps) != 1:
        raise LabError(f"{OBJECT} has {len(maps)} maps instead of one")
    value = [f"0x{byte:02x}" for byte in struct.pack("=I", every)]
    lab.check(where, bpftool("map", "update", "id", maps[0], "key", "0", "0", "0", "0", "value", *value),
              timeout=PATIENCE_S)
