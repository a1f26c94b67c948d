# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What real fabrics and applications do to the PSNs of a stream, each with its true figures: QPs that are used again, strays, spraying
over paths, going back over long paths, two senders on one QPN, READs of all sizes.

    for case in fabric.cases(random.Random(1), whole): ...      Case(name, packets, want)
"""
import dataclasses
import itertools

from .roce_frames import RC_ACK, aeth, bth, management, reth, roce

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
    alike = "psn_", "messages"  # the beginnings of the counters that oracle.py counts alike
    answers = None
    behind: int = 0     # so many packets at the end come late

    def frames(self, qpn):
        for psn, rkey in self.packets:
            header = reth(0x10000 + psn * len(PAYLOAD), rkey, len(PAYLOAD)) if self.service != RESPONSE else bytes(4)
            yield roce(bth(ONLY[self.service], qpn, psn) + header + PAYLOAD)


WRITE_FIRST, WRITE_LAST = 0x06, 0x08
READ_REQUEST, WRITE_ONLY, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0c, 0x0a, 0x0d, 0x0e, 0x0f, 0x10
PEER = 0x4000       # the requester's QPN less the responder's


@dataclasses.dataclass
class Reads:
    """A requester's READs and WRITEs, and their responses."""
    name: str
    want: dict
    alike: tuple = Case.alike
    answers: dict = dataclasses.field(default_factory=dict)     # the true figures of the responses
    packets: list = dataclasses.field(default_factory=list)     # (opcode, PSN, what is behind the BTH)
    paired: int = 0         # the path MTU that connection management names
    began: int = None       # the PSN that it names; None: that of the first packet
    behind: int = 0         # so many packets at the end come late

    def ask(self, psn, length, va=0, rkey=1):
        self.packets.append((READ_REQUEST, psn, reth(va, rkey, length)))

    def write(self, psn, rkey=1):
        self.packets.append((WRITE_ONLY, psn, reth(0, rkey, len(PAYLOAD)) + PAYLOAD))

    def answer(self, psn, length, mtu, lost=()):
        """Response packets but for those whose PSNs are lost."""
        count = span(length, mtu)
        for i in range(count):
            if (psn + i) % CIRCLE in lost:
                continue
            opcode = READ_ONLY if count == 1 else READ_FIRST if i == 0 else READ_LAST if i == count - 1 else READ_MIDDLE
            data = bytes(mtu if i < count - 1 else length - mtu * i)
            self.packets.append((opcode, psn + i, (b"" if opcode == READ_MIDDLE else aeth(0)) + data + bytes(-len(data) % 4)))

    def frames(self, qpn):
        here, there = {"src": f"10.9.3.{qpn & 255}", "dst": "10.9.0.2"}, {"dst": f"10.9.3.{qpn & 255}", "src": "10.9.0.2"}
        if self.paired:
            yield management(0x10, qpn, 0, PEER + qpn, 0, self.paired, **here)
            yield management(0x13, qpn, qpn, qpn, (self.packets[0][1] if self.began is None else self.began) % CIRCLE, **there)
        for opcode, psn, rest in self.packets:
            response = READ_FIRST <= opcode <= RC_ACK
            yield roce(bth(opcode, (PEER if response else 0) + qpn, psn % CIRCLE) + rest, **(there if response else here))


def span(length, mtu):
    return max(1, -(-length // mtu))


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


def goes_back_before(r, back, overtaken):
    """Met at a PSN that has overtaken some. The sender goes back behind it, twice, not all of which is seen; then it goes on."""
    met, count, naked = r.randrange(CIRCLE), r.randrange(1, 2 * back), r.randrange(2)
    case = Reads(f"rc: met in the middle, {overtaken} packets overtaken, goes back {back} PSNs", {}, paired=naked and 1024, began=met + 2**22)
    order = [0, *range(-overtaken, 0), *range(1, count)]
    for _ in range(2):
        case.packets += [(RC_ACK, met - back, aeth(0x60))] * naked
        missed = r.randrange(-back, count)
        missed = range(missed, missed + r.choice((1, 2000)))
        order += [n for n in range(-back, count) if n not in missed]
    for n in (*order, *range(count, count + 300)):
        case.write(met + n)
    case.want = clean(psn_duplicates=len(order) - count, psn_undecided=0, messages=count + 300)
    return case


def used_before(r, back, first, by):
    """
    Met in the middle; a second connection begins before the first packet seen. by: what proves it. "packet": it comes to that packet;
    "acknowledged": where it begins was acknowledged; "connection": that was known to begin behind it; None: nothing.
    """
    count, n = r.randrange(20, 600), back + 200 if by == "packet" else r.randrange(20, back)
    case = Reads(f"rc: used again from {back} PSNs before the first one seen, proved by {by}", {},
                 paired=1024 * (by in ("acknowledged", "connection")), began=first if by == "connection" else first + 2**22)
    lost = set(r.sample([i for i in range(18, n - 2) if i not in (back, back + 1)], min(3, n - 20)))
    for i in range(count):
        case.write(first + i)
    case.packets += [(RC_ACK, first + count - 1, aeth(0))] * 2 if by == "acknowledged" else []
    for i in range(n):
        if i not in lost:
            case.write(first - back + i, 2)
    come = n - len(lost)
    case.want = clean(len(lost), psn_restarts=1, psn_resyncs=1, restart_by="packet" if by == "packet" else "elsewhere",
                      messages=count + come, psn_duplicates=(0, n), psn_undecided=0)
    if not by:
        case.want = clean(psn_duplicates=come, psn_undecided=come, messages=count)
    return case


def read_before(r, mtu, back):
    """Met in the middle of a READ's response; the READ is asked for again, twice. Then there are others."""
    met, rest = r.randrange(CIRCLE), r.randrange(2, 40)
    case = Reads(f"met in the middle of a READ at {mtu}, which is asked for again {back} PSNs before", clean(psn_duplicates=1, messages=6))
    psns = back + rest
    case.answer(met - back, psns * mtu, mtu, {(met - back + i) % CIRCLE for i in range(back)})
    for _ in range(2):
        case.ask(met - back, psns * mtu)
        case.answer(met - back, psns * mtu, mtu)
    for i in range(5):
        case.ask(met + rest + 8 * i, 8 * mtu)
        case.answer(met + rest + 8 * i, 8 * mtu, mtu)
    case.answers = clean(psn_duplicates=2 * psns, psn_undecided=0, messages=6)
    return case


def overtaken(r, service, behind):
    """Met at a packet that has overtaken some, which come then."""
    met = r.randrange(CIRCLE)
    order = [0, *range(-behind, 0), *range(1, 500)]
    return Case(f"{service}: met at a packet that has overtaken {behind}", service, [((met + n) % CIRCLE, 1) for n in order],
                clean(psn_duplicates=behind, psn_undecided=0, messages=500 + behind * (service == UC)))


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


def reads_lost(r, mtu, largest):
    """READs of all sizes, some of which are lost; a WRITE now and then."""
    case = Reads(f"READs of up to {largest} bytes at {mtu}: some are lost", {})
    psn, lost, n, kept = 0xfff000, 0, 120, 0
    gone = set(r.sample(range(5, n - 2, 3), 20))
    for i in range(n):
        length = r.randrange(1, largest) if i > 4 else largest - i
        if i in gone:
            lost += span(length, mtu)
        else:
            case.ask(psn, length)
            case.answer(psn, min(length, mtu + 1), mtu)
            kept += 1
        psn += span(length, mtu)
        for _ in range(r.choice((0, 0, 1, 3)) if i > 4 else 0):
            case.write(psn)
            psn, kept = psn + 1, kept + 1
    case.want = clean(lost, messages=kept, path_mtu=mtu)
    return case


def reads_retried(r, mtu):
    """READs that are asked for again from inside on, because a part of their responses was lost."""
    case, psn, n, again, least = Reads(f"READs at {mtu}, retried inside", {}), 0, 100, 0, 5 * mtu
    for i in range(n):
        length = r.randrange(least, 12 * mtu)
        case.ask(psn, length, 0x10000)
        case.answer(psn, length, mtu)
        for k in sorted(r.sample(range(5), r.choice((0, 0, 1, 3))) if i > 4 else ()):
            case.ask(psn + k, length - k * mtu, 0x10000 + k * mtu)
            again += 1
        psn += span(length, mtu)
    case.want = clean(0, psn_duplicates=again, messages=n, path_mtu=mtu)
    return case


def mtu_changed(r, before, after, again):
    """The QP is used again with another path MTU. again: from its first PSN on, else where it was."""
    case = Reads(f"READs at {before}, then at {after}, from {'the first PSN' if again else 'the same place'} on", {},
                 ("psn_lost",) if again or after < before else ("psn_", "messages"))
    psn, lost = 5000, 0
    for mtu, rkey in ((before, 1), (after, 2)):
        psn = 5000 if again else psn
        # what the first connection lost would seem to come late in the second one
        gone = set(r.sample(range(10, 118, 4), 5)) if rkey == 2 else ()
        for i in range(120):
            length = r.choice((65536, 65536, 40000, 70001))
            if i in gone:
                lost += span(length, mtu)
            else:
                case.ask(psn, length, rkey=rkey)
                case.answer(psn, mtu + 1, mtu)
            psn += span(length, mtu)
    case.want = {"psn_lost": lost, "psn_restarts": int(again), "messages": 2 * 120 - 5, "path_mtu": after}
    return case


def deep_reads(r, mtu, outstanding, between):
    """So many READs are outstanding, `between` WRITEs between them, and some of their responses are lost."""
    case = Reads(f"{outstanding} READs outstanding at {mtu}, {between} WRITEs between them, responses are lost", clean(0), paired=mtu)
    psn, gone = 100, 0
    case.ask(psn, 1)    # before the first response the other end is not known
    case.answer(psn, 1, mtu)
    psn += 1
    for _ in range(4):
        asked = []
        for _ in range(outstanding):
            asked.append((psn, r.randrange(1, 6 * mtu)))
            case.ask(*asked[-1])
            psn += span(asked[-1][1], mtu)
            for _ in range(between):
                case.write(psn)
                psn += 1
        for at, length in asked:
            every = range(at, at + span(length, mtu))
            last = asked[-1][0] == at   # what is lost at the end of all is not seen
            lost = set() if last else set(every) if r.random() < 0.1 else {n for n in every if r.random() < 0.1}
            case.answer(at, length, mtu, {n % CIRCLE for n in lost})
            gone += len(lost)
    case.answers = {"psn_lost": gone, "psn_duplicates": 0, "psn_restarts": 0, "psn_strays": 0}
    return case


def unseen(r, count, every):
    """The observer misses packets that arrive; others are lost and sent again. Every so many are acknowledged."""
    case = Reads(f"{count} WRITEs, acknowledged by {every}: some are lost, others not seen here", {}, paired=1024)
    hidden = set(r.sample(range(count // 8, count - 2 * every), count // 20))
    lost = set(r.sample(sorted(set(range(3, count - 50)) - hidden - {n - 1 for n in hidden}), count // 50))
    recovered = again = 0
    for i in range(count):
        if i in lost:
            continue
        if i not in hidden:
            case.write(i)
        if i - 1 in lost:    # the responder waits for it: the requester goes back
            first = i - 1
            while first - 1 in lost:
                first -= 1
            case.packets.append((RC_ACK, first, aeth(0x60)))
            for n in range(first, i):
                case.write(n)
                recovered += 1
            if i not in hidden:
                case.write(i)
                again += 1
        if i % every == every - 1:
            case.packets.append((RC_ACK, i, aeth(0x1f)))
    case.write(count + 2)    # what nobody acknowledges is lost
    case.want = clean(2, psn_unseen=len(hidden), psn_recovered=recovered, psn_duplicates=again, messages=count + 1 - len(hidden))
    return case


def unseen_burst(r, outstanding, after):
    """So many packets are acknowledged at once, and few, or none, come after. The observer misses some."""
    case = Reads(f"{outstanding} WRITEs, acknowledged at once, {after} after them: some are not seen here", {}, paired=1024)
    hidden = set(r.sample(range(1, outstanding - 2), 100))
    for n in range(outstanding + after):
        if n not in hidden:
            case.write(n)
        if n == outstanding - 1 or n >= outstanding:
            case.packets += [(RC_ACK, n - 1, aeth(0x1f)), (RC_ACK, n, aeth(0x1f))]
    case.want = clean(0, psn_unseen=100, messages=outstanding + after - 100)
    return case


def two_ports(r, service, count, behind, swapped):
    """
    Two ports of a mirror, of which the second is so many packets behind. swapped: packets of a port that one of the same port has
    overtaken. Returns [(port, packet)] and the stream's true figures.
    """
    port = [r.randrange(2) for _ in range(count)]
    port[0] = 0         # what comes before the first packet is not late
    order = sorted(range(count), key=lambda i: (i + behind * port[i], i))
    for _ in range(swapped):
        i, j = sorted(r.sample(range(1, count), 2))
        if j - i < 200 and port[order[i]] == port[order[j]]:
            order[i], order[j] = order[j], order[i]
    newest, late, crossed = [-1, -1], 0, 0
    for n in order:
        late += n < max(newest)
        crossed += newest[port[n]] < n < max(newest)
        newest[port[n]] = max(newest[port[n]], n)
    case = Case(f"{service}: {count} packets by two ports, one of them {behind} behind, {swapped} swapped", service,
                [(n, 1) for n in order], clean(psn_recovered=late, psn_crossed=crossed))
    return [port[n] for n in order], case


def far_reads(r, deepest, reordered):
    """READs of so many PSNs in all overtake some WRITEs. One of these comes twice, while others are still missing."""
    mtu, count = 256, r.randrange(2, 6)
    case, psn = Reads("rc: READs overtake WRITEs", {}), r.randrange(CIRCLE)
    spans = [b - a - 1 for a, b in itertools.pairwise(sorted({0, deepest, *r.sample(range(2, deepest - 1, 2), count - 1)}))]
    case.packets += [(WRITE_FIRST, psn, reth(0, 1, 2 * mtu) + bytes(mtu)), (WRITE_LAST, psn + 1, bytes(mtu))]
    for n in (3, 2) if reordered else (2, 3):
        case.write(psn + n)
    psn, held = psn + 4, []
    for psns in spans:
        held.append(psn)
        case.ask(psn + 1, psns * mtu - r.randrange(mtu))
        psn += 1 + psns
    late = r.sample(held[1:], count - 1)
    for n in (late[0], *late, held[0]):
        case.write(n)
    case.behind = count + 1
    case.want = clean(0, psn_gaps=count + reordered, psn_recovered=count + reordered, psn_duplicates=1, psn_forgotten=0,
                      messages=3 + 2 * count)
    return case


def far_gap(r, service, deepest, reordered):
    """Of a large gap some packets come late, though not the first; one of them twice."""
    first, gap = r.randrange(CIRCLE), deepest - 2
    late = r.sample(range(4, 3 + gap, 2), r.randrange(2, 20))
    order = [0, *((2, 1) if reordered else (1, 2)), 3 + gap, 4 + gap, *late, late[0]]
    case = Case(f"{service}: a part of a large gap comes late", service, [((first + n) % CIRCLE, 1) for n in order],
                clean(gap - len(late), psn_gaps=1 + reordered, psn_recovered=len(late) + reordered, psn_duplicates=1, psn_forgotten=0))
    case.behind = len(late) + 1
    return case


def far(r, streams, depths, reordered):
    """So many streams with packets that are so late that each needs a late window. reordered: others were late before."""
    for i in range(streams):
        deepest = (depths[-1], depths[0], r.choice(depths))[min(i // 2 % 8, 2)]
        yield far_reads(r, deepest, reordered) if i % 2 else far_gap(r, r.choice((RC, UC)), deepest, reordered)


def reads(r, whole, few):
    for mtu in few(256, 1024, 4096):
        yield reads_lost(r, mtu, r.choice((20 * mtu, 200 * mtu)))
        yield reads_retried(r, mtu)
    for before, after in few((4096, 1024), (2048, 256)) + few((1024, 4096), (256, 512)):
        yield mtu_changed(r, before, after, True)
        yield mtu_changed(r, before, after, False)
    for outstanding, between in ((128, 0), (128, 1), (16, 1), *few((16, 5), (64, 0), (100, 3), (143, 2))):
        yield deep_reads(r, few(256, 1024)[0], outstanding, between)


def cases(r, whole):
    """whole: more of everything, which takes a while."""
    few = (lambda *values: values) if whole else (lambda *values: (r.choice(values),))
    for service in (RC, UC):
        for first in few(0, 1000, 0xffff00):
            for count in few(300, 2500, 9000):
                yield used_again(r, service, first, count, first, "packet" if service == RC else "run")
                yield used_again(r, service, first, count, (first + r.randrange(1, count - 50)) % CIRCLE,
                                 "packet" if service == RC else "run")
                if service == UC:
                    yield used_again(r, service, first, count, (first - 300) % CIRCLE, "run")
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
    for back in few(3, 12, 30, 300) + few(1100, 5000) + ((66000,) if whole else ()):
        yield goes_back_before(r, back, min(back, r.choice((0, 1, 5, 20))))
        for service in (RC, UC, RESPONSE):
            yield overtaken(r, service, back)
        yield read_before(r, few(256, 1024)[0], min(back, 300))
        for by in ("packet", "acknowledged", "connection", None):
            yield used_before(r, max(back, 30), few(7, 5000, 0xfffff0)[0], by)
    for depth in few(900, 1500) + (few(30000, 65000) if whole else (12000,)):
        yield went_back(r, depth + 500, r.randrange(20, 60), depth)
    yield sent_again(800000 if whole else 5000)
    for distance in few(100000, 2**23 - 100) + few(2**23 + 5, 2**23 + 100000, 2**24 - 66600):
        yield responses(distance)
    yield from reads(r, whole, few)
    for count in few(300, 1000, 5000):
        yield unseen(r, count, r.choice((1, 4, 16)))
    for outstanding in few(900, 1500, 5000, 60000 if whole else 20000):
        yield unseen_burst(r, outstanding, r.choice((0, 100, 600)))
