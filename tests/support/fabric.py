# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What real fabrics and applications do to the PSNs of a stream, each with its true figures: QPs that are used again, strays, spraying
over paths, going back over long paths, two senders on one QPN.

    for case in fabric.cases(random.Random(1), whole): ...      Case(name, packets, want)
"""
import dataclasses

from .roce_frames import bth, reth, roce

RC, UC, RESPONSE = "rc", "uc", "response"
ONLY = {RC: 0x0a, UC: 0x2a, RESPONSE: 0x10}     # RDMA WRITE Only; READ response Only
CIRCLE = 2**24
PAYLOAD = bytes(8)


@dataclasses.dataclass
class Case:
    name: str
    service: str
    packets: list   # (PSN, rkey); the rkey tells connections apart
    want: dict      # counter of the stream: its true value, or (least, most)

    def frames(self, qpn):
        for psn, rkey in self.packets:
            header = reth(0x10000 + psn * len(PAYLOAD), rkey, len(PAYLOAD)) if self.service != RESPONSE else bytes(4)
            yield roce(bth(ONLY[self.service], qpn, psn) + header + PAYLOAD)


def run(first, count, rkey=1, lost=()):
    return [((first + i) % CIRCLE, rkey) for i in range(count) if i not in lost]


def clean(lost=0, **more):
    """The figures of a stream with so many lost packets and nothing else that is wrong."""
    return {"psn_lost": lost, "psn_duplicates": 0, "psn_restarts": 0, "psn_resyncs": 0, "psn_strays": 0, "psn_interleaved": 0,
            "psn_late_unknown": 0, **more}


def used_again(r, service, first, count, again, by):
    """A second connection begins at PSN `again`, without a handshake."""
    n = r.choice((100, 400)) if again in (first, (first - 300) % CIRCLE) else count + 200
    lost = set(r.sample(range(20, n - 2), 3))
    name = f"{service}: {count} PSNs from {first}, then used again from {again}"
    return Case(name, service, run(first, count) + run(again, n, 2, lost),
                clean(3, psn_restarts=1, psn_resyncs=1, restart_by=by, messages=count + n - 3, psn_duplicates=(0, n)))


def elsewhere(r, service, count, distance):
    """A second connection, too far away to be late or lost."""
    again, lost = (count + distance) % CIRCLE, set(r.sample(range(2, 150), 4))
    return Case(f"{service}: {count} PSNs, then again from {distance} farther", service, run(0, count) + run(again, 200, 2, lost),
                clean(4, psn_restarts=1, psn_resyncs=1, restart_by="elsewhere", messages=count + 196))


def stray(r, service, distance, count=2000):
    at = r.randrange(10, count - 10)
    packets = run(5, count)
    packets.insert(at, ((5 + at + distance) % CIRCLE, 7))
    passed = 1024 < distance < count - at
    return Case(f"{service}: a stray {distance} PSNs off", service, packets,
                clean(psn_strays=int(passed or not 0 < distance < 65536), messages=count + (service == UC)))


def large_gap(service, gap, more):
    """more: packets behind the gap. One alone proves nothing."""
    packets = run(9, 500) + run(509 + gap, more)
    return Case(f"{service}: a gap of {gap}, {more} packets behind it", service, packets,
                clean(gap if more > 1 else 0, psn_gaps=int(more > 1), messages=500 + (more if more > 1 or service == UC else 0)))


def sprayed(r, service, count, deepest, paths=8):
    """Each packet takes the next path; paths have delays of up to `deepest` packets."""
    delay = [0, deepest, *(r.randrange(deepest + 1) for _ in range(paths - 2))]
    order = sorted(range(count), key=lambda i: (i + delay[i % paths], i))
    packets = run(0xfff000, 10) + [((0xfff00a + i) % CIRCLE, 1) for i in order]
    return Case(f"{service}: sprayed over {paths} paths, {deepest} packets deep", service, packets,
                clean(messages=count + 10, psn_forgotten=0))


def went_back(r, count, losses, depth):
    """Go-back-N over a long path; everything comes the second time, but for one packet."""
    lost = sorted(r.sample(range(count - depth, count), losses + 1))
    gone = lost.pop(r.randrange(losses))
    again = [p for p in run(count - depth, depth) if p[0] != gone]
    return Case(f"rc: {losses} losses, found {depth} PSNs later", RC,
                run(0, count, 1, {gone, *lost}) + again + run(count, 100),
                clean(1, psn_recovered=losses, psn_duplicates=depth - 1 - losses, messages=count + 99, psn_forgotten=0))


def sent_again(count):
    """The same packets once more, because acknowledgements were lost."""
    return Case(f"rc: {count} packets sent again", RC, run(77, count) + run(77, count) + run(77 + count, 50),
                clean(psn_duplicates=count, messages=count + 50))


def too_late(r, service, by):
    """A packet comes when its hole is too old to be remembered."""
    count = 70000 + by
    packets = run(0, count, 1, {100})
    packets.insert(100 + by, (100, 1))
    known = by <= 65536
    rc = service == RC
    return Case(f"{service}: a packet {by} PSNs late", service, packets,
                clean(0 if known else 1, psn_recovered=int(known), psn_late_unknown=int(rc and not known),
                      psn_strays=int(not rc and not known), messages=count if known or not rc else count - 1))


def two_senders(r, service, burst, turns=60):
    """Both send to the same QPN, from places far away from each other."""
    at, packets, sent = [1000, 5000000], [], 0
    for turn in range(turns):
        n = r.randrange(1, burst + 1)
        packets += run(at[turn % 2], n, 1 + turn % 2)
        at[turn % 2] += n
        sent += n
    return Case(f"{service}: two senders on one QPN, {burst} packets in turn", service, packets,
                {"psn_lost": 0, "psn_interleaved": (sent // 4, sent), "psn_restarts": (0, 9), "psn_duplicates": 0})


def every_other(service, step, count=300):
    """PSNs are never consecutive; then it begins elsewhere."""
    packets = [(i * step, 1) for i in range(count)] + [(9000000 + i * step, 2) for i in range(count)]
    return Case(f"{service}: every PSN is {step} more than the last", service, packets,
                clean(2 * (count - 1) * (step - 1), psn_restarts=1, psn_resyncs=1, messages=2 * count, psn_gaps=2 * (count - 1)))


def responses(distance):
    """READ responses, between which other requests take PSNs."""
    packets = [p for i in range(6) for p in run(i * distance % CIRCLE, 20)]
    return Case(f"responses, each time {distance} PSNs on", RESPONSE, packets, clean(messages=120))


def cases(r, whole):
    """whole: more of everything, which takes a while."""
    few = (lambda *values: values) if whole else (lambda *values: (r.choice(values),))
    for service in (RC, UC):
        for first in few(0, 1000, 0xffff00):
            for count in few(300, 2500, 9000):
                yield used_again(r, service, first, count, first, "packet" if service == RC else "run")
                yield used_again(r, service, first, count, (first + r.randrange(1, count - 50)) % CIRCLE,
                                 "packet" if service == RC else "run")
                yield used_again(r, service, first, count, (first - 300) % CIRCLE, "elsewhere" if service == RC else "run")
        for distance in few(66000, 200000, 8000000, -5000000, -8000000):
            yield elsewhere(r, service, 3000, distance)
            yield stray(r, service, distance)
        for distance in few(1100, 1500) + few(5000, 60000):
            yield stray(r, service, distance)
        for gap in few(1025, 5000) + few(60000, 65535):
            yield large_gap(service, gap, 1)
            yield large_gap(service, gap, 40)
        for deepest in few(30, 900) + (few(3000, 10000, 20000) if whole else (3000,)):
            yield sprayed(r, service, 2 * deepest + 500, deepest)
        for by in few(60000, 65536, 66561, 69000) if whole or service == UC else ():
            yield too_late(r, service, by)
        for burst in few(1, 3) + few(10, 64):
            yield two_senders(r, service, burst)
        for step in few(2, 5, 1000):
            yield every_other(service, step)
    for depth in few(900, 1500) + (few(30000, 65000) if whole else (12000,)):
        yield went_back(r, depth + 500, r.randrange(20, 60), depth)
    yield sent_again(800000 if whole else 5000)
    for distance in few(100000, 2**23 - 100) + few(2**23 + 5, 2**23 + 100000, 2**24 - 66600):
        yield responses(distance)
