# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which rows a comparison has, and in which order they run: pure, no lab."""
import dataclasses
import fnmatch
from typing import Optional

# The RDMA path MTU; the datagrams of the UDP transports carry the same, so that a packet is a packet everywhere.
PACKET_PAYLOAD = 4096

# Of the row in hardware, in bytes.
HARDWARE_MESSAGE = 65536

KERNEL_TRANSPORTS = ("udp", "rc", "uc", "ud")
TRANSPORTS = KERNEL_TRANSPORTS + ("dpdk-udp",)
OWN = "rocescope"
TODAY = {"udp": ("iperf3", "qperf"), "dpdk-udp": ("testpmd",),
         "rc": ("perftest", "qperf"), "uc": ("perftest", "qperf"), "ud": ("perftest", "qperf")}
RATE_CONTROL = (OWN, "iperf3", "perftest")

OPERATIONS = {
    ("udp", OWN): "udp_stream", ("dpdk-udp", OWN): "dpdk_stream",
    ("rc", OWN): "RDMA WRITE with immediate", ("uc", OWN): "RDMA WRITE with immediate", ("ud", OWN): "SEND",
    ("udp", "iperf3"): "iperf3 -u", ("udp", "qperf"): "udp_bw", ("dpdk-udp", "testpmd"): "txonly to rxonly",
    ("rc", "perftest"): "ib_write_bw", ("uc", "perftest"): "ib_write_bw", ("ud", "perftest"): "ib_send_bw",
    ("rc", "qperf"): "rc_rdma_write_bw", ("uc", "qperf"): "uc_rdma_write_bw", ("ud", "qperf"): "ud_bw",
}


@dataclasses.dataclass(frozen=True)
class Row:
    transport: str
    tool: str
    operation: str
    size: Optional[int]
    rate: Optional[str]         # None: as fast as it goes
    why: Optional[str] = None   # it cannot run, and why
    flows: int = 1
    device: Optional[str] = None    # the RNIC; in the lab there is one RDMA device only

    @property
    def own(self):
        return self.tool == OWN

    @property
    def name(self):
        """What --rows patterns are matched with."""
        return "/".join((self.transport, self.tool, str(self.size or "-"), self.rate or "full"))


def cannot(transport, tool, size, rate):
    """Why a tool people use today has no such row; None: it has."""
    if rate and tool not in RATE_CONTROL:
        return "no rate control"
    if tool == "qperf" and transport in ("uc", "ud"):
        return "it takes no GID index, which RoCEv2 needs (its RC goes by rdma_cm)"
    if size <= PACKET_PAYLOAD:
        return None
    if transport in ("udp", "ud"):
        clamps = "; it clamps to that" if (transport, tool) == ("ud", "perftest") else ""
        return f"one message is one datagram, which must fit the path MTU of {PACKET_PAYLOAD}{clamps}"
    if transport == "dpdk-udp":
        return "sends packets, knows no larger message"
    return None


def hardware_row(rnics):
    """rnics: names of this machine's RNICs."""
    why = None if rnics else "no RNIC on this machine (/sys/class/infiniband has none)"
    size = HARDWARE_MESSAGE if rnics else None
    return Row("hardware-rc", OWN, OPERATIONS["rc", OWN], size, None, why, device=rnics[0] if rnics else None)


def all_rows(sizes, rate, rnics=()):
    """In the order they run: DPDK last, because it takes the NIC from the guests' kernels."""
    rows = []
    for transport in TRANSPORTS:
        for size in sizes:
            for r in (None, rate):
                for tool in (OWN,) + TODAY[transport]:
                    why = None if tool == OWN else cannot(transport, tool, size, r)
                    rows.append(Row(transport, tool, OPERATIONS[transport, tool], size, r, why))
    return rows + [hardware_row(rnics)]


def matching(rows, patterns):
    """Rows by shell patterns, comma-separated: 'udp', 'rc/perftest', '*/*/4096/full'."""
    wanted = patterns.split(",")
    return [row for row in rows
            if any(fnmatch.fnmatchcase(row.name, p) or fnmatch.fnmatchcase(row.name, p + "/*") for p in wanted)]
