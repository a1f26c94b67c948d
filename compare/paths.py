# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The kinds of path that a comparison can run on."""
from typing import NamedTuple

from lab import NATIVE


class Path(NamedTuple):
    words: str          # begins a sentence of the verdict
    acceleration: str   # of its lab.Lab
    facts: dict         # for people, in the report


PATHS = {
    "local": Path("On this machine", NATIVE, {
        "ends": "two network namespaces of this machine", "nic": "veth", "driver": "veth; DPDK: net_af_packet",
        "wire": "veth, bridge, veth"}),
    "lab": Path("In the lab", "auto", {
        "ends": "two guests on this machine", "nic": "virtio-net", "driver": "virtio_net; DPDK: net_virtio",
        "wire": "tap, bridge, tap"}),
}
