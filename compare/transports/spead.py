# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
SPEAD by the library spead2, over UDP and TCP. Messages are heaps: of one that lacks a packet the application gets nothing.
compare/spead_stream.py runs on both ends.
"""
import dataclasses
import functools
import json
import signal

from compare import PATIENCE_S
from compare.programs import TheirProgram, ended_well, last_line, machines_of, metered, said, start_metered
from compare.transport import ANY_PATH_MTU, Outcome, RunFailed, RunSpoilt, Transport, bits_per_second, together
from compare.transports.tcp import TIME_STAMPS, Tcp

MOST_MSS = 32767        # of TCP_MAXSEG (MAX_TCP_WINDOW, net/tcp.h)
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
    several_pairs = True
    packets = ANY_PATH_MTU
    words = ""      # of its operation, after spead2's version

    def __init__(self, protocol):
        self.operation = f"spead2, {protocol}"
        self._tcp = protocol == "TCP"

    def cannot(self, load):
        small = load.size < LEAST_HEAP and f"spead2 advises against heaps of less than {LEAST_HEAP // 1024} KiB"
        return small or super().cannot(load)

    def refusal(self, row, path):
        return no_spead2(path) or (None if path.end["B"] == "B" else "one receiver only: a stream of spead2 is not split")

    def receiver(self, row, paths, injection):
        """Its command line. The stream has a reader for each sender."""
        buffer = ["--rcvbuf", injection.receive_buffer] if injection.receive_buffer else []
        several = ["--readers", len(paths)] if len(paths) > 1 else []
        return [*DRIVER, "recv", *self._both(row, paths[0]), *buffer, *several]

    def senders(self, row, paths, seconds):
        """Their command lines. Heaps of one stream have different numbers, whoever sent them."""
        mss = row.path_mtu + TIME_STAMPS
        pace = ["--rate", bits_per_second(row.pace)] if row.pace else []
        common = [*(["--mss", mss] if mss <= MOST_MSS else []), "--duration", seconds, *pace]
        rows = [dataclasses.replace(row, port=row.port + number) for number in range(len(paths))]
        return [[*DRIVER, "send", *self._both(each, path), *common,
                 *(["--first", number, "--step", len(paths), "--wait"] if len(paths) > 1 else [])]
                for number, (each, path) in enumerate(zip(rows, paths))]

    def _both(self, row, path):
        return ["--tcp" if self._tcp else "--udp", path.address("B", row.ip), row.port, row.size, "--payload", row.packet_payload]

    def run(self, row, path, seconds, injection):
        return self.run_pairs(row, [path], seconds, injection)

    def run_pairs(self, row, paths, seconds, injection):
        limit, command, running = seconds + PATIENCE_S, self.receiver(row, paths, injection), []
        try:
            receivers = [start_metered(paths[0], "B", command, limit + 2 * PATIENCE_S)] if command else []
            running += receivers
            await_all("the receiver did not start", receivers, "ready")
            senders = [start_metered(path, "A", each, limit + PATIENCE_S)
                       for path, each in zip(paths, self.senders(row, paths, self.seconds(seconds)))]
            running += senders
            if len(senders) > 1:
                for word in ("ready", "sent"):
                    await_all(f"a sender is not {word}", senders, word, limit)
                    for sender in senders:
                        sender.kill(signal.SIGTERM)
            for sender in senders:
                ended_well("sender", sender.wait(), said(sender))
            for receiver in receivers:
                receiver.kill(signal.SIGTERM)   # it waits for what is on its way
                ended_well("receiver", receiver.wait(), said(receiver))
        finally:
            for process in running:
                process.kill()
        cores = [metered(sender.stderr, receivers[0].stderr if receivers else "") for sender in senders]
        got = receivers[0].stdout if receivers else "{}"
        outcomes = [self.outcome(row, sender.stdout, got, each) for sender, each in zip(senders, cores)]
        return outcomes[0] if len(paths) == 1 else self.all_of(row, outcomes, [sender.stdout for sender in senders], paths)

    def outcome(self, row, sender, receiver, cores):
        """
        The Outcome of what both wrote. Pure. Goodput is that of whole heaps, which are all that an application gets, in the
        time for which the sender sent: the 'effective' speed of Memo 046.
        """
        try:
            sent, got = json.loads(sender), json.loads(receiver)
            return Outcome(**self._received(row, sent, got), goodput_at="receiver", sent_s=sent["seconds"],
                           sent=None if self._tcp else sent["heaps"] * (row.size // row.packet_payload),
                           retransmitted=sent["retransmitted"], operation=f"spead2 {sent['spead2']}{self.words}", **cores)
        except (ValueError, KeyError) as error:
            raise RunSpoilt(f"spead2: its report cannot be read ({error!r})") from None

    def _received(self, row, sent, got):
        whole = got["complete_heaps"]
        return {"goodput_gbps": whole * row.size * 8 / sent["seconds"] / 1e9, "received": None if self._tcp else got["packets"],
                "messages": {"sent": sent["heaps"], "received": whole, "lost": sent["heaps"] - whole},
                "loss_details": {"A": {}, "B": {name: got[name] for name in DETAILS if got[name]}}}

    def all_of(self, row, outcomes, senders, paths):
        """One Outcome of several senders into one stream: all that came whole, in the time until all of them finished. Pure."""
        reports = [json.loads(each) for each in senders]
        seconds = max(each["began"] + each["seconds"] for each in reports) - min(each["began"] for each in reports)
        found = together(outcomes, machines_of(paths), "receiver")
        whole = found.messages["received"]
        return dataclasses.replace(found, sent_s=seconds, goodput_gbps=whole * row.size * 8 / seconds / 1e9,
                                   loss_details=outcomes[0].loss_details)


class Light(Spead2):
    """
    What a sender of spead2 is able to, as Memo 046 has it: over UDP nobody listens, over TCP a receiver reads bytes and makes no
    heaps of them. Its speed is the sender's, so it has no goodput.
    """
    name = "spead2-light"
    several_pairs = judged = False
    on_request = True

    def __init__(self, protocol):
        super().__init__(protocol)
        self.words = " to a receiver that makes no heaps" if self._tcp else " to nobody"

    def receiver(self, row, paths, injection):
        return [*super().receiver(row, paths, injection), "--sink"] if self._tcp else None

    def _received(self, row, sent, got):
        return {"goodput_gbps": None, "messages": {"sent": sent["heaps"], "received": None, "lost": None}}


def await_all(why, processes, word, patience=PATIENCE_S):
    """Until each has said it. RunFailed: one ended before, or was silent for too long."""
    for process in processes:
        if not process.expect(word, patience):
            raise RunFailed(f"{why}: {said(process)}")


class SpeadUdp(Transport):
    name, words, order = "spead-udp", "SPEAD UDP", 16
    tools = (Spead2("UDP"), Light("UDP"))

    def count(self, row, outcome, did, seen):
        size = row.packet_payload + HEADERS
        return {"on_wire": seen["A"].udp_packets(size, outcome.other_datagram),
                "left_wire": seen["B"].udp_packets(size, outcome.other_datagram)}


class SpeadTcp(Tcp):
    name, words, order = "spead-tcp", "SPEAD TCP", 17
    tools = (Spead2("TCP"), Light("TCP"))
