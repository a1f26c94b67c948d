# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The counters of both guests and of the wire, read before and after a row while nothing is under way."""
import json
import os
import re

from lab import LabError

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counters.sh")


def parse(text):
    """What counters.sh printed, as flat {name: n}."""
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
    """Drops of a device's root qdisc, which has those of its children in it, and of clsact (filters on ingress)."""
    flat = {}
    for qdisc in json.loads(body or "[]"):
        if qdisc.get("root"):
            flat[f"{qdisc['dev']}.qdisc"] = qdisc["drops"]
        elif qdisc["kind"] == "clsact":
            flat[f"{qdisc['dev']}.clsact"] = qdisc["drops"]
    return flat


class Counters:
    """One reading of A, B and the wire; read(lab) makes one, and later - earlier is what a row did."""

    def __init__(self, flat):
        self._flat = flat

    @classmethod
    def read(cls, lab):
        wheres = {"A": [lab.nic], "B": [lab.nic], "wire": [lab.port("A"), lab.port("B")]}
        running = {where: lab.start(where, ["sh", SCRIPT, *devices], timeout=20) for where, devices in wheres.items()}
        flat = {}
        for where, process in running.items():
            result = process.wait()
            if result.rc:
                raise LabError(f"{where}: the counters cannot be read: {result.stderr.strip().splitlines()[-1:]}")
            flat[where] = parse(result.stdout)
        return cls(flat)

    def __sub__(self, earlier):
        """A counter that was not there before began at 0."""
        return Counters({where: {name: n - earlier._flat[where].get(name, 0) for name, n in flat.items()}
                         for where, flat in self._flat.items()})

    def get(self, where, *names):
        """The sum of those; 0 where there is none (a NIC that DPDK holds has no counters here)."""
        return sum(self._flat[where].get(name, 0) for name in names)

    def rxe(self, where, name):
        """None without an rxe device."""
        return self._flat[where].get(f"rxe.{name}")

    def places(self, nic, sender_port, receiver_port):
        """{PLACE: n} of join.PLACES, for packets that go from A to B."""
        return {
            "sender_qdisc": self.get("A", f"{nic}.qdisc"),
            "sender_nic": self.get("A", f"{nic}.tx_dropped", f"{nic}.tx_errors"),
            "sender_port": self.get("wire", f"{sender_port}.rx_dropped", f"{sender_port}.rx_errors"),
            "wire_filter": self.get("wire", f"{sender_port}.clsact"),
            "receiver_port": self.get("wire", f"{receiver_port}.tx_dropped", f"{receiver_port}.tx_errors",
                                      f"{receiver_port}.qdisc"),
            "receiver_nic": self.get("B", f"{nic}.rx_dropped", f"{nic}.rx_errors", f"{nic}.rx_missed_errors"),
            "softnet": self.get("B", "softnet.dropped"),
            "ip": self.get("B", "Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors"),
            "udp_checksum": self.get("B", "Udp.InCsumErrors"),
            "receive_buffer": self.get("B", "Udp.RcvbufErrors", "Udp.MemErrors"),
            "no_listener": self.get("B", "Udp.NoPorts"),
        }
