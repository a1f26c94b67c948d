# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The kinds of path that a comparison can run on."""
import os
from typing import NamedTuple, Optional

from lab import HOSTS, NATIVE, machine

# The ends of `hosts` are named as the kernel's selftests name theirs (tools/testing/selftests/drivers/net/README.rst).
NETIF, LOCAL, REMOTE, REMOTE_NETIF = "NETIF", "LOCAL", "REMOTE", "REMOTE_NETIF"


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
    """The ends of `hosts`: interfaces, and where they are (lab.machine.check())."""
    local: str
    netif: str
    remote: str
    remote_netif: str

    @property
    def told(self):
        """As the environment has them, in words of a command line."""
        return [f"{name}={value}" for name, value in zip((LOCAL, NETIF, REMOTE, REMOTE_NETIF), self) if value]


def told_ends() -> Optional[Ends]:
    """The ends that the environment names, or None. ValueError: it names them wrongly."""
    told = {name: os.environ.get(name, "") for name in (LOCAL, NETIF, REMOTE, REMOTE_NETIF)}
    if not told[NETIF] and not told[REMOTE_NETIF]:    # the others are common names
        return None
    for name in (NETIF, REMOTE, REMOTE_NETIF):
        if not told[name]:
            raise ValueError(f"{name} is missing: NETIF=eth0 REMOTE=ssh:root@host REMOTE_NETIF=eth0")
    return Ends(machine.check(told[LOCAL]), told[NETIF], machine.check(told[REMOTE]), told[REMOTE_NETIF])


def host_facts(lab):
    """What the report says of two machines (lab.hosts.Hosts)."""
    a, b = lab.facts["A"], lab.facts["B"]

    def both(key):
        """One value, or two."""
        return key(a) if key(a) == key(b) else f"{key(a)}; {key(b)}"

    return {"ends": f"{a['host']} and {b['host']}", "nic": f"{lab.netif('A')} and {lab.netif('B')}",
            "driver": f"{both(lambda end: end['netif']['driver'] or 'no bus')}; DPDK: net_af_packet, net_af_xdp",
            "kernel": both(lambda end: end["kernel"]), "cpu": both(lambda end: end["cpu"]),
            "host_cpus": min(a["cpus"], b["cpus"]),
            "link_gbps": min(filter(None, (a["netif"]["gbps"], b["netif"]["gbps"])), default=None)}
