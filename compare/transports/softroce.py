# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCE by the kernel's rxe (SoftRoCE): RC, UC and UD, and operations other than the usual one of each."""
import dataclasses
import json
import re
import time

from compare import PATIENCE_S, contradictions, join, window
from compare.join import Place
from compare.programs import (Qperf, ServerAndClient, StreamProgram, TheirProgram, busy, cores, ended_well, host_and_port, last_line,
                              latency_us, machines_of, said, start_metered)
from compare.transport import Outcome, RunFailed, RunSpoilt, Transport, bits_per_second, together
from compare.transports.udp import ONE_DATAGRAM
from compare.transports.xdp_roce import COMMAND, DRAIN_S, SendToReceive, frame_rate

WRITE = "RDMA WRITE with immediate"
# It could not measure the frequency of the CPU, which was taken away meanwhile (perftest, get_clock.c).
NO_REPORT = "Can't produce a report"
NO_GID = "it takes no GID index, which RoCEv2 needs (its RC goes by rdma_cm)"


# Options of rdma_stream (rxe_tests/rdma_stream/main.c) that a plan's `verbs` has, and the ends that take them.
VERBS = {"window": "A", "reads": "A", "ack-timeout": "AB", "link": "A", "signal": "A", "inline": "A", "solicited": "A", "srq": "B", "srqs": "B",
         "threads": "AB", "memory": "AB", "regions": "AB"}
# Those of a ring; capacity: messages of a ring, whatever a burst has.
RING_VERBS = {"workers": "B", "slow": "B", "capacity": "B", "upper": "B", "lower": "B"}
ENDS_OF = {**VERBS, **RING_VERBS}


def verbs(text):
    """The value of a plan's `verbs`: 'link=25,solicited=25', or '' for none. ValueError: an option that there is not."""
    for word in text.split(",") if text else ():
        if word.partition("=")[0] not in ENDS_OF:
            raise ValueError(f"{word}: none of {', '.join(ENDS_OF)}")
    return text


def options_of(text, end):
    """['--link', '25'] of an end"""
    return [each for name, value in values_of(text).items() if end in ENDS_OF[name] for each in (f"--{name}", value) if each]


def values_of(text):
    """{option: its value, '' of a flag}"""
    return dict(word.partition("=")[::2] for word in text.split(",") if word)


def shares(goodput_gbps, peers, addresses):
    """The part of the goodput that each of these senders has, by the messages that a receiver counted of its `peers`. Pure."""
    messages = {peer["address"]: peer["messages"] for peer in peers}
    total = sum(messages.values())
    return [goodput_gbps * messages[address] / total if goodput_gbps and total else None for address in addresses]


class RdmaStream(StreamProgram):
    """service: rc, uc or ud."""
    program, verbs, options = "rdma_stream", True, VERBS
    drops = {"no_receive_request": "no_receive_request"}
    places = {"no_receive_request": Place("at_receiver", "no receive request")}

    def __init__(self, service, operation):
        self.service, self.operation = service, operation
        self.counts_packets = service == "ud"
        self.joins = service != "ud"    # whether a program can serve several ends

    def cannot(self, load):
        foreign = [name for name in values_of(load.verbs) if name not in self.options]
        return super().cannot(load) or (f"it does not take {', '.join(foreign)}" if foreign else None)

    def receiver_options(self, row, path, injection):
        posted = ["--depth", injection.receive_requests] if injection.receive_requests else []
        return [*self._both(row, path, "B"), "--control", host_and_port(path.address("B", row.ip), row.port), *posted]

    def sender_options(self, row, path):
        return [*self._both(row, path, "A"), "--control", host_and_port(path.address("B", row.ip), row.port)]

    def _both(self, row, path, end):
        # rxe works on the machine's CPUs: a program that polls takes them from it
        polls = row.ping_pong and not row.transport.rxe
        return ["--transport", self.service, "--path-mtu", row.path_mtu,
                "--device", path.rdma(end), "--gid-index", path.gid_index(end, row.ip), *(["--poll"] if polls else []),
                *options_of(row.verbs, end)]

    def run_pairs(self, row, paths, seconds, injection):
        """
        Of several pairs a program serves all that share an end, where rdma_stream can: the receiver has one shared queue then, and
        the sender's QPs take turns. A device with several receivers cannot tell whose packets it had no receive for.
        """
        if len(paths) > 1 and self.joins and not row.ping_pong:
            return self._joined(row, paths, seconds, injection)
        outcome = super().run_pairs(row, paths, seconds, injection)
        if len(paths) > 1:
            outcome.places.pop("no_receive_request", None)
        return outcome

    def _joined(self, row, paths, seconds, injection):
        shared = "B" if len({path.end["B"] for path in paths}) == 1 else "A"
        if shared == "A" and row.pace:      # of all its receivers together
            row = dataclasses.replace(row, rate=f"{len(paths) * bits_per_second(row.pace):.0f}bit")
        receive, send = zip(*(self.commands(row, path, seconds, injection) for path in paths))
        receivers, senders = list(zip(paths, receive)), list(zip(paths, send))
        if shared == "B":
            receivers = [(paths[0], [*receive[0], "--senders", str(len(paths))])]
        else:
            more = [word for path in paths[1:] for word in ("--control", host_and_port(path.address("B", row.ip), row.port))]
            senders = [(paths[0], [*send[0], *more])]
        sent, received = self.reports(seconds, receivers, senders)
        each = [self.outcome(sent[number % len(sent)], received[number % len(received)]) for number in range(len(paths))]
        outcome = together(each, machines_of(paths), "receiver" if shared == "B" else "sender")
        if shared == "B":
            outcome.pairs_gbps = shares(outcome.goodput_gbps, received[0]["peers"], [path.address("A", row.ip) for path in paths])
        return outcome

    def outcome(self, sent, received):
        """UC, where a message is one packet: received is what the program was given; what rxe had no receive for is lost."""
        outcome = super().outcome(sent, received)
        if "no_receive_request" in received["drops"]:
            outcome.received = received["packets"]
        return outcome


class RdmaOperation(RdmaStream):
    """option: of --operation, which the receiver learns from the sender."""

    def __init__(self, service, option, operation):
        super().__init__(service, operation)
        self.option = option
        self.joins = option == "write"
        self.answers = option not in ("write", "read")      # there nobody learns of a message that could be answered

    def sender_options(self, row, path):
        return [*super().sender_options(row, path), "--operation", self.option]


class Ring(RdmaStream):
    """
    rdma_stream --ring. Each flow is a receiver of its own at its end, and a sender's receivers take turns. mode: "stream", or "bursts"
    of BURST messages. Goodput is that of the workers, who verify each byte.
    """
    answers = searches = False
    on_request = True
    options = {"window": "A", "memory": "AB", **RING_VERBS}
    BURST, RING = 1000, 8       # messages of a burst; bursts of a ring, unless `capacity` says otherwise

    def __init__(self, mode):
        super().__init__("rc", f"RDMA WRITE round a ring, {mode}")
        self.name, self._burst = mode, self.BURST if mode == "bursts" else 1

    def receiver_options(self, row, path, injection):
        return ["--ring", *super().receiver_options(row, path, injection)]

    def sender_options(self, row, path):
        return ["--ring", *(["--burst", self._burst] if self._burst > 1 else []), *super().sender_options(row, path)]

    def run_pairs(self, row, paths, seconds, injection):
        told = values_of(row.verbs)
        told["capacity"] = max(2, int(told.get("capacity", self.RING * self.BURST)) // self._burst)
        one = dataclasses.replace(row, flows=1, verbs=",".join(f"{name}={value}" for name, value in told.items()))
        receivers, senders = [], {}     # {end: (its first path, its command, its receivers)}
        for number, path in enumerate(paths * row.flows):
            receive, send = self.commands(dataclasses.replace(one, port=row.port + number), path, seconds, injection)
            receivers.append((path, receive))
            _, first, numbers = senders.setdefault(path.end["A"], (path, send, []))
            first += send[send.index("--control"):][:2] if numbers else []
            numbers.append(number)
        for _, send, numbers in senders.values():
            if row.pace:    # of all its receivers together
                send[send.index("--rate") + 1] = f"{bits_per_second(row.pace) * len(numbers) / row.flows:.0f}bit"
        sent, received = self.reports(seconds, receivers, [(path, send) for path, send, _ in senders.values()])
        each = [together([self.outcome(report, received[number]) for number in numbers],
                         machines_of([receivers[number][0] for number in numbers]), "sender")
                for report, (_, _, numbers) in zip(sent, senders.values())]
        if len(receivers) == 1:
            each[0].pairs_gbps = None
        return each[0] if len(each) == 1 else together(each, machines_of([path for path, _, _ in senders.values()]))

    def outcome(self, sent, received):
        """One of a sender's receivers. What it read is timed from the sender's first note, before the data, until all is read."""
        if received["wrong"] or not received["messages"]:
            raise RunFailed(f"a receiver read {received['messages']} messages, {received['wrong']} of them wrong")
        for words in contradictions.of_ring(received):
            raise RunFailed(f"a receiver's report contradicts itself: {words}")
        goodput = 8 * received["payload_bytes"] / received["read_seconds"] / 1e9
        windows = received["windows"] or {"min_gbps": None}
        return Outcome(
            goodput_gbps=goodput, goodput_at="receiver", pressure=received["pressure"]["episodes"],
            goodput_min_gbps=windows["min_gbps"] if len(sent["receivers"]) == 1 else None,
            messages={"sent": sent["messages"], "received": received["messages"], "lost": received["messages_lost"]},
            sender_cores=cores(sent), receiver_cores=cores(received), sent_s=sent["seconds"],
            busy_s={"sender": busy(sent), "receiver": busy(received)})


class SendToStream(SendToReceive):
    """The sender of xdp-roce, so that receivers can be compared whatever rxe can send."""
    name, operation, service = "send", "send to rdma_stream", "uc"
    ready = '"qps"'
    rxe_sends = False
    IDLE_S = 2              # seconds without a packet

    def receiver(self, row, path):
        return ["build/rdma_stream", "recv", "--json", "--transport", self.service, "--verify", "off",
                "--device", path.rdma("B"), "--gid-index", path.gid_index("B", row.ip), "--path-mtu", row.path_mtu,
                "--size", row.size, "--flows", row.flows, "--idle", self.IDLE_S, "--wait", PATIENCE_S,
                "--peer-address", path.address("A", row.ip), "--tell", "-"]

    def end(self, receiver):
        """It ends by itself when nothing more comes."""

    def qps(self, row, told):
        end = json.loads(told.splitlines()[0])
        return [*(word for qp in end["qps"] for word in
                  ("--qp", f"qpn={qp['qpn']},psn=0,rkey={qp['rkey']},va={qp['address']}")), "--regions", end["slots"]]

    def outcome(self, sender, receiver, cores):
        try:
            sent, got = json.loads(sender), json.loads(receiver.splitlines()[-1])
            drops = got["drops"]
        except (ValueError, KeyError, IndexError):
            raise RunFailed(f"send and rdma_stream: {last_line(receiver, sender)}") from None
        places = {"send_refused": sent["refused"] + sent["device_drops"]}
        if "no_receive_request" in drops:
            places["no_receive_request"] = drops["no_receive_request"]
        messages = {"sent": None, "received": got["messages"], "lost": got["messages_lost"]}
        return Outcome(goodput_gbps=got["goodput_gbps"], goodput_at="receiver", sent=sent["packets"], sent_s=sent["seconds"],
                       received=None, messages=messages, places=places, **cores)


class FpgaToStream(SendToStream):
    """
    RC WRITE as an FPGA's stack sends it, to a QP of SoftRoCE. `send` takes no notice of the responses, and the receiving program
    knows nothing of WRITEs: how many messages the responder took, the referee sees by its acknowledgements. options: of send.
    """
    service, several_flows, judged = "rc", False, False
    QP_MTU = 1024           # bytes: the largest path MTU that the stack's packets are not smaller than

    def __init__(self, name, payload, *options):
        """payload: bytes of a First or Middle packet."""
        self._payload, self._options = payload, [*options, "--mtu", payload]
        self.name, self.operation = name, " ".join(("send", *map(str, self._options)))

    def receiver(self, row, path):
        return super().receiver(dataclasses.replace(row, path_mtu=self.QP_MTU), path)

    def sender(self, row, path, seconds, told):
        return [COMMAND, "send", path.netif("A"), *self._options, "--dst", path.address("B", row.ip),
                "--dst-mac", path.mac("B"), "--message", row.size, "--duration", seconds, *self.qps(row, told),
                *(["--rate", frame_rate(row)] if row.pace else []), "-j"]

    def measure(self, row, path, seconds):
        limit = seconds + PATIENCE_S
        receiver = start_metered(path, "B", self.receiver(row, path), limit)
        try:
            if not receiver.expect(self.ready, PATIENCE_S):
                raise RunFailed(f"rdma_stream: {said(receiver)}")
            sender = start_metered(path, "A", self.sender(row, path, seconds, receiver.stdout), limit)
            ended_well("the sender", sender.wait(), said(sender))
            time.sleep(DRAIN_S)
        finally:
            receiver.kill()     # it would wait for messages that a responder does not see
        sent = json.loads(sender.stdout)
        return Outcome(goodput_gbps=None, goodput_at="receiver", sent=sent["packets"], sent_s=sent["seconds"],
                       messages={"sent": sent["packets"] // -(-row.size // self._payload), "received": None, "lost": None},
                       places={"send_refused": sent["refused"] + sent["device_drops"]})


class Perftest(ServerAndClient):
    name, port = "perftest", 18515
    differs = ("it leaves out a second at each end of the run, ours the first 200 ms. It polls and ours sleeps: perhaps it takes CPU time "
               "from SoftRoCE.")
    MARGIN_S = 1            # seconds at both ends of the run that are not measured
    BURST_BYTES = 65536

    def __init__(self, service, operation, one_packet=None):
        self.service, self.operation, self.one_packet = service, operation, one_packet

    def seconds(self, wanted):
        seconds = super().seconds(wanted)
        return seconds if seconds > 2 * self.MARGIN_S else seconds + 2 * self.MARGIN_S

    def server(self, row, path, seconds):
        return self._both(row, path, self.server_end, seconds)

    def _both(self, row, path, end, seconds):
        return [self.operation, "-c", self.service.upper(), "-d", path.rdma(end), "-x", path.gid_index(end, row.ip), "-m", row.path_mtu, "-F",
                "-p", self.port_of(row), "-s", row.size, *self._length(row, seconds)]

    def _length(self, row, seconds):
        """Options for how long it runs, and what it reports."""
        return ["-D", seconds, "-f", self.MARGIN_S, "--report_gbits", *(["-q", row.flows] if row.flows > 1 else [])]

    def client(self, row, path, seconds):
        rate = ["--rate_limit", bits_per_second(row.pace) / 1e9, "--rate_limit_type", "SW", "--burst_size",
                max(1, self.BURST_BYTES // row.size)] if row.pace else []
        # the version of IP is that of the GIDs; for its own connection it knows IPv4 only
        return [*self._both(row, path, self.client_end, seconds), *rate, path.address(self.server_end)]

    def measure(self, row, path, seconds):
        try:
            return super().measure(row, path, seconds)
        except RunFailed as error:
            if NO_REPORT in str(error):
                raise RunSpoilt(str(error)) from None
            raise

    def outcome(self, client, server, cores):
        """RC: acknowledged packets arrived. UC and UD SEND: the server counts them. UC WRITE: the receiver counts nothing."""
        counted = self.service != "rc" and self.operation == "ib_send_bw"
        blind = self.service == "uc" and not counted
        return Outcome(goodput_gbps=self._figure(server if counted else client), goodput_at="sender" if blind else "receiver",
                       **cores)

    def _figure(self, text):
        rows = re.findall(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", text, re.M)
        if not rows:
            raise RunSpoilt(f"perftest: {last_line(text)}")
        return float(rows[-1])


class PerftestLatency(Perftest):
    """
    Its percentiles are of a number of messages: of a time it reports the mean only. It answers by the same operation, and polls: with
    events (-e) ib_send_lat of perftest 4.5 did not end over rxe's RC.
    """
    streams, answers, several_flows = False, True, False
    differs = "it polls; over SoftRoCE ours sleeps until a message comes, and perhaps polling takes CPU time from SoftRoCE."
    seconds = TheirProgram.seconds
    MESSAGES_PER_S = 1000   # its default number, for each second of the run,
    LEAST = 5               # the least number that it takes,
    BYTES_PER_S = 40e6      # and what rxe carries at least, also in an emulated guest: of large messages fewer have time

    def _length(self, row, seconds):
        way = window.latency_us("rc-read" if "read" in self.operation else "rc", row.size, row.path_mtu, row.delay_us) / 1e6
        fit = seconds / (2 * (way + row.size / self.BYTES_PER_S))
        return ["-n", max(self.LEAST, min(self.MESSAGES_PER_S * seconds, int(fit)))]

    def outcome(self, client, server, cores):
        # of few messages its standard deviation is -nan
        rows = re.findall(r"^\s*\d+\s+\d+((?:\s+(?:[\d.]+|-?nan)){7})\s*$", client, re.M)
        if not rows:
            words = last_line(client.rstrip("-\n"))     # it ends by a line of dashes
            raise RunSpoilt(f"perftest: {NO_REPORT if NO_REPORT in client else words}")
        least, most, median, mean, _, p99, p999 = map(float, rows[-1].split())
        return Outcome(goodput_gbps=None, goodput_at="receiver", **cores,
                       latency_us=latency_us(min=least, p50=median, p99=p99, p999=p999, max=most, mean=mean))


class PerftestRead(Perftest):
    """Its client reads from the server. So the client is at B: data goes from A to B, as in each row."""
    server_end, client_end = "A", "B"


class PerftestReadLatency(PerftestLatency):
    """As PerftestRead. Its latency is that of the whole READ, not half of it."""
    server_end, client_end = "A", "B"


class SoftRoce(Transport):
    """Common to RC, UC and UD. data: the side of the packets from A that carry the payload."""
    rxe = True
    data, other = "request", "response"

    def refusal(self, lab):
        return lab.rxe_refusal

    def count(self, row, outcome, did, seen):
        """
        What the programs do not count comes from rxe. rxe's packets include those of the other stream of a pair:
        responses that A sent are not requests, and neither are those that B received.
        """
        sent = join.difference(did.rxe("A", "sent_pkts"), seen["A"].roce_packets("A", self.other))
        rcvd = join.difference(did.rxe("B", "rcvd_pkts"), seen["B"].roce_packets("A", self.other))
        agrees = join.agreement({"sender": did.rxe("A", "sent_pkts"), "receiver": did.rxe("B", "sent_pkts")},
                                {"sender": seen["A"].roce_packets("A"), "receiver": seen["B"].roce_packets("B")})
        return {"sent": sent if outcome.sent is None else outcome.sent,
                "received": rcvd if outcome.received is None else outcome.received,
                "on_wire": seen["A"].roce_packets("A", self.data), "left_wire": seen["B"].roce_packets("A", self.data),
                "rxe_agrees": agrees if row.tool.rxe_sends else None}


class Rc(SoftRoce):
    name, words, order = "rc", "SoftRoCE RC", 30
    throttles = True
    tools = (RdmaStream("rc", WRITE), Perftest("rc", "ib_write_bw"), PerftestLatency("rc", "ib_write_lat"),
             Qperf("rc_rdma_write_bw", ("-cm1",), ipv6=False))

    def count(self, row, outcome, did, seen):
        """no other service sends packets again"""
        run = super().count(row, outcome, did, seen)
        return {**run, "retransmitted": join.retransmitted(run["sent"], run["on_wire"], seen["A"].duplicates())}


class Uc(SoftRoce):
    name, words, order = "uc", "SoftRoCE UC", 31
    tools = (RdmaStream("uc", WRITE), SendToStream(), Perftest("uc", "ib_write_bw"), PerftestLatency("uc", "ib_write_lat"),
             Qperf("uc_rdma_write_bw", never=NO_GID))


class Ud(SoftRoce):
    name, words, order = "ud", "SoftRoCE UD", 32
    tools = (RdmaStream("ud", "SEND"), Perftest("ud", "ib_send_bw", f"{ONE_DATAGRAM}; it clamps to that"),
             PerftestLatency("ud", "ib_send_lat", f"{ONE_DATAGRAM}; it clamps to that"),
             Qperf("ud_bw", never=NO_GID))


class Fpga(SoftRoce):
    """Song's stack (userspace/traffic/send/presets.c), as it is described, and what it takes until SoftRoCE accepts it."""
    name, words, order = "fpga", "FPGA to SoftRoCE RC", 38
    tools = (FpgaToStream("vitis-1408", 1408, "--preset", "vitis-1408"), FpgaToStream("vitis-icrc", 1408, "--op", "rc-write"),
             FpgaToStream("vitis-1024", 1024, "--op", "rc-write"))

    def count(self, row, outcome, did, seen):
        taken = seen["A"].acks("B")
        return {**super().count(row, outcome, did, seen), "received": None, "rxe_agrees": None,
                "messages": {**outcome.messages, "received": taken, "lost": join.difference(outcome.messages["sent"], taken)}}


class RcWrite(Rc):
    name, words, order = "rc-write", "SoftRoCE RC WRITE", 33
    tools = (RdmaOperation("rc", "write", "RDMA WRITE"),)


class RcSend(Rc):
    name, words, order = "rc-send", "SoftRoCE RC SEND", 34
    tools = (RdmaOperation("rc", "send", "SEND"), Perftest("rc", "ib_send_bw"), PerftestLatency("rc", "ib_send_lat"))


class RcRead(SoftRoce):
    """The payload is in responses. Nobody counts those sent again: the referee may take them for a new sequence."""
    name, words, order = "rc-read", "SoftRoCE RC READ", 35
    throttles = True
    data, other, requester = "response", "request", "B"
    tools = (RdmaOperation("rc", "read", "RDMA READ"), PerftestRead("rc", "ib_read_bw"),
             PerftestReadLatency("rc", "ib_read_lat"))

    def count(self, row, outcome, did, seen):
        return {**super().count(row, outcome, did, seen), "retransmitted": None}


class UcWrite(Uc):
    name, words, order = "uc-write", "SoftRoCE UC WRITE", 36
    tools = (RdmaOperation("uc", "write", "RDMA WRITE"),)


class Rings(Rc):
    name, words, order = "ring", "SoftRoCE RC rings", 39
    all_payload = False     # the ends tell each other by SENDs what is written and read
    tools = (Ring("stream"), Ring("bursts"))


class UcSend(Uc):
    name, words, order = "uc-send", "SoftRoCE UC SEND", 37
    tools = (RdmaOperation("uc", "send", "SEND"), Perftest("uc", "ib_send_bw"), PerftestLatency("uc", "ib_send_lat"))
