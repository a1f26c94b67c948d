# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults injected on purpose, each at one place, to test that the accounting finds them there.

They drop only packets of the row (IPv4 datagrams of 4096 to 8191 bytes), no end markers and no control traffic: what
they drop is what is missing.
"""
import dataclasses
import json
import os
import struct
from typing import Optional

from compare import PATIENCE_S
from lab import LabError
from lab.lab import ROOT

OBJECT = os.path.join(ROOT, "build", "bpf", "drop.bpf.o")
PREFERENCE = 49     # priority of the filter on the wire


@dataclasses.dataclass(frozen=True)
class Injection:
    sender_qdisc: Optional[float] = None    # share of the packets
    wire: Optional[float] = None
    receive_buffer: Optional[int] = None    # bytes, of kernel UDP's receiving socket

    @classmethod
    def parse(cls, text):
        """'sender-qdisc=1%', 'wire=1%' or 'receive-buffer=4096'"""
        kind, _, value = text.partition("=")
        try:
            if kind == "receive-buffer":
                return cls(receive_buffer=int(value))
            share = float(value.removesuffix("%")) / 100
            if value.endswith("%") and 0 < share <= 1 and kind in ("sender-qdisc", "wire"):
                return cls(**{kind.replace("-", "_"): share})
        except ValueError:
            pass
        raise ValueError(f"{text}: neither sender-qdisc=P% nor wire=P% nor receive-buffer=BYTES")

    def begin(self, lab):
        if self.sender_qdisc:
            lab.check("A", ["sh", "-ec", _netem(lab.netif("A"), self.sender_qdisc)], timeout=PATIENCE_S)
        if self.wire:
            _drop_on_wire(lab, lab.port("A"), round(1 / self.wire))

    def end(self, lab):
        if self.sender_qdisc:
            lab.check("A", ["tc", "qdisc", "del", "dev", lab.netif("A"), "root"], timeout=PATIENCE_S)
        if self.wire:
            lab.check("wire", ["tc", "filter", "del", "dev", lab.port("A"), "ingress", "pref", PREFERENCE], timeout=PATIENCE_S)


def _netem(nic, share):
    return f"""
tc qdisc replace dev {nic} root handle 1: prio
tc qdisc add dev {nic} parent 1:3 handle 30: netem loss {100 * share}% limit 10000
tc filter add dev {nic} parent 1: protocol ip u32 match ip protocol 17 0xff match u16 0x1000 0xf000 at 2 flowid 1:3
"""


def _drop_on_wire(lab, port, every):
    """Drops packets after the referee's first look (XDP) and before its second (the other port)."""
    lab.wire(["tc", "qdisc", "add", "dev", port, "clsact"], timeout=PATIENCE_S)     # it may exist already
    lab.check("wire", ["tc", "filter", "add", "dev", port, "ingress", "pref", PREFERENCE, "bpf", "da", "obj", OBJECT,
                       "sec", "tc"], timeout=PATIENCE_S)
    shown = json.loads(lab.check("wire", ["tc", "-j", "filter", "show", "dev", port, "ingress", "pref", PREFERENCE]))
    program = next(f["options"]["prog"]["id"] for f in shown if f.get("options", {}).get("prog"))
    maps = json.loads(lab.check("wire", ["bpftool", "-j", "prog", "show", "id", program]))["map_ids"]
    if len(maps) != 1:
        raise LabError(f"{OBJECT} has {len(maps)} maps instead of one")
    value = [f"0x{byte:02x}" for byte in struct.pack("=I", every)]
    lab.check("wire", ["bpftool", "map", "update", "id", maps[0], "key", "0", "0", "0", "0", "value", *value])
