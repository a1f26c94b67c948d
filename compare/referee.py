# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`rocescope monitor` on both ports of the wire, in both directions: what entered the wire and what left it. Between machines
there is no neutral wire: it is then on their NICs.

Each port has its own process: interfaces of one process share a stream table, and here each packet passes both ports.
"""
import collections
import itertools
import json
import signal

from compare import PATIENCE_S, join
from lab import LabError

COMMAND = "build/rocescope"
MOST_PORTS = 4      # of --udp
INTERVAL_S = 3600   # of the referee, of which only the final snapshot is needed


class RefereeFailed(LabError):
    """It ended: one line."""


class NoReferee(RefereeFailed):
    """It could not even start, so it will not for other rows."""


class Referee:
    """
    with Referee(lab, row, icrc) as referee: (traffic); then referee.seen["A"] and ["B"] are the Sightings at the ports of
    senders and receivers.
    """

    def __init__(self, lab, row, icrc):
        self._lab, self._ip = lab, row.ip
        self._options = ["--direction", "both", "-j", "--interval", INTERVAL_S, "--icrc", icrc,
                         "--udp", ",".join(str(row.port + number) for number in range(len(lab.pairs)))]
        self.seen = {}
        self.modes = {}

    def __enter__(self):
        self._running = {}
        for end in self._lab.ends:
            where, device = self._lab.sight(end)
            self._running[end] = self._lab.start(where, [COMMAND, "monitor", device, *self._options])
        for process in self._running.values():
            if not process.expect("watching", PATIENCE_S):
                try:
                    self._end()
                except RefereeFailed as error:
                    raise NoReferee(str(error)) from None
                raise NoReferee(f"the referee did not start: {_last_line(process.stderr)}")
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        for process in self._running.values():
            process.kill(signal.SIGINT)
        snapshots = {}
        for end, process in self._running.items():
            result = process.wait(PATIENCE_S)
            if result.rc == 0:
                snapshots[end] = json.loads(result.stdout.splitlines()[-1])
                self.modes[end[0]] = snapshots[end]["interfaces"][0]["mode"]
            elif result.rc != -signal.SIGINT:
                raise RefereeFailed(f"the referee failed: {_last_line(result.stderr)}")
        if len(snapshots) == len(self._lab.ends):
            self.seen = {side: Together([self._sightings(pair, snapshots[pair.end[side]]) for pair in self._lab.pairs])
                         for side in "AB"}

    def _sightings(self, pair, snapshot):
        return Sightings(snapshot, pair.address("A", self._ip), pair.address("B", self._ip))


def _last_line(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1]


class Beside:
    """A command of rocescope on an end, beside a run: with Beside(...): (traffic). Its lines are then in `lines`, read as JSON."""
    READY = "watching"      # what it says when it has begun
    INTERVAL_S = 0.5        # a QP whose life is shorter may be missed, or not be told from one that made no calls

    def __init__(self, lab, end, *words):
        self._lab, self._end, self._words = lab, end, (*words, "--interval", self.INTERVAL_S)
        self.lines = []

    def __enter__(self):
        self._process = self._lab.start(self._end, [COMMAND, *self._words, "-j"])
        if not self._process.expect(self.READY, PATIENCE_S):
            self._process.kill()
            raise RefereeFailed(f"{self._words[0]} did not start: {_last_line(self._process.stderr)}")
        return self

    def __exit__(self, *_):
        self._process.kill(signal.SIGINT)
        result = self._process.wait(PATIENCE_S)
        if result.rc:
            raise RefereeFailed(f"{self._words[0]} failed: {_last_line(result.stderr)}")
        self.lines = [json.loads(line) for line in result.stdout.splitlines()]


class Watcher(Beside):
    """
    `rocescope monitor` on the end where the requester is: its RDMA netlink says which responses belong to which requests, which
    the wire does not. Then `dialogue` is as of Sightings. lab: of several pairs one.
    """

    def __init__(self, lab, end):
        super().__init__(lab, end, "monitor", lab.netif(end), "--direction", "both", "--icrc", "off")

    @property
    def dialogue(self):
        return merged_dialogues([dialogue_of(snapshot["streams"]) for snapshot in self.lines])


class Calls(Beside):
    """`rocescope verbs` on an end: what the row's programs post and complete there. A check of what they say themselves."""
    READY = '"rocescope.verbs/1"'   # its first line: the probes are there by then

    def __init__(self, lab, end):
        # a probe that is taken away meanwhile would leave half a count
        super().__init__(lab, end, "verbs", "--calls", "--most", "100")

    @property
    def counts(self):
        return calls_of(self.lines[-1]["qps"]) if self.lines else None


def calls_of(qps):
    """
    What was posted and completed by QPs of a rocescope.verbs/1: {"qps", "unseen" (of these, whose calls could not be counted), "posts",
    "wrs", "refused", "completions", "recv_completions", "errors", "latency_us": {"count", "mean"}}. None: there were none. Pure.
    """
    seen = [qp["calls"] for qp in qps if qp["calls"]]
    users = [qp for qp in qps if qp["calls"] or qp["pid"] and qp["type"] in ("RC", "UC", "UD", "XRC_INI", "XRC_TGT")]
    if not users:
        return None
    # the passive side of WRITE and READ makes no calls
    unseen = [qp for qp in users if not qp["calls"] and qp["calls_seen"] != "passive"]
    latencies = [calls["latency"] for calls in seen if calls["latency"]["count"]]
    count = sum(each["count"] for each in latencies)
    mean = sum(each["count"] * each["mean_ns"] for each in latencies) / count / 1000 if count else None
    return {"qps": len(users), "unseen": len(unseen),
            **{name: sum(calls[name] for calls in seen) for name in ("posts", "wrs", "completions", "recv_completions")},
            "refused": sum(calls["wrs_refused"] for calls in seen),
            "errors": sum(n for calls in seen for status, n in calls["statuses"].items() if status != "SUCCESS"),
            "latency_us": {"count": count, "mean": mean}}


def dialogue_of(streams):
    """What held requesters back, by streams of a rocescope.snapshot/1. Those without traffic do not count. Pure."""
    return merged_dialogues([{"limits": {s["dialogue"]["limit"]: 1}, **s["dialogue"]} for s in streams
                             if s.get("dialogue") and s["dialogue"]["limit"] not in ("idle", "unknown")])


class Sightings:
    """What one port saw between the guests with these addresses. Pure: made from a rocescope.snapshot/1."""

    def __init__(self, snapshot, sender, receiver):
        self._totals = snapshot["totals"]
        self._streams = {src: [s for s in snapshot["streams"] if (s["src"], s["dst"]) == (src, dst)]
                         for src, dst in ((sender, receiver), (receiver, sender))}
        self._sender, self._receiver = sender, receiver

    @property
    def complete(self):
        """Whether it saw and judged every frame. If not, its counts prove nothing."""
        return not any(self._totals.get(name) for name in ("ring_missed", "untracked_packets", "malformed"))

    def roce_packets(self, end="A", side=None):
        """Packets from guest A or B. side: request, response, or None for both."""
        address = self._sender if end == "A" else self._receiver
        return sum(s.get("roce_packets", 0) for s in self._streams[address]
                   if s["service"] != "UDP" and side in (None, s["side"]))

    def acks(self, end):
        """Acknowledgements from guest A or B."""
        return sum(s.get("acks", 0) for s in self._streams[self._sender if end == "A" else self._receiver])

    def duplicates(self):
        """Requests from A with a PSN that this port had seen before."""
        return sum(s.get("psn_duplicates", 0) for s in self._streams[self._sender]
                   if s["service"] != "UDP" and s["side"] == "request")

    def dialogue(self):
        """
        What held the requesters of RC back: {"limits": {LIMIT: streams}, "outstanding_most", "reads_most"}. None: there were
        none, or the wire does not tell which responses belong to which requests.
        """
        return dialogue_of(itertools.chain(*self._streams.values()))

    def requests(self, end):
        """
        RC messages that guest A or B began, and how long their requests waited for answers here: {"messages", "ack_us":
        {"count", "mean"}, "read_us"}. None: as of dialogue().
        """
        address = self._sender if end == "A" else self._receiver
        return merged_requests([{**s, **s["dialogue"]} for s in self._streams[address] if s.get("dialogue")])

    def udp_packets(self, size, other_size):
        """Datagrams from A with `size` bytes of payload, others having `other_size`. None: the figures do not add up."""
        flows = [s for s in self._streams[self._sender] if s["service"] == "UDP"]
        return join.sequence_packets(sum(s["udp_packets"] for s in flows), sum(s["payload_bytes"] for s in flows),
                                     size, other_size)


def merged_dialogues(each):
    """One of several; None of none. Pure."""
    told = [one for one in each if one]
    if not told:
        return None
    limits = collections.Counter()
    for one in told:
        limits.update(one["limits"])
    return {"limits": dict(limits), **{name: max(one[name] for one in told) for name in ("outstanding_most", "reads_most")}}


def merged_requests(each):
    """Sums, and means of all. None: there are none. Pure."""
    if not each:
        return None

    def waits(kind):
        told = [one[kind] for one in each if one[kind]["count"]]
        count = sum(one["count"] for one in told)
        return {"count": count, "mean": sum(one["count"] * one["mean"] for one in told) / count if count else None}

    return {"messages": sum(one["messages"] for one in each), "ack_us": waits("ack_us"), "read_us": waits("read_us")}


class Together:
    """The Sightings of several pairs."""

    def __init__(self, each):
        self._each = each

    @property
    def complete(self):
        return all(one.complete for one in self._each)

    def roce_packets(self, *of):
        return sum(one.roce_packets(*of) for one in self._each)

    def duplicates(self):
        return sum(one.duplicates() for one in self._each)

    def acks(self, end):
        return sum(one.acks(end) for one in self._each)

    def dialogue(self):
        return merged_dialogues([one.dialogue() for one in self._each])

    def requests(self, end):
        return merged_requests(list(filter(None, (one.requests(end) for one in self._each))))

    def udp_packets(self, *sizes):
        return join.add(one.udp_packets(*sizes) for one in self._each)
