# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
RoCE without an RDMA device, at the speed of this machine: `rocescope send` makes the packets, and `rocescope monitor` takes
them by XDP, verifies every ICRC, and drops them. No memory is written: it is what a receiver by XDP has to do at least.
"""
import json
import signal
import time

from compare import PATIENCE_S
from compare.join import Place
from compare.programs import TheirProgram, ended_well, last_line, metered, said, start_metered
from compare.transport import CannotRun, Outcome, RunFailed, Transport, bits_per_second

COMMAND = "build/rocescope"
DRAIN_S = 0.3       # packets in the receiver's ring still arrive
HEADERS, RETH = 14 + 12 + 4, 16    # bytes: Ethernet, BTH, ICRC beside IP and UDP; and the RETH of a message's first packet


class SendAndMonitor(TheirProgram):
    name, program, operation = "rocescope", "rocescope", "send to monitor"
    answers = False
    drops = {}
    places = {"send_refused": Place("before_wire", "sender's device"),
              "bad_icrc": Place("at_receiver", "wrong ICRC")}

    def measure(self, row, path, seconds):
        limit = seconds + PATIENCE_S
        receiver = start_metered(path, "B", self._receiver(path), limit)
        try:
            if not receiver.expect("watching", PATIENCE_S):
                # on a machine as it is another program may have the hook, or its kernel is too old
                raise (RunFailed if path.has_wire else CannotRun)(f"monitor: {said(receiver)}")
            sender = start_metered(path, "A", self._sender(row, path, seconds), limit)
            ended_well("send", sender.wait(), said(sender))
            time.sleep(DRAIN_S)
            receiver.kill(signal.SIGTERM)
            ended_well("monitor", receiver.wait(), said(receiver))
        finally:
            receiver.kill()
        return self.outcome(sender.stdout, receiver.stdout, metered(sender.stderr, receiver.stderr))

    def _receiver(self, path):
        """--drop takes every frame of the port: a host may have other work, and ssh, on it."""
        return [COMMAND, "monitor", path.netif("B"), *(["--drop"] if path.has_wire else []), "-j", "--interval", "3600"]

    def _sender(self, row, path, seconds):
        return [COMMAND, "send", path.netif("A"), "--dst", path.address("B", row.ip), "--dst-mac", path.mac("B"),
                "--op", "uc-write", "--message", row.size, "--mtu", row.path_mtu, "--duration", seconds, "--qps", row.flows,
                *(["--rate", frame_rate(row)] if row.pace else []), "-j"]

    def outcome(self, sender, receiver, cores):
        """The Outcome of what both wrote. Pure."""
        try:
            sent, totals = json.loads(sender), json.loads(receiver.splitlines()[-1])["totals"]
        except (ValueError, KeyError, IndexError):
            raise RunFailed(f"send and monitor: {last_line(receiver, sender)}") from None
        refused = sent["refused"] + sent["device_drops"]
        received = totals["roce_packets"] - totals["icrc_bad"]
        return Outcome(goodput_gbps=totals["payload_bytes"] * 8 / sent["seconds"] / 1e9, goodput_at="receiver",
                       sent=sent["packets"], received=received,
                       messages={"sent": None, "received": totals["messages"], "lost": None},
                       places={"send_refused": refused, "bad_icrc": totals["icrc_bad"]}, **cores)


def frame_rate(row):
    """send counts the bits of frames, the other programs those of the payload."""
    frames = row.size + RETH + (HEADERS + row.udp_headers) * -(-row.size // row.path_mtu)
    return f"{bits_per_second(row.pace) * frames / row.size / 1e3:.0f}Kbit"


class RoceUc(Transport):
    name, words, order = "roce-uc", "RoCE UC", 25
    only, seen_on_nic, through_qdisc = ("local", "hosts"), False, False
    tools = (SendAndMonitor(),)

    def count(self, row, outcome, did, seen):
        return {"on_wire": seen["A"].roce_packets("A", "request"), "left_wire": seen["B"].roce_packets("A", "request")}
