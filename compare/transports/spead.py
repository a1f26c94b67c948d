# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
SPEAD by the library spead2, over UDP and TCP. Messages are heaps: of one that lacks a packet the application gets nothing.
compare/spead_stream.py runs on both ends.
"""
import functools
import json
import signal

from compare import PATIENCE_S
from compare.programs import TheirProgram, ended_well, last_line, metered, said, start_metered
from compare.transport import Outcome, RunFailed, RunSpoilt, Transport, bits_per_second
from compare.transports.tcp import TIME_STAMPS, Tcp

DRIVER = ("/usr/bin/python3", "-E", "compare/spead_stream.py")
HEADERS = 48        # bytes of SPEAD in a packet
LEAST_HEAP = 16384
# What spead2 knows of heaps that are lost, and of a receiver that is too slow (its doc/recv-stats.rst).
DETAILS = ("incomplete_heaps_evicted", "incomplete_heaps_flushed", "worker_blocked")


@functools.cache
def no_spead2(path):
    """Why an end has no spead2. None: both have."""
    for end, words in (("A", "sender"), ("B", "receiver")):
        tried = path.exec(end, [*DRIVER, "--help"], timeout=PATIENCE_S)
        if tried.rc:
            return f"{words}: {last_line(tried.stderr)}"
    return None


class Spead2(TheirProgram):
    name = "spead2"
    several_flows = False

    def __init__(self, protocol):
        self.operation = f"spead2, {protocol}"
        self._tcp = protocol == "TCP"

    def cannot(self, load):
        small = load.size < LEAST_HEAP and f"spead2 advises against heaps of less than {LEAST_HEAP // 1024} KiB"
        return small or super().cannot(load)

    def refusal(self, row, path):
        return no_spead2(path)

    def commands(self, row, path, seconds, injection):
        """(receiver's, sender's) command lines."""
        both = ["--tcp" if self._tcp else "--udp", path.address("B", row.ip), row.port, row.size]
        buffer = ["--rcvbuf", injection.receive_buffer] if injection.receive_buffer else []
        pace = ["--rate", bits_per_second(row.pace)] if row.pace else []
        cut = ["--payload", row.packet_payload, "--mss", row.path_mtu + TIME_STAMPS]
        return [*DRIVER, "recv", *both, *buffer], [*DRIVER, "send", *both, *cut, "--duration", seconds, *pace]

    def run(self, row, path, seconds, injection):
        receive, send = self.commands(row, path, self.seconds(seconds), injection)
        limit = seconds + PATIENCE_S
        receiver = start_metered(path, "B", receive, limit + PATIENCE_S)
        running = [receiver]
        try:
            if not receiver.expect("ready", PATIENCE_S):
                raise RunFailed(f"the receiver did not start: {said(receiver)}")
            sender = start_metered(path, "A", send, limit)
            running.append(sender)
            ended_well("sender", sender.wait(), said(sender))
            receiver.kill(signal.SIGTERM)   # it waits for what is on its way
            ended_well("receiver", receiver.wait(), said(receiver))
        finally:
            for process in running:
                process.kill()
        return self.outcome(row, sender.stdout, receiver.stdout, metered(sender.stderr, receiver.stderr))

    def outcome(self, row, sender, receiver, cores):
        """
        The Outcome of what both wrote. Pure. Goodput is that of whole heaps, which are all that an application gets, in the
        time for which the sender sent: the 'effective' speed of Memo 046 (docs/experiments/memo046.md).
        """
        try:
            sent, got = json.loads(sender), json.loads(receiver)
            whole = got["complete_heaps"]
            return Outcome(goodput_gbps=whole * row.size * 8 / sent["seconds"] / 1e9, goodput_at="receiver",
                           sent=None if self._tcp else sent["heaps"] * (row.size // row.packet_payload),
                           received=None if self._tcp else got["packets"],
                           messages={"sent": sent["heaps"], "received": whole, "lost": sent["heaps"] - whole},
                           retransmitted=sent["retransmitted"], operation=f"spead2 {sent['spead2']}",
                           loss_details={"A": {}, "B": {name: got[name] for name in DETAILS if got[name]}}, **cores)
        except (ValueError, KeyError) as error:
            raise RunSpoilt(f"spead2: its report cannot be read ({error!r})") from None


class SpeadUdp(Transport):
    name, words, order = "spead-udp", "SPEAD UDP", 16
    tools = (Spead2("UDP"),)

    def count(self, row, outcome, did, seen):
        size = row.packet_payload + HEADERS
        return {"on_wire": seen["A"].udp_packets(size, outcome.other_datagram),
                "left_wire": seen["B"].udp_packets(size, outcome.other_datagram)}


class SpeadTcp(Tcp):
    name, words, order = "spead-tcp", "SPEAD TCP", 17
    tools = (Spead2("TCP"),)
