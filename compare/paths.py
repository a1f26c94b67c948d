# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The kinds of path that a comparison can run on."""
import os
from typing import NamedTuple, Optional

from lab import HOSTS, NATIVE, machine
from lab.hosts import Place
from lab.inventory import DPDK_DRIVERS

# The ends of `hosts` are named as the kernel's selftests name theirs (tools/testing/selftests/drivers/net/README.rst).
NETIF, LOCAL, REMOTE, REMOTE_NETIF = "NETIF", "LOCAL", "REMOTE", "REMOTE_NETIF"
DPDK_DRIVER = "DPDK_DRIVER"
MOST_PAIRS = 16


class Path(NamedTuple):
    words: str          # begins a sentence of the verdict
    acceleration: str   # of its lab.Lab
    facts: dict         # for people, in the report


PATHS = {
    "local": Path("On this machine", NATIVE, {
        "ends": "two network namespaces of this machine", "nic": "veth", "driver": "veth; DPDK: net_af_packet, net_af_xdp",
        "wire": "veth, bridge, veth", "offloads": "checksum and segmentation off"}),
    "lab": Path("In the lab", "auto", {
        "ends": "two guests on this machine", "nic": "virtio-net", "driver": "virtio_net; DPDK: net_virtio",
        "wire": "tap, bridge, tap", "offloads": "checksum and segmentation off"}),
    "hosts": Path("Between the hosts", HOSTS, {
        "wire": "what is between the NICs: the referee stands on them, the wire's losses are differences of counters",
        "offloads": "as they were"}),
}


class Ends(NamedTuple):
    """The ends of `hosts`: senders or receivers may be several. dpdk_driver: that its NICs are bound to for DPDK, or None."""
    senders: list
    receivers: list
    dpdk_driver: Optional[str]

    @property
    def told(self):
        """As the environment has them, in words of a command line."""
        names = (LOCAL, NETIF, REMOTE, REMOTE_NETIF, DPDK_DRIVER)
        return [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]


def told_ends() -> Optional[Ends]:
    """The ends that the environment names, or None. ValueError: it names them wrongly."""
    told = {name: os.environ.get(name, "") for name in (LOCAL, NETIF, REMOTE, REMOTE_NETIF)}
    if not told[NETIF] and not told[REMOTE_NETIF]:    # the others are common names
        return None
    for name in (NETIF, REMOTE_NETIF):
        if not told[name]:
            raise ValueError(f"{name} is missing: NETIF=eth0 REMOTE=ssh:root@host REMOTE_NETIF=eth0")
    senders, receivers = _places(told, LOCAL, NETIF), _places(told, REMOTE, REMOTE_NETIF)
    if min(len(senders), len(receivers)) > 1:
        raise ValueError("several senders or several receivers, not both")
    if len(set(senders + receivers)) < len(senders + receivers):
        raise ValueError("the same interface twice (REMOTE=ssh:root@host names another machine)")
    driver = os.environ.get(DPDK_DRIVER) or None
    if driver and driver not in DPDK_DRIVERS:
        raise ValueError(f"{DPDK_DRIVER}={driver}: neither {' nor '.join(DPDK_DRIVERS)}")
    return Ends(senders, receivers, driver)


def _places(told, where, netif):
    """Two lists with commas. One value of a list is enough if all are equal."""
    lists = [told[name].split(",") for name in (where, netif)]
    count = max(map(len, lists))
    if {len(each) for each in lists} - {1, count}:
        raise ValueError(f"{where} has {len(lists[0])} names and {netif} {len(lists[1])}")
    if count > MOST_PAIRS:
        raise ValueError(f"{where}: at most {MOST_PAIRS}")
    return [Place(machine.check(at), name) for at, name in zip(*(each * (count // len(each)) for each in lists))]


def lab_facts(lab):
    """What the report says of several ends of a lab, in place of a Path's facts."""
    if len(lab.pairs) < 2:
        return {}
    senders, receivers = ([end for end in lab.ends if end.startswith(side)] for side in "AB")
    ends = f"{('three', 'four')[len(lab.ends) - 3]} {'network namespaces of' if lab.native else 'guests on'} this machine"
    return {"ends": f"{ends}, {' and '.join(senders)} to {' and '.join(receivers)}", "pairs": named_pairs(lab)}


def named_pairs(lab):
    return [f"{lab.named(pair.end['A'])} to {lab.named(pair.end['B'])}" for pair in lab.pairs]


def host_facts(lab):
    """What the report says of the machines of a lab.hosts.Hosts."""
    facts = [lab.facts[end] for end in lab.ends]

    def all_of(key):
        """One value, or several."""
        return "; ".join(dict.fromkeys(key(each) for each in facts))

    def sides(key):
        """'a and b', or 'a and b, c'"""
        return " and ".join(", ".join(dict.fromkeys(key(end) for end in lab.ends if end.startswith(side))) for side in "AB")

    return {"ends": sides(lambda end: lab.facts[end]["host"]), "nic": sides(lab.netif),
            "driver": f"{all_of(lambda each: each['netif']['driver'] or 'no bus')}; "
                      f"DPDK: {lab.dpdk_driver or 'net_af_packet'}, net_af_xdp",
            "kernel": all_of(lambda each: each["kernel"]), "cpu": all_of(lambda each: each["cpu"]),
            "host_cpus": min(each["cpus"] for each in facts),
            "link_gbps": min((each["netif"]["gbps"] for each in facts if each["netif"]["gbps"]), default=None),
            "pairs": named_pairs(lab), "nics": {end: nic_facts(lab, end) for end in lab.ends}}


def nic_facts(lab, end):
    """Where its NIC is in its machine, and what was chosen by that."""
    netif, pci = lab.facts[end]["netif"], lab.facts[end]["pci"] or {}
    return {"numa_node": netif["numa_node"], "cpus": lab.pinned_to(end), "queues": netif["queues"], "pcie": pci.get("pcie")}
