# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The counters of both guests and of the wire, read before and after a row while no packet is on its way.

No packet may be counted twice as lost. The sums of /sys/class/net/*/statistics come first: Linux has one meaning for them
(include/uapi/linux/if_link.h), each driver has names of its own for parts of them (ethtool -S). So what a driver says only
refines: it names a part of the NIC's sum, and never adds to it (Place.within). What is more than the sum is no loss of any
place; it stands in the run's loss_details.
"""
import itertools
import json
import os
import re

from compare import PATIENCE_S, join
from lab import LabError

# A full receive ring or port buffer, by the drivers' names. Several may count the same packet: the largest is taken.
FULL_RING = (
    r"rx_out_of_buffer",                # mlx5 (en_stats.c): no descriptor was there; in rx_missed_errors (en_main.c)
    r"rx_discards_phy",                 # mlx5: the port's buffer was full; in rx_dropped since Linux 6.13
    r"rx_prio\d_discards",              # mlx5: the same by priority
    r"port\.rx_(dropped|discards)",     # i40e (i40e_ethtool.c): in rx_missed_errors, of older kernels in rx_dropped
    r"rx_dropped\.nic",                 # ice (ice_ethtool.c): in rx_missed_errors (ice_main.c)
    r"rx_no_dma_resources",             # ixgbe (ixgbe_ethtool.c)
    r"rx_missed_errors",                # igb, igc, e1000e, ixgbe: that of /sys
)
# What says more about losses, and is none by itself or is in a sum of /sys in full.
DETAILS = FULL_RING + (
    r"rx_no_buffer_count",              # igb, igc, e1000e: no descriptor was free, but the packet may have waited in the NIC
    r"rx_fifo_errors",                  # any driver that repeats /sys
    r"rx_queue_\d+_drops|rx\d+_drops",  # veth, virtio_net: in rx_dropped
)
# The same of the stack. Datagrams that IP could not put together are no place: where memory is short each fragment counts, else
# each datagram, 30 s later (net/ipv4/ip_fragment.c).
STACK_DETAILS = ("softnet.time_squeeze", "softnet.flow_limit", "Ip.ReasmFails", "Ip6ReasmFails")
# Who was told to be slower: no losses.
FLOW_CONTROL = (
    r"[rt]x_(\w+_)?pause(_\w+)?",       # mlx5 (rx_prio3_pause, tx_pause_ctrl_phy), bnxt (rx_pause_frames)
    r"[rt]x_pfc_\w+",                   # bnxt
    r"(port\.)?(link|[rt]x_(flow_control|priority_\d+|pb_\d+))_p?xo(n|ff)\w*(\.nic)?",    # igb, ixgbe, i40e, ice
    r"rx\d*_ecn_mark",                  # mlx5: CE marks
    r"[nr]p_(cnp_\w+|ecn_marked_roce_packets)",     # mlx5_ib (hw_counters): DCQCN
    r"(send|rcvd)_rnr_err",             # rxe (rxe_hw_counters.c): RC, no receive was posted; A was told to wait
    r"rnr_nak_retry_err",               # mlx5_ib: the same at A
    r"InCEPkts|InECT[01]Pkts",          # IpExt of /proc/net/netstat
)

# RC that sends again, or was told to: several may count the same packet.
SENT_AGAIN = ("rxe.duplicate_request", "rxe.out_of_seq_request", "rxe.rcvd_seq_err", "rxe.completer_retry_err", "rxe.rcvd_rnr_err",
              "hw.duplicate_request", "hw.out_of_sequence", "hw.packet_seq_err", "hw.local_ack_timeout_err", "hw.rnr_nak_retry_err")

SCRIPT = "compare/counters.sh"
OF_THE_STACK = re.compile(r"[A-Z]|softnet\.")   # Ip.InDiscards, Udp6InErrors, ...: several NICs may have them in common


def parse(text, rxe="rxe0"):
    """The output of counters.sh as flat {name: n}. rxe: the device of SoftRoCE."""
    flat = {}
    for path, body in re.findall(r"^==> (.*?) <==\n(.*?)(?=^==> |\Z)", text, re.M | re.S):
        if path == "tc":
            flat.update(_qdiscs(body))
        elif path.endswith("/softnet_stat"):
            flat.update(_softnet(body))
        elif path.endswith("/snmp6"):
            flat.update((name, int(n)) for name, n in re.findall(r"^(\w+)\s+(\d+)$", body, re.M))
        elif path.endswith(("/snmp", "/netstat")):
            flat.update(_snmp(body))
        elif path.startswith("ethtool "):
            flat.update(_ethtool(path.split()[1], body))
        elif "/hw_counters/" in path:
            flat[f"{'rxe' if f'/{rxe}/' in path else 'hw'}.{os.path.basename(path)}"] = int(body)
        elif path.endswith("_uj"):
            flat[f"{os.path.basename(path)}.{os.path.basename(os.path.dirname(path))}"] = int(body)
        else:
            device, _, name = path.split("/")[-3:]
            flat[f"{device}.{name}"] = int(body)
    return flat


def _softnet(body):
    """
    Columns of softnet_seq_show() (net/core/net-procfs.c), all CPUs. flow_limit is a part of dropped (enqueue_to_backlog(),
    net/core/dev.c), which is a part of the device's rx_dropped.
    """
    cpus = [[int(word, 16) for word in line.split()] for line in body.splitlines() if line]
    return {f"softnet.{name}": sum(cpu[column] for cpu in cpus if len(cpu) > column)
            for name, column in (("dropped", 1), ("time_squeeze", 2), ("flow_limit", 10))}


def _ethtool(nic, body):
    found = re.findall(r"^ *(\S.*?) *: *(\d+)$", body, re.M)
    return {f"{nic}.ethtool.{name}": int(value) for name, value in found}


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
    """
    One reading of the counters of all ends and of the wire, made by read(lab). later - earlier is what a row did. "A" and "B"
    are all senders and all receivers.
    """

    def __init__(self, flat):
        self._flat = flat

    @classmethod
    def read(cls, lab):
        running = {end: lab.start(end, ["sh", SCRIPT, lab.rdma(end) or "-", lab.netif(end)], timeout=PATIENCE_S)
                   for end in lab.ends}
        if lab.has_wire:
            running["wire"] = lab.start("wire", ["sh", SCRIPT, "-", *map(lab.port, lab.ends)], timeout=PATIENCE_S)
        flat, stacks = {}, set()
        for where, process in running.items():
            result = process.wait()
            if result.rc:
                raise LabError(f"{where}: the counters cannot be read: {result.stderr.strip().splitlines()[-1:]}")
            flat[where] = parse(result.stdout, lab.rdma(where) if where != "wire" else None)
            if lab.stack(where) in stacks:
                flat[where] = {name: n for name, n in flat[where].items() if not OF_THE_STACK.match(name)}
            stacks.add(lab.stack(where))
        return cls(flat)

    def __sub__(self, earlier):
        """A counter that is missing in the earlier reading began at 0. Energy is not known then."""
        return Counters({where: {**{name: n - earlier._flat[where].get(name, 0) for name, n in flat.items()},
                                 **_energy(earlier._flat[where], flat)} for where, flat in self._flat.items()})

    def get(self, where, *names):
        """The sum of these counters. A missing one is 0 (a NIC that DPDK holds has none here)."""
        return sum(self._flat[end].get(name, 0) for end in self._ends(where) for name in names)

    def sent_again(self):
        """RC packets that were sent again, at least, by the RDMA devices of all ends. None: no device counts them."""
        found = [sum(self._flat[end].get(name, 0) for end in self._flat) for name in SENT_AGAIN
                 if any(name in flat for flat in self._flat.values())]
        return max(found, default=None)

    def _ends(self, where):
        return [end for end in self._flat if end.startswith(where)]

    def rxe(self, where, name):
        """None without an rxe device."""
        return join.add(self._flat[end].get(f"rxe.{name}") for end in self._ends(where))

    def joules(self, *machines):
        """Of all CPU packages of these ends ("A", "B", "wire"). None: one of them cannot tell."""
        return join.add(self._flat[where].get("joules") for where in machines)

    def places(self, nics, **ports):
        """
        {PLACE: n} of join.PLACES for packets from A to B. nics: of each end; ports: lists of the sender_port and receiver_port.
        """
        each = [self._places_of(end, nics.get(end), ports) for end in (*nics, "wire")]
        return {name: sum(places.get(name, 0) for places in each) for name, place in join.PLACES.items() if place.counters}

    def _places_of(self, end, nic, ports):
        """Those whose counters this end has."""
        found = {name: self.get(end, *named(place.counters, nic=[nic], **ports))
                 for name, place in join.PLACES.items() if place.counters and end.startswith(place.where)}
        if "receiver_ring" in found:
            rings = (sum(self._own(end, nic, [name]).values()) for name in FULL_RING)
            found["receiver_ring"] = max([found["receiver_ring"], *rings])
        # softnet before the ring, whose figures are less sure
        for name, whole in reversed([(name, place.within) for name, place in join.PLACES.items() if place.within in found]):
            found[name] = min(found[name], found[whole])
            found[whole] -= found[name]
        return found

    def flow_control(self, nics):
        """{"A", "B"}: {name: n}, by how much each counter of pauses and ECN grew at a side, by the driver's names."""
        return self._sides({end: self._own(end, nic, FLOW_CONTROL) for end, nic in nics.items()})

    def loss_details(self, nics):
        """{"A", "B"}: {name: n}, what grew and says more about losses."""
        return self._sides({end: {**self._own(end, nic, DETAILS), **{name: n for name in STACK_DETAILS if (n := self.get(end, name))}}
                            for end, nic in nics.items()})

    @staticmethod
    def _sides(each):
        """Sums of the ends' {name: n} for both sides."""
        sides = {side: [counted for end, counted in each.items() if end.startswith(side)] for side in ("A", "B")}
        return {side: {name: sum(counted.get(name, 0) for counted in found) for counted in found for name in counted}
                for side, found in sides.items()}

    def _own(self, end, nic, patterns):
        """{name: n} of the NIC's ethtool -S, of its RDMA device and of IP, where a pattern fits and n is not 0."""
        wanted = re.compile(rf"(?:{re.escape(nic)}\.ethtool|hw|rxe|IpExt)\.({'|'.join(patterns)})")
        matches = ((wanted.fullmatch(name), n) for name, n in self._flat[end].items() if n)
        return dict(sorted((match[1], n) for match, n in matches if match))


def named(counters, **devices):
    """The names of a Place's counters, for all devices of the kind that a name has. Pure."""
    kinds = [[[(kind, device) for device in each] for kind, each in devices.items() if f"{{{kind}}}" in counter]
             for counter in counters]
    return [counter.format(**dict(chosen)) for counter, each in zip(counters, kinds) for chosen in itertools.product(*each)]


def _energy(before, after):
    """{"joules": x} between two flat readings, {} unless they have the same packages. A counter wraps around at its range."""
    packages = [{name for name in flat if name.startswith("energy_uj.")} for flat in (before, after)]
    if not packages[0] or packages[0] != packages[1]:
        return {}
    grown = 0
    for name in packages[0]:
        n = after[name] - before[name]
        grown += n if n >= 0 else n + after[name.replace("energy_uj.", "max_energy_range_uj.")]
    return {"joules": grown / 1e6}
