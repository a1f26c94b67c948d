# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The counters of both guests and of the wire, read before and after a row while no packet is on its way."""
import json
import os
import re

from compare import PATIENCE_S, join
from lab import LabError

SCRIPT = "compare/counters.sh"


def parse(text):
    """The output of counters.sh as flat {name: n}."""
    flat = {}
    for path, body in re.findall(r"^==> (.*?) <==\n(.*?)(?=^==> |\Z)", text, re.M | re.S):
        if path == "tc":
            flat.update(_qdiscs(body))
        elif path.endswith("/softnet_stat"):
            flat["softnet.dropped"] = sum(int(line.split()[1], 16) for line in body.splitlines() if line)
        elif path.endswith("/snmp"):
            flat.update(_snmp(body))
        elif "/hw_counters/" in path:
            flat[f"rxe.{os.path.basename(path)}"] = int(body)
        else:
            device, _, name = path.split("/")[-3:]
            flat[f"{device}.{name}"] = int(body)
    return flat


def _snmp(body):
    """Pairs of lines: names, then values."""
    flat, lines = {}, body.splitlines()
    for names, values in zip(lines[::2], lines[1::2]):
        protocol, names = names.split(":")
        for name, value in zip(names.split(), values.split(":")[1].split()):
            flat[f"{protocol}.{name}"] = int(value)
    return flat


def _qdiscs(body):
    """Drops of a device's root qdisc, which include those of its children, and of clsact (filters on ingress)."""
    flat = {}
    for qdisc in json.loads(body or "[]"):
        if qdisc.get("root"):
            flat[f"{qdisc['dev']}.qdisc"] = qdisc["drops"]
        elif qdisc["kind"] == "clsact":
            flat[f"{qdisc['dev']}.clsact"] = qdisc["drops"]
    return flat


class Counters:
    """One reading of the counters of A, B and the wire, made by read(lab). later - earlier is what a row did."""

    def __init__(self, flat):
        self._flat = flat

    @classmethod
    def read(cls, lab):
        running = {end: lab.start(end, ["sh", SCRIPT, lab.rdma(end) or "-", lab.netif(end)], timeout=PATIENCE_S) for end in ("A", "B")}
        if lab.has_wire:
            running["wire"] = lab.start("wire", ["sh", SCRIPT, "-", lab.port("A"), lab.port("B")], timeout=PATIENCE_S)
        flat = {}
        for where, process in running.items():
            result = process.wait()
            if result.rc:
                raise LabError(f"{where}: the counters cannot be read: {result.stderr.strip().splitlines()[-1:]}")
            flat[where] = parse(result.stdout)
        return cls(flat)

    def __sub__(self, earlier):
        """A counter that is missing in the earlier reading began at 0."""
        return Counters({where: {name: n - earlier._flat[where].get(name, 0) for name, n in flat.items()}
                         for where, flat in self._flat.items()})

    def get(self, where, *names):
        """The sum of these counters. A missing one is 0 (a NIC that DPDK holds has none here)."""
        return sum(self._flat.get(where, {}).get(name, 0) for name in names)

    def rxe(self, where, name):
        """None without an rxe device."""
        return self._flat[where].get(f"rxe.{name}")

    def places(self, nics, **ports):
        """{PLACE: n} of join.PLACES for packets from A to B. nics: {"A", "B"}; ports: the names of sender_port and receiver_port."""
        return {name: self.get(place.where, *(counter.format(nic=nics.get(place.where), **ports) for counter in place.counters))
                for name, place in join.PLACES.items() if place.counters}
