# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""UDP by the kernel's sockets."""
import dataclasses
import functools
import json

from compare.join import Place
from compare.programs import Qperf, QperfLatency, ServerAndClient, StreamProgram, last_line
from compare.transport import UDP_PORT, CannotRun, Outcome, RunSpoilt, Transport, bits_per_second

WINDOW_S = 0.1
MOST_DATAGRAM = 65535 - 20 - 8      # bytes of payload: what a length of 16 bits leaves IPv4 and UDP
ONE_DATAGRAM = "one message is one datagram, which must fit the path MTU"


class UdpStream(StreamProgram):
    program = operation = "udp_stream"
    drops = {"send_errors": "send_errors", "socket_receive_buffer": "receive_buffer"}
    places = {"send_errors": Place("before_wire", "sender's socket")}
    receives, sends = (), ()    # options of each end

    def receiver_options(self, row, path, injection):
        return [*(["--rcvbuf", injection.receive_buffer] if injection.receive_buffer else []), *self.receives]

    def sender_options(self, row, path):
        return ["--dst", path.address("B", row.ip), "--mtu", row.path_mtu + row.udp_headers, *self.sends]


class GsoStream(UdpStream):
    """The NICs cut nothing: the kernel cuts before the sender's NIC, and the receiver's kernel puts together again."""
    operation, receives, sends = "udp_stream, --gso to --gro", ("--gro",), ("--gso",)
    answers = False     # one message at a time leaves nothing to put together


class PollStream(UdpStream):
    operation = "udp_stream, recv --busy-poll"
    receives = ("--busy-poll", 50)      # us: what the kernel's documentation of net.core.busy_read recommends

    def outcome(self, sent, received):
        if not received["napi_id"]:
            raise CannotRun("the receiver's NIC has no NAPI that could be polled")
        return super().outcome(sent, received)


class UringStream(UdpStream):
    operation, receives, sends = "udp_stream, --io-uring", ("--io-uring",), ("--io-uring",)

    def refusal(self, row, path):
        return no_io_uring(path)


@functools.cache
def no_io_uring(path):
    """Why an end has no io_uring. None: both have. A receiver that has its ring says `ready`, and then that nothing came."""
    for end, words in (("A", "sender"), ("B", "receiver")):
        tried = path.exec(end, ["build/udp_stream", "recv", "--io-uring", "--wait", "0.001"], timeout=10)
        if "ready" not in tried.stderr:
            return f"{words}: {last_line(tried.stderr)}"
    return None


def iperf3_rates(server, whole):
    """
    The Outcome's goodput and least window, of the same windows as those of our programs (userspace/traffic/streams/windows.h).
    server: its report; whole: of the whole run, if there are no windows. Pure.
    """
    windows = [each["sum"] for each in server["intervals"]][2:-2]
    if not windows:
        return {"goodput_gbps": whole["bits_per_second"] / 1e9}
    return {"goodput_gbps": sum(each["bytes"] for each in windows) * 8 / sum(each["seconds"] for each in windows) / 1e9,
            "goodput_min_gbps": min(each["bits_per_second"] for each in windows) / 1e9}


class Iperf3(ServerAndClient):
    name, operation, port = "iperf3", "iperf3 -u", UDP_PORT
    differs = "it counts goodput as ours does, in windows of 100 ms. Perhaps it differs because ours hands over many datagrams in a call."
    one_packet = ONE_DATAGRAM
    HELLO = 4       # bytes of the datagram that opens its stream
    port_of = staticmethod(lambda row: row.port)

    def server(self, row, path, seconds):
        return ["iperf3", "-s", "-1", "-J", "-i", WINDOW_S, "-p", row.port]

    def client(self, row, path, seconds):
        return ["iperf3", "-u", *self.common(row, path, seconds)]

    def common(self, row, path, seconds):
        """The client's options with any protocol. Its rate is that of a flow."""
        rate = f"{bits_per_second(row.pace) / row.flows:.0f}" if row.pace else "0"
        return ["-J", "-c", path.address("B", row.ip), "-p", row.port, "-b", rate, "-l", row.size, "-t", seconds,
                *(["-P", row.flows] if row.flows > 1 else [])]

    def outcome(self, client, server, cores):
        """The receiver learns of a loss only from a later packet, so not of losses at the end. Received is what it took."""
        try:
            sent = json.loads(client)["end"]["sum_sent"]["packets"]
            got = json.loads(server)["end"]["sum_received"]
            received = got["packets"] - got["lost_packets"]
            rates = iperf3_rates(json.loads(server), got)
        except (ValueError, KeyError) as error:
            raise RunSpoilt(f"iperf3: its report cannot be read ({error!r})") from None
        return Outcome(**rates, goodput_at="receiver", sent=sent, received=received,
                       messages={"sent": sent, "received": received, "lost": sent - received},
                       other_datagram=self.HELLO, **cores)


class UdpQperf(Qperf):
    datagram = MOST_DATAGRAM

    def run(self, row, path, seconds, injection):
        """It counts messages: packets only where a message is one."""
        outcome = super().run(row, path, seconds, injection)
        return dataclasses.replace(outcome, sent=None, received=None) if row.fragmented else outcome

    def read(self, figures, cores):
        sent, received = int(float(figures["send_msgs"])), int(float(figures["recv_msgs"]))
        return Outcome(goodput_gbps=float(figures["recv_bw"]) * 8 / 1e9, goodput_at="receiver", sent=sent,
                       received=received, messages={"sent": sent, "received": received, "lost": sent - received}, **cores)


class UdpQperfLatency(QperfLatency):
    datagram = MOST_DATAGRAM


class Udp(Transport):
    name, words, order = "udp", "kernel UDP", 10
    tools = (UdpStream(), Iperf3(), UdpQperf("udp_bw", ("-ip", UDP_PORT)), UdpQperfLatency("udp_lat", ("-ip", UDP_PORT)))


class UdpGso(Transport):
    """Before Linux 6.11 the kernel refuses UDP_SEGMENT where the NIC computes no checksums, as the lab's (net/ipv4/udp.c)."""
    name, words, order = "udp-gso", "UDP GSO+GRO", 11
    about = "the program hands over up to 64 packets in one piece, which the sender's kernel cuts; the receiver takes as many at once."
    only = ("local", "hosts")
    tools = (GsoStream(),)


class UdpPoll(Transport):
    name, words, order = "udp-poll", "UDP polling", 12
    about = "busy polling: before it sleeps, the receiver looks into the NIC's queue itself."
    tools = (PollStream(),)


class UdpUring(Transport):
    name, words, order = "udp-uring", "UDP io_uring", 13
    about = "the program's calls go to the kernel through rings of io_uring, and so do the answers."
    tools = (UringStream(),)
