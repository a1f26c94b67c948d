# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a transport is, and a tool of it.

Each file in compare/transports/ has the classes of one family. plan.py finds them there; no list names them.
"""
import contextlib
import dataclasses
import re
from typing import Optional

from compare import join, latency

# The usual RDMA path MTU. Datagrams of the UDP transports carry as many bytes, so that all packets are equal.
PATH_MTU = 4096
RDMA_PATH_MTUS = (256, 512, 1024, 2048, 4096)
ANY_PATH_MTU = range(256, 65024 + 1)    # with all headers the largest fits the largest MTU of a veth, 65535
UDP_PORT = 7471     # the referee counts datagrams to it; our RDMA program listens on it
PING_PONG, SEARCH = "ping-pong", "search"      # in place of a rate


class RunFailed(Exception):
    """One line: what went wrong."""


class CannotRun(RunFailed):
    """What only a try could tell: the row cannot run here. It is skipped."""


class RunSpoilt(RunFailed):
    """What went wrong was not the row's fault: another run may go well."""


def no_cores():
    return {"process": None, "system": None}


def no_busy():
    return {"sender": None, "receiver": None}


def no_messages():
    return {"sent": None, "received": None, "lost": None}


@dataclasses.dataclass
class Outcome:
    """The figures of a pair of programs for one run."""
    goodput_gbps: Optional[float]
    goodput_at: str                     # where it was measured: at the receiver, or at a sender that does not know what arrived
    sent: Optional[int] = None          # packets, by the programs; None: unknown
    received: Optional[int] = None
    messages: dict = dataclasses.field(default_factory=no_messages)
    places: dict = dataclasses.field(default_factory=dict)      # {PLACE: n} that the programs know better than the machine
    sender_cores: dict = dataclasses.field(default_factory=no_cores)
    receiver_cores: dict = dataclasses.field(default_factory=no_cores)
    latency_us: Optional[dict] = None
    latency_histogram: Optional[list] = None    # [[upper bound in us, count], ...]
    goodput_min_gbps: Optional[float] = None    # of the least window of 100 ms (userspace/traffic/streams/windows.h); None: the tool knows none
    retransmitted: Optional[int] = None     # packets sent again, if the program knows
    other_datagram: int = 0             # UDP payload of datagrams on the wire that are no packets of the row
    operation: Optional[str] = None     # in place of the tool's, if a run tells more
    loss_details: dict = dataclasses.field(default_factory=dict)    # {"A", "B"}: {name: n}, what DPDK's driver says of losses
    busy_s: dict = dataclasses.field(default_factory=no_busy)   # CPU seconds of each end's whole machine while packets flowed
    sent_s: Optional[float] = None  # seconds for which the sender sent
    receive_buffer: Optional[dict] = None   # of the receiving socket: {"bytes", "unread_us": longest time between two reads}
    pairs_gbps: Optional[list] = None   # the goodput of each pair, if there are several
    flows_gbps: Optional[list] = None   # that of each flow (QP) of all pairs, if there are several and the tool knows
    missing: Optional[str] = None   # why there is no goodput, of ping-pong no latency, if the tool knows
    pressure: Optional[int] = None  # episodes of back-pressure of a ring's receivers
    xdp_dropped: int = 0    # packets that the receiver's XDP program took, and that the NIC may count as dropped


def together(outcomes, machines, one=None):
    """
    One Outcome of pairs that ran at the same time: figures are summed, latencies are those of all messages. machines: those of
    the senders and of the receivers, for each pair: programs of one machine say the same of the whole of it. one: "sender" or
    "receiver", if that is one program of all pairs, of which each Outcome has all. Pure.
    """
    senders, receivers = (outcomes[:1] if one == side else outcomes for side in ("sender", "receiver"))
    measured = senders if outcomes[0].goodput_at == "sender" else receivers
    sent, received = (join.add(each.messages[name] for each in some) for name, some in (("sent", senders), ("received", receivers)))
    lost = join.difference(sent, received) if one else join.add(each.messages["lost"] for each in outcomes)
    busy = {side: _by_machine([each.busy_s[side] for each in some], where)
            for side, some, where in zip(("sender", "receiver"), (senders, receivers), machines)}
    timed = latency.merged([(each.latency_us, each.latency_histogram) for each in outcomes if each.latency_us])
    return Outcome(
        goodput_gbps=join.add(each.goodput_gbps for each in measured), goodput_at=outcomes[0].goodput_at,
        goodput_min_gbps=measured[0].goodput_min_gbps if len(measured) == 1 else None,
        sent=join.add(each.sent for each in senders), received=join.add(each.received for each in receivers),
        messages={"sent": sent, "received": received, "lost": lost},
        places={place: sum(each.places.get(place, 0) for each in receivers) for each in receivers for place in each.places},
        sender_cores=_cores([each.sender_cores for each in senders], machines[0]),
        receiver_cores=_cores([each.receiver_cores for each in receivers], machines[1]),
        latency_us=timed[0], latency_histogram=timed[1],
        retransmitted=join.add(each.retransmitted for each in outcomes), other_datagram=outcomes[0].other_datagram,
        sent_s=max((each.sent_s for each in outcomes if each.sent_s), default=None),
        operation=outcomes[0].operation, loss_details=_details([each.loss_details for each in outcomes]),
        pressure=join.add(each.pressure for each in outcomes),
        receive_buffer=max((each.receive_buffer for each in outcomes if each.receive_buffer),
                           key=lambda each: each["unread_us"], default=None),
        busy_s=busy, flows_gbps=[each for some in measured for each in some.flows_gbps] if all(each.flows_gbps for each in measured) else None,
        pairs_gbps=[each.goodput_gbps if measured == outcomes else None for each in outcomes])


def _details(each):
    """{"A", "B"}: {name: n}, summed."""
    return {end: {name: sum(found.get(end, {}).get(name, 0) for found in each) for other in each for name in other.get(end, {})}
            for end in ("A", "B")}


def _cores(cores, machines):
    return {"process": join.add(each["process"] for each in cores),
            "system": _by_machine([each["system"] for each in cores], machines)}


def _by_machine(values, machines):
    """The sum over machines, each with the most that one of its programs says."""
    if any(value is None for value in values):
        return None
    return sum({machine: value for value, machine in sorted(zip(values, machines))}.values())


class Tool:
    """A program that sends and receives over a transport. Each transport has its own instance."""
    name = None             # in the report and for --rows
    operation = None        # its operation, in the report
    program = None          # its name in build/, if it is ours
    streams = True          # whether it sends one message after the other
    answers = False         # whether it does ping-pong
    judged = True           # whether its runs have a goodput, of ping-pong a latency
    on_request = False      # whether it has rows only where a plan asks for some (`rows`)
    searches = False        # whether a search for its highest rate without loss is possible: it tells Outcome.sent_s
    rate_control = True     # whether it can send at a fixed rate
    several_flows = True
    through_qdisc = True    # whether its packets pass the queue of the sender's NIC
    rxe_sends = True        # whether its packets come from rxe, where those of its transport do
    several_pairs = False   # whether several senders or receivers can be used at the same time
    ipv6 = True
    packets = RDMA_PATH_MTUS    # path MTUs that it can have
    verbs = False           # whether it is our RDMA stream program at both ends, which has options of its own
    never = None            # why it cannot use this transport at all
    differs = None          # how its figures come about other than ours, and what may make them differ
    one_packet = None       # why its messages cannot be larger than the path MTU
    datagram = None         # bytes of the largest message that it sends as one datagram: above the path MTU IP cuts it into fragments
    places = {}             # {PLACE: join.Place} of losses that only this tool counts

    @property
    def own(self):
        return self.program is not None

    def cannot(self, load):
        """Why it cannot carry this Load. None: it can."""
        if load.pace and not self.rate_control:
            return "no rate control"
        if load.flows > 1 and not self.several_flows:
            return "one flow only"
        if load.ip == 6 and not self.ipv6:
            return "IPv4 only"
        if load.path_mtu not in self.packets:
            return f"packets of {', '.join(map(str, self.packets))} bytes only"
        if load.verbs and not self.verbs:
            return f"it has no options of verbs ({load.verbs})"
        if self.datagram and load.size > self.datagram:
            return f"one message is one datagram, which has {self.datagram} bytes at most"
        return self.never or (self.one_packet if load.size > load.path_mtu else None)

    def refusal(self, row, path):
        """Why it cannot carry the row on this path. None: it can."""
        return None

    def around(self, row, path):
        """A context for a run: what has to be there before, and is looked at and taken away afterwards. It is not counted."""
        return contextlib.nullcontext()

    def run(self, row, path, seconds, injection):
        """
        Runs once: returns an Outcome or raises RunFailed. path starts programs on its ends, "A" (sender) and "B"
        (receiver), and knows their addresses: a lab.Lab, or what Transport.path() returns. injection: an
        inject.Injection.
        """
        raise NotImplementedError

    def run_pairs(self, row, paths, seconds, injection):
        """The same on several paths at the same time, which may share an end. For tools with `several_pairs`."""
        raise NotImplementedError


class Transport:
    """One transport, with the tools that can use it."""
    name = None             # in the report and for --rows
    words = None            # in the table
    about = None            # what it is, in a line, where not everybody knows
    order = 100             # in the table: small numbers come first
    driver = "kernel"       # driver of the lab's NICs that it needs: "kernel" or "dpdk". None: it does not run in the lab,
                            # and no referee sees its packets
    rxe = False             # whether it needs SoftRoCE on the NICs
    seen_on_nic = True      # whether a referee on the ends' NICs can see its packets: an RNIC shows none, another user of XDP
                            # bars it
    by_rnic = False         # whether RNICs of the ends make and take its packets: not once their RoCE is switched off
    requester = "A"         # the end that sends RDMA requests
    throttles = False       # whether it sends again what was lost, and is slower then
    all_payload = True      # whether each packet that it counts carries payload
    section = None          # the section of the table for figures of another path
    only = None             # the only paths that it has rows on
    tools = ()              # our tools first

    def rows(self, loads):
        """All rows: each Load by each tool that does such a thing. A row that cannot run says why."""
        return [Row.of(self, tool, load, tool.cannot(load)) for load in loads for tool in self.tools
                if (tool.answers if load.ping_pong else tool.searches if load.searched else tool.streams)]

    def refusal(self, lab):
        """Why it does not run on this path. None: it does."""
        return None

    def path(self, lab):
        """Where its rows run."""
        return lab

    def count(self, row, outcome, did, seen):
        """
        The packets of one run for join.merge(): here datagrams, which the referee counts at both ports. did: Counters
        of the run; seen: {"A", "B"}: Sightings. `sent` and `received` are the programs' figures unless set here. Pure.
        """
        if row.fragmented:
            return {}       # the referee knows no datagram of several packets
        return {"on_wire": seen["A"].udp_packets(row.packet_payload, outcome.other_datagram),
                "left_wire": seen["B"].udp_packets(row.packet_payload, outcome.other_datagram)}

    @property
    def places(self):
        """All places that can lose its packets, {PLACE: join.Place}, in the order a packet passes them."""
        return join.places({name: place for tool in self.tools for name, place in tool.places.items()})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Load:
    """What the programs of a row are to carry."""
    size: Optional[int]             # of a message, in bytes
    # None: as fast as possible; PING_PONG: one message at a time, each of them answered; SEARCH: the highest without loss
    rate: Optional[str] = None
    flows: int = 1                  # sockets, connections or QPs
    ip: int = 4                     # version
    path_mtu: int = PATH_MTU        # bytes of payload in a packet
    port: int = UDP_PORT            # at the receiver; pairs that share an end have one each
    delay_us: float = 0.0           # one way, of the path
    verbs: str = ""                 # options of our RDMA stream program (softroce.VERBS), as a plan has them

    @property
    def ping_pong(self):
        return self.rate == PING_PONG

    @property
    def searched(self):
        return self.rate == SEARCH

    @property
    def pace(self):
        """The rate as a word, None: as fast as possible."""
        return None if self.rate in (PING_PONG, SEARCH) else self.rate

    @property
    def packet_payload(self):
        """Bytes of payload in a full packet."""
        return min(self.size or self.path_mtu, self.path_mtu)

    @property
    def udp_headers(self):
        """Bytes of IP and UDP."""
        return (20 if self.ip == 4 else 40) + 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(Load):
    transport: Transport
    tool: Tool
    why: Optional[str] = None   # why it cannot run

    @classmethod
    def of(cls, transport, tool, load, why=None):
        return cls(transport=transport, tool=tool, why=why, **dataclasses.asdict(load))

    @property
    def own(self):
        return self.tool.own

    @property
    def fragmented(self):
        """Whether a message is a datagram of several packets: the program counts datagrams, and nobody counts packets."""
        return self.tool.datagram is not None and self.size > self.path_mtu

    @property
    def name(self):
        """The name that --rows patterns match."""
        more = [f"{self.flows}flows"] * (self.flows > 1) + ["ipv6"] * (self.ip == 6)
        return "/".join((self.transport.name, self.tool.name, str(self.size or "-"), self.rate or "full", *more))


def bits_per_second(rate):
    """'50Mbit' -> 50000000.0"""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)bit", rate)
    if not match or not float(match[1]):
        raise ValueError(f"{rate}: not a rate such as 100Mbit or 1Gbit")
    return float(match[1]) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[match[2]]
