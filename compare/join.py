# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What sender, referee and receiver counted becomes the accounting of one row: pure, no lab.

The packets' way has three stretches, each between two counts of packets, and on each the places that can lose some:

    sender --- before the wire --- sender's port --- wire --- receiver's port --- at the receiver --- receiver

A loss is the difference of two counts. Where it happened is said by the counters of the places on that stretch and by
nothing else; what they do not explain is `unexplained`.
"""
import math
from typing import NamedTuple

STRETCHES = ("before_wire", "on_wire", "at_receiver")
LOST = {"before_wire": "lost_before_wire", "on_wire": "lost_on_wire", "at_receiver": "lost_at_receiver"}


class Place(NamedTuple):
    """One that can lose a packet."""
    stretch: str
    words: str              # for people
    where: str = None       # "A", "B" or "wire": who counts there; None: the programs do
    counters: tuple = ()    # names in counters.Counters, to be summed; {nic}, {sender_port} and {receiver_port} are filled in


# Between the program that sends and the kernel that receives, in the order a packet passes them.
_WAY = {
    "sender_qdisc": Place("before_wire", "sender's qdisc", "A", ("{nic}.qdisc",)),
    "sender_nic": Place("before_wire", "sender's NIC", "A", ("{nic}.tx_dropped", "{nic}.tx_errors")),
    "sender_port": Place("before_wire", "sender's tap", "wire", ("{sender_port}.rx_dropped", "{sender_port}.rx_errors")),
    "wire_filter": Place("on_wire", "filter on the wire", "wire", ("{sender_port}.clsact",)),
    "receiver_port": Place("at_receiver", "receiver's tap queue", "wire",
                           ("{receiver_port}.tx_dropped", "{receiver_port}.tx_errors", "{receiver_port}.qdisc")),
    "receiver_nic": Place("at_receiver", "receiver's NIC", "B",
                          ("{nic}.rx_dropped", "{nic}.rx_errors", "{nic}.rx_missed_errors")),
}
_RECEIVER = {
    "softnet": Place("at_receiver", "receiver's softnet queue", "B", ("softnet.dropped",)),
    "ip": Place("at_receiver", "receiver's IP", "B", ("Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors")),
    "udp_checksum": Place("at_receiver", "UDP checksum", "B", ("Udp.InCsumErrors",)),
    "receive_buffer": Place("at_receiver", "receive buffer", "B", ("Udp.RcvbufErrors", "Udp.MemErrors")),
    "no_listener": Place("at_receiver", "nobody listening", "B", ("Udp.NoPorts",)),
    "late": Place("at_receiver", "too late for the receiver"),
}


def places(own):
    """{PLACE: Place} with own ones of a transport: those of its sender come first, those of its receiver behind the NIC."""
    sender = {name: place for name, place in own.items() if place.stretch == "before_wire"}
    return {**sender, **_WAY, **own, **_RECEIVER}


PLACES = places({})


def difference(a, b):
    return None if a is None or b is None else a - b


def add(values):
    """The sum; None as soon as one is unknown."""
    values = list(values)
    return None if not values or any(v is None for v in values) else sum(values)


def account(sent, on_wire, left_wire, received, lost, known=PLACES):
    """
    The packet fields of a row. Counts are packets of the row's data direction, None: not known. lost: {PLACE: n}, packets
    that the place's own counter says it lost. known: the Places that those are among.
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
    row["unexplained"] = add(by_stretch.values())
    # Too much on one stretch must not hide too little on another.
    row["unexplained_by_stretch"] = by_stretch
    return row


def explained(row):
    """Is every loss of the row explained by counters of its own stretch?"""
    return all(n == 0 for n in row["unexplained_by_stretch"].values())


def sequence_packets(packets, payload_bytes, size, other_size):
    """
    Of `packets` datagrams with `payload_bytes` in all, those of `size` bytes; the rest are of `other_size` (end markers,
    a tool's hello). None when the figures do not add up that way.
    """
    if size == other_size or packets == 0:
        return packets
    whole, rest = divmod(payload_bytes - packets * other_size, size - other_size)
    return whole if rest == 0 and 0 <= whole <= packets else None


def retransmitted(sent, on_wire, duplicates_on_wire):
    """RC: what was sent more than once. What was on the wire less the PSNs seen before is every PSN once."""
    return difference(sent, difference(on_wire, duplicates_on_wire))


def mean_std(values):
    """Mean and sample standard deviation (None for fewer than two); both None without values."""
    values = [v for v in values if v is not None]
    if not values:
        return {"mean": None, "std": None}
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return {"mean": mean, "std": None}
    return {"mean": mean, "std": math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))}


def mean(values):
    return mean_std(values)["mean"]


def merge(runs, known=PLACES):
    """
    One row of several runs of it: counts are summed, goodput and cores averaged, latency of the slowest run. known: the
    Places of the row's transport.
    """
    def cores(side):
        return {kind: mean([run[side][kind] for run in runs]) for kind in ("process", "system")}

    row = account(*(add(run[name] for run in runs) for name in ("sent", "on_wire", "left_wire", "received")),
                  _sum_places([run["places"] for run in runs], known), known)
    row["retransmitted"] = add(run["retransmitted"] for run in runs)
    row["messages"] = {name: add(run["messages"][name] for run in runs) for name in ("sent", "received", "lost")}
    row["goodput_gbps"] = mean_std([run["goodput_gbps"] for run in runs])
    row["sender_cores"], row["receiver_cores"] = cores("sender_cores"), cores("receiver_cores")
    latencies = [run["latency_us"] for run in runs if run.get("latency_us")]
    row["latency_us"] = max(latencies, key=lambda each: each["max"]) if latencies else None
    row["rxe_agrees"], row["rxe_sent"] = _agreements([run["rxe_agrees"] for run in runs])
    return row


def _sum_places(dicts, known):
    return {place: sum(d.get(place, 0) for d in dicts) for place in known if any(place in d for d in dicts)}


def agreement(rxe, referee):
    """
    Do rxe's hw_counters (sent_pkts of both ends) say what the referee counted? {end: packets} each; None where one is
    not known.
    """
    if any(n is None for n in (*rxe.values(), *referee.values())):
        return None
    return {"agrees": rxe == referee, "rxe": rxe, "referee": referee}


def _agreements(each):
    """Of all runs: they agree if every single one does."""
    if any(a is None for a in each):
        return None, None
    counts = {who: {end: sum(a[who][end] for a in each) for end in each[0][who]} for who in ("rxe", "referee")}
    return all(a["agrees"] for a in each), counts
