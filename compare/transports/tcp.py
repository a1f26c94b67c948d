# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
TCP by the kernel's sockets. What is lost on the way TCP sends again: only these segments are counted, by the sender's TCP_INFO.
"""
import dataclasses
import json

from compare.programs import Qperf, QperfLatency, StreamProgram
from compare.transport import UDP_PORT, Outcome, RunSpoilt, Transport
from compare.transports.udp import Iperf3, iperf3_rates

TIME_STAMPS = 12    # bytes of the option that the kernel puts into each segment; TCP_MAXSEG includes it


class TcpStream(StreamProgram):
    program = operation = "tcp_stream"
    counts_packets = False

    def receiver_options(self, row, path, injection):
        return []

    def sender_options(self, row, path):
        return ["--dst", path.address("B", row.ip), "--mss", row.path_mtu + TIME_STAMPS]

    def outcome(self, sent, received):
        return dataclasses.replace(super().outcome(sent, received), retransmitted=sent["retransmitted"])


class TcpIperf3(Iperf3):
    operation, one_packet = "iperf3", None
    differs = "it counts goodput as ours does, in windows of 100 ms."

    def client(self, row, path, seconds):
        return ["iperf3", "-M", row.path_mtu + TIME_STAMPS, *self.common(row, path, seconds)]

    def outcome(self, client, server, cores):
        try:
            again = json.loads(client)["end"]["sum_sent"]["retransmits"]
            rates = iperf3_rates(json.loads(server), json.loads(server)["end"]["sum_received"])
        except (ValueError, KeyError) as error:
            raise RunSpoilt(f"iperf3: its report cannot be read ({error!r})") from None
        return Outcome(**rates, goodput_at="receiver", retransmitted=again, **cores)


class Tcp(Transport):
    name, words, order = "tcp", "kernel TCP", 15
    throttles = True
    tools = (TcpStream(), TcpIperf3(), Qperf("tcp_bw", ("-ip", UDP_PORT)), QperfLatency("tcp_lat", ("-ip", UDP_PORT)))

    def count(self, row, outcome, did, seen):
        """Nobody counts its packets: segments have no fixed size, and the referee counts UDP and RoCE only."""
        return {"retransmitted": outcome.retransmitted}
