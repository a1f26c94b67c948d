# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
UDP by AF_XDP sockets, past the kernel's IP and UDP: by our program, and by DPDK on top of such sockets (net_af_xdp). The NIC
stays the kernel's: bpf/redirect.bpf.c takes the row's packets only. It needs the receiver's XDP hook, so no referee is there.
"""
import dataclasses
import shlex

from compare import PATIENCE_S
from compare.join import Place
from compare.programs import StreamProgram, last_line
from compare.transport import Transport
from compare.transports.dpdk_udp import DpdkStream, Testpmd

# A driver may count as its own what the socket behind it had no room for (veth_xdp_rcv_skb()).
RING = Place("at_receiver", "AF_XDP ring", within="receiver_nic")


class XdpStream(StreamProgram):
    program = operation = "xdp_stream"
    ipv6 = answers = through_qdisc = False
    several_pairs = False   # a NIC's XDP hook and queues are one program's
    drops = {"tx_refused": "xdp_refused", "tx_abandoned": "xdp_refused", "tx_invalid_descs": "xdp_refused",
             "rx_dropped": "xdp_ring", "rx_ring_full": "xdp_ring", "rx_invalid_descs": "xdp_ring"}
    # the device counts what it refuses
    places = {"xdp_refused": Place("before_wire", "AF_XDP transmit", within="sender_nic"), "xdp_ring": RING}

    def receiver_options(self, row, path, injection):
        return self._common(row, path, "B")

    def sender_options(self, row, path):
        return [*self._common(row, path, "A"), "--src", path.address("A"), "--dst", path.address("B"),
                "--dst-mac", path.mac("B")]

    def outcome(self, sent, received):
        ends = [end for end, report in (("sender", sent), ("receiver", received)) if report["zero_copy"]]
        how = ("the kernel copies", f"zero-copy at the {''.join(ends)}", "zero-copy")[len(ends)]
        return dataclasses.replace(super().outcome(sent, received), operation=f"{self.program}, {how}")

    def _common(self, row, path, end):
        return ["--interface", path.netif(end), "--mtu", row.path_mtu + row.udp_headers]

    def refusal(self, row, path):
        """The kernel may have no AF_XDP, or none for frames of this size."""
        for end, role in (("A", "send"), ("B", "recv")):
            options = map(str, self._common(row, path, end))
            tried = path.exec(end, ["build/xdp_stream", role, "--check", *options], timeout=PATIENCE_S)
            if tried.rc:
                smaller = " (--path-mtu 2048)" if "--mtu" in tried.stderr else ""
                return f"{last_line(tried.stderr)}{smaller}"
        return None


class AfXdp(Transport):
    name, words, order = "af-xdp", "AF_XDP", 18
    about = "a socket for whole frames, which pass by the kernel's IP and UDP; the NIC stays the kernel's."
    seen_on_nic = False
    tools = (XdpStream(),)


class OverXdp:
    """Common to DPDK's programs over AF_XDP. An mbuf is a chunk: a page at most."""
    PATH_MTU = 2048     # the largest that fits, with all heads
    several_pairs = False   # as of XdpStream
    answers = False         # they would go to another port, which the XDP program leaves to the kernel

    def cannot(self, load):
        large = f"DPDK's net_af_xdp has frames of a page at most: --path-mtu {self.PATH_MTU}"
        return super().cannot(load) or (large if load.path_mtu > self.PATH_MTU else None)

    def refusal(self, row, path):
        """They have one queue."""
        for end in ("A", "B"):
            netif = path.netif(end)
            listed = path.exec(end, ["sh", "-c", f"ls -d /sys/class/net/{shlex.quote(netif)}/queues/rx-* | wc -l"], timeout=PATIENCE_S)
            queues = listed.stdout.strip()
            if queues != "1":
                return f"DPDK reads one queue, and {netif} has {queues}: ethtool -L {shlex.quote(netif)} combined 1"
        return None

    def run(self, row, path, seconds, injection):
        try:
            return super().run(row, path, seconds, injection)
        finally:
            for end in ("A", "B"):      # one that was killed leaves its program on the NIC
                path.xdp_off(end)

    def eal(self, path, end, lcores):
        return path.eal(end, lcores, af_xdp=True)


class DpdkXdpStream(OverXdp, DpdkStream):
    drops = {**DpdkStream.drops, "imissed": "xdp_ring", "rx_ring_full": "xdp_ring"}
    places = {**DpdkStream.places, "xdp_ring": RING}

    def receiver_options(self, row, path, injection):
        return ["--mtu", row.path_mtu + row.udp_headers, "--", *self.eal(path, "B", 1)]


class XdpTestpmd(OverXdp, Testpmd):
    MBUF = 3840     # bytes, as in dpdk_udp/port.c
    places = {**Testpmd.places, "xdp_ring": RING}


class DpdkXdp(Transport):
    name, words, order = "dpdk-xdp", "DPDK AF_XDP", 21
    about = "DPDK on AF_XDP sockets: whole frames, and the NIC stays the kernel's."
    only = ("local", "hosts")
    seen_on_nic = False
    tools = (DpdkXdpStream(), XdpTestpmd())
