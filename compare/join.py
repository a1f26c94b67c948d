# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the accounting of one row from the counts of sender, referee and receiver. Pure, no lab.

The packets' path has three stretches. Each lies between two counts of packets and has places that can lose packets:

    sender --- before the wire --- sender's port --- wire --- receiver's port --- at the receiver --- receiver

A loss is the difference of two counts. Only the counters of the places on that stretch say where it happened. What they
do not explain is `unexplained`.
"""
import math
from typing import NamedTuple

from compare import latency

STRETCHES = ("before_wire", "on_wire", "at_receiver")
LOST = {"before_wire": "lost_before_wire", "on_wire": "lost_on_wire", "at_receiver": "lost_at_receiver"}


class Place(NamedTuple):
    """A place that can lose a packet."""
    stretch: str
    words: str              # for people
    where: str = None       # "A", "B" or "wire": whose counters; None: the programs' own
    counters: tuple = ()    # names in counters.Counters to be summed; {nic}, {sender_port} and {receiver_port} are filled in
    within: str = None      # the place whose counters have these packets, too: they are taken from it; none counts twice


# From the sending program to the receiving kernel, in the order a packet passes them.
_WAY = {
    "sender_qdisc": Place("before_wire", "sender's qdisc", "A", ("{nic}.qdisc",)),
    "sender_nic": Place("before_wire", "sender's NIC", "A", ("{nic}.tx_dropped", "{nic}.tx_errors")),
    "sender_port": Place("before_wire", "sender's port", "wire", ("{sender_port}.rx_dropped", "{sender_port}.rx_errors")),
    "wire_filter": Place("on_wire", "filter on the wire", "wire", ("{sender_port}.clsact",)),
    "receiver_port": Place("at_receiver", "receiver's port", "wire",
                           ("{receiver_port}.tx_dropped", "{receiver_port}.tx_errors", "{receiver_port}.qdisc")),
    "receiver_nic": Place("at_receiver", "receiver's NIC", "B",
                          ("{nic}.rx_dropped", "{nic}.rx_errors", "{nic}.rx_missed_errors")),
    "receiver_ring": Place("at_receiver", "receiver's full ring", "B", ("{nic}.rx_missed_errors",), within="receiver_nic"),
}
_RECEIVER = {
    "softnet": Place("at_receiver", "receiver's softnet queue", "B", ("softnet.dropped",), within="receiver_nic"),
    "ip": Place("at_receiver", "receiver's IP", "B", ("Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors",
                                                   "Ip6InDiscards", "Ip6InHdrErrors", "Ip6InAddrErrors")),
    "udp_checksum": Place("at_receiver", "UDP checksum", "B", ("Udp.InCsumErrors", "Udp6InCsumErrors")),
    "receive_buffer": Place("at_receiver", "receive buffer", "B", ("Udp.RcvbufErrors", "Udp.MemErrors", "Udp6RcvbufErrors",
                                                                             "Udp6MemErrors")),
    "no_listener": Place("at_receiver", "nobody listening", "B", ("Udp.NoPorts", "Udp6NoPorts")),
    "late": Place("at_receiver", "too late for the receiver"),
}

# A referee on the ends' NICs stands before the sender's queue (tcx egress) and behind the receiver's ring (XDP): these places
# are between it and the wire.
BEHIND_SENDER = ("sender_qdisc", "sender_nic")
BEFORE_RECEIVER = ("receiver_ring", "receiver_nic")

# What happens behind the NIC of the receiving kernel.
KERNEL = ("ip", "udp_checksum", "receive_buffer", "no_listener")


def places(own):
    """{PLACE: Place} with a transport's own places: those of its sender come first, those of its receiver after the NIC."""
    sender = {name: place for name, place in own.items() if place.stretch == "before_wire"}
    return {**sender, **_WAY, **own, **_RECEIVER}


PLACES = places({})


def merge_places(machines, programs, known):
    """
    {PLACE: n} of a run: what the programs know goes before what the counters of the machines say. A loss of a program that such
    a counter may have, too (Place.within), is taken from that.
    """
    found = {**machines, **programs}
    for name, n in programs.items():
        whole = known[name].within if name in known else None
        if whole in found:
            found[whole] = max(0, found[whole] - n)
    return found


def without_taken(machines, dropped):
    """
    machines without the packets that the receiver's XDP program took. It ends them by XDP_DROP, which some drivers count in
    rx_dropped (virtio_net) and others do not (veth).
    """
    nic = machines.get("receiver_nic", 0)
    return {**machines, "receiver_nic": nic - dropped} if dropped and nic >= dropped else machines


def difference(a, b):
    return None if a is None or b is None else a - b


def add(values):
    """The sum, or None if any value is unknown."""
    values = list(values)
    return None if not values or any(v is None for v in values) else sum(values)


def account(sent, on_wire, left_wire, received, lost, known=PLACES):
    """
    The packet fields of a row. Counts are packets of the row's data direction; None: unknown. lost: {PLACE: n}, packets
    that the place's own counter says it lost. known: the Places of the row.
    """
    row = {
        "unit": "packet", "sent": sent, "on_wire": on_wire, "received": received,
        "lost_before_wire": difference(sent, on_wire),
        "lost_on_wire": difference(on_wire, left_wire),
        "lost_at_receiver": difference(left_wire, received),
        "losses": {place: n for place, n in lost.items() if n},
    }
    by_stretch = {stretch: difference(row[LOST[stretch]],
                                      sum(n for place, n in lost.items() if known[place].stretch == stretch))
                  for stretch in STRETCHES}
    row["unexplained"] = difference(difference(sent, received), sum(lost.values()))
    # too much on one stretch must not hide too little on another
    row["unexplained_by_stretch"] = by_stretch
    return row


def explained(row):
    """Whether counters of the same stretch explain every loss of the row."""
    return all(n == 0 for n in row["unexplained_by_stretch"].values())


def sequence_packets(packets, payload_bytes, size, other_size):
    """
    Of `packets` datagrams with `payload_bytes` in all, the number that have `size` bytes. The others have `other_size`
    (end markers, a tool's hello). None if the figures do not add up that way.
    """
    if size == other_size or packets == 0:
        return packets
    whole, rest = divmod(payload_bytes - packets * other_size, size - other_size)
    return whole if rest == 0 and 0 <= whole <= packets else None


def retransmitted(sent, on_wire, duplicates_on_wire):
    """RC: packets sent more than once. Every PSN was sent once: the packets on the wire that are no duplicates."""
    return difference(sent, difference(on_wire, duplicates_on_wire))


def mean_std(values):
    """Mean and sample standard deviation (None for fewer than two values). Both None without values."""
    values = [v for v in values if v is not None]
    if not values:
        return {"mean": None, "std": None}
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return {"mean": mean, "std": None}
    return {"mean": mean, "std": math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))}


def mean(values):
    return mean_std(values)["mean"]


def measuring(runs):
    """The runs whose rates count: those without a referee, if there are any."""
    return [run for run in runs if not run["refereed"]] or runs


def losses(run):
    """{PLACE: n} of a run, where something was lost."""
    return {place: n for place, n in run["places"].items() if n}


def one(run):
    """A run of a row, as the report has it."""
    return {**{name: run[name] for name in ("number", "block", "refereed", "repeated", "missing", "mark")},
            **{name: run[name] for name in ("goodput_gbps", "goodput_min_gbps", "pairs_gbps", "flow_gbps", "sent", "sent_s", "on_wire",
                                       "received")},
            "lost": difference(run["sent"], run["received"]), "losses": losses(run), "messages": run["messages"],
            **{name: run[name] for name in ("sender_cores", "receiver_cores", "latency_us", "latency_histogram")},
            "ns_per_packet": ns_per_packet(run),
            **{name: run[name] for name in ("joules", "flow_control", "loss_details", "receive_buffer", "dialogue",
                                            "calls", "requests", "pressure")}}


def ns_per_packet(run):
    """
    {"sender", "receiver"}: CPU time (ns) of that end's whole machine for each packet that it sent or received. None: unknown.
    """
    packets = {"sender": run["sent"], "receiver": run["received"]}
    return {end: busy * 1e9 / packets[end] if busy is not None and packets[end] else None
            for end, busy in run["busy_s"].items()}


def merge(runs, known=PLACES):
    """
    One row from several runs of it: goodput, cores and the cost of a packet are averaged, its least window is the least of all
    runs, latencies are pooled, and counts are summed; the counts of refereed runs only, if there are any. known: the Places of the
    row's transport.
    """
    timed, watched = measuring(runs), [run for run in runs if run["refereed"]]
    counting = counted(watched or runs)
    row = {**_counts(counting, known), "counted": len(counting)}
    row["goodput_gbps"] = mean_std([run["goodput_gbps"] for run in timed])
    least = [run["goodput_min_gbps"] for run in timed]
    row["goodput_min_gbps"] = min((each for each in least if each is not None), default=None)
    row["pairs_gbps"] = fair_share([run["pairs_gbps"] for run in timed])
    row["flow_gbps"] = _mean_quantiles([run["flow_gbps"] for run in timed])
    row["sender_cores"], row["receiver_cores"] = _cores(timed, "sender_cores"), _cores(timed, "receiver_cores")
    costs = [ns_per_packet(run) for run in timed]
    row["ns_per_packet"] = {end: mean([cost[end] for cost in costs]) for end in ("sender", "receiver")}
    latencies = [run["latency_us"] for run in timed if run.get("latency_us")]
    row["latency_us"] = max(latencies, key=slowest, default=None)
    row["latency_pooled_us"] = latency.pooled(timed)
    buffers = [run["receive_buffer"] for run in watched or runs if run.get("receive_buffer")]
    row["receive_buffer"] = max(buffers, key=lambda each: each["unread_us"]) if buffers else None
    row["referee"] = {"runs": len(watched), "goodput_ratio": _ratio(watched, timed) if watched != timed else None}
    return row


def slowest(figures):
    """What tells which is slower: not every tool knows the maximum."""
    return figures["mean"] if figures["max"] is None else figures["max"]


COUNTS = ("sent", "on_wire", "left_wire", "received", "retransmitted")


def counted(runs):
    """
    The runs that know each count that any of them knows, so that their sums belong together. All, if less than half of them know that
    much.
    """
    def known(run):
        return {name for name in COUNTS if run[name] is not None} | {name for name, n in run["messages"].items() if n is not None}

    every = set().union(*map(known, runs))
    whole = [run for run in runs if known(run) == every]
    return whole if 2 * len(whole) >= len(runs) else runs


def fair_share(runs):
    """{"least", "most"}: the goodput of the pairs with the least and the most, means over runs. None: there is one pair."""
    pairs = [mean(each) for each in zip(*(run for run in runs if run))]
    if any(goodput is None for goodput in pairs):
        return None
    return {"least": min(pairs), "most": max(pairs)} if pairs else None


# percent, as userspace/traffic/streams/report.c has them
QUANTILES = {"least": 0, "p10": 10, "q1": 25, "median": 50, "q3": 75, "p90": 90, "most": 100}


def quantiles(figures):
    """{name: figure} of QUANTILES, each by the nearest rank. None: there are no figures."""
    ranked = sorted(figures or [])
    return {name: ranked[max(1, -(-percent * len(ranked) // 100)) - 1] for name, percent in QUANTILES.items()} if ranked else None


def _mean_quantiles(runs):
    """Each a mean over the runs that know them."""
    known = [run for run in runs if run]
    return {name: mean([run[name] for run in known]) for name in QUANTILES} if known else None


def gbits(run, packet_payload, size):
    """
    Payload that arrived in a run, Gbit; packet_payload (None: packets differ) and size (of a message): bytes. None: not known.
    """
    for count, each in ((run["received"], packet_payload), (run["messages"]["received"], size)):
        if count and each:
            return count * each * 8 / 1e9
    return None


def ns_per_gbit(runs, packet_payload, size):
    """{"sender", "receiver"}: CPU time (ns) of that end's whole machine for each Gbit that arrived, mean of measuring runs."""
    carried = [(run["busy_s"], gbits(run, packet_payload, size)) for run in measuring(runs)]
    return {end: mean([busy[end] * 1e9 / gbit for busy, gbit in carried if gbit and busy[end] is not None])
            for end in ("sender", "receiver")}


def joules_per_gbit(runs, packet_payload, size):
    """Energy for each Gbit of payload that arrived, over the measuring runs that know both. None: there is none."""
    each = [(run["joules"], gbits(run, packet_payload, size)) for run in measuring(runs)]
    known = [(joules, carried) for joules, carried in each if joules is not None and carried]
    return sum(joules for joules, _ in known) / sum(carried for _, carried in known) if known else None


def _cores(runs, side):
    return {kind: mean([run[side][kind] for run in runs]) for kind in ("process", "system")}


def _ratio(watched, timed):
    """What the referee leaves of the goodput."""
    with_it, without = (mean([run["goodput_gbps"] for run in runs]) for runs in (watched, timed))
    return with_it / without if with_it and without else None


def _counts(runs, known):
    row = account(*(add(run[name] for run in runs) for name in ("sent", "on_wire", "left_wire", "received")),
                  _sum_places([run["places"] for run in runs], known), known)
    row["retransmitted"] = add(run["retransmitted"] for run in runs)
    row["messages"] = {name: add(run["messages"][name] for run in runs) for name in ("sent", "received", "lost")}
    row["rxe_agrees"], row["rxe_sent"] = _agreements([run["rxe_agrees"] for run in runs])
    return row


def _sum_places(dicts, known):
    return {place: sum(d.get(place, 0) for d in dicts) for place in known if any(place in d for d in dicts)}


def agreement(rxe, referee):
    """
    Whether rxe's hw_counters (sent_pkts of both ends) equal the referee's counts, {end: packets} each. None if one is
    unknown.
    """
    if any(n is None for n in (*rxe.values(), *referee.values())):
        return None
    return {"agrees": rxe == referee, "rxe": rxe, "referee": referee}


def _agreements(each):
    """Over the runs of which it is known: they agree if each run does."""
    each = [a for a in each if a is not None]
    if not each:
        return None, None
    counts = {who: {end: sum(a[who][end] for a in each) for end in each[0][who]} for who in ("rxe", "referee")}
    return all(a["agrees"] for a in each), counts
