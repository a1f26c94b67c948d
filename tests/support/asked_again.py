# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Dialogues of RC for tests/doctor_causes.test: requests that come again, READs and their responses, and requesters that go back; right
ones, and with one mistake each. Parts take d (a Doctor, whose case() judges) and dice.
"""
from . import roce_frames as rf

A, B = "10.9.0.1", "10.9.0.2"
ACK, SEQUENCE, INVALID, RNR = 0x1f, 0x60, 0x61, 0x21
FIRST, MIDDLE, LAST, ONLY = 0x0d, 0x0e, 0x0f, 0x10


def send_only(psn, ackreq=True, size=64, **how):
    return rf.roce(rf.bth(rf.RC_SEND_ONLY, 17, psn, ackreq=ackreq) + bytes([psn % 251]) * size, src=A, dst=B, **how)


def write(psn, opcode=0x0a, size=64, imm=b"", ackreq=True, length=None):
    reth = rf.reth(0x7f0000001000, 7, length or size) if opcode in (0x06, 0x0a, 0x0b) else b""
    return rf.roce(rf.bth(opcode, 17, psn, ackreq=ackreq) + reth + imm + bytes([psn % 251]) * size, src=A, dst=B)


def answer(syndrome, psn, qpn=18, dst=A, msn=None):
    """Each packet is a message."""
    msn = psn + (syndrome == ACK) if msn is None else msn
    return rf.roce(rf.bth(rf.RC_ACK, qpn, psn) + rf.aeth(syndrome, msn & 0xffffff), src=B, dst=dst)


def other_way():
    """Packets of the other direction that answer nothing, and want no answer."""
    return [rf.uc_write(k, dqpn=30, src=B, dst=A) for k in range(3)]


def acknowledged(start, count):
    return [f for k in range(start, start + count) for f in (send_only(k), answer(ACK, k))]


# ---- duplicates ----


def duplicates(t, d, dice):
    for _ in range(3):
        start, heard, tries = dice.randrange(1 << 24), dice.randrange(5, 20), dice.randrange(4, 9)
        newest = start + heard - 1
        again = newest - dice.randrange(4)
        before, more = acknowledged(start, heard), acknowledged(newest + 1, dice.randrange(4))
        for words, got, want in (
                ("newest PSN", answer(ACK, newest), "retransmission"), ("own PSN", answer(ACK, again), "retransmission"),
                ("NAK", answer(SEQUENCE, newest + 1), "duplicate-answered-otherwise"),
                ("NAK, invalid", answer(INVALID, again), "duplicate-answered-otherwise"),
                ("RNR NAK", answer(RNR, again), "duplicate-answered-otherwise"),
                ("earlier PSN", answer(ACK, again - 1), "duplicate-answered-otherwise"),
                ("PSN that was never sent", answer(ACK, newest + 2, msn=newest + 1), "ack-psn")):
            f = d.case(f"a duplicate, {words}", before + [send_only(again), got] * tries + more, [(want, {})], loosely=True)
            if want.startswith("duplicate") and (not f or f[0]["packets"] != tries):
                d.wrong.append(f"{words}: {tries} answers, {f}")
        f = d.case("duplicates, silence", before + [send_only(again)] * tries + more, [("duplicate-unanswered", {"retransmission": tries})])
        if not f or f[0]["packets"] != tries:
            d.wrong.append(f"{tries} in silence: {f}")
        d.case("they do not ask", before + [send_only(again, ackreq=False)] * tries, [("resends-without-ackreq", {
            "retransmission": tries})])
        # of a burst only the last packet asks, and one answer is enough
        burst = [send_only(k, ackreq=k == newest) for k in range(again, newest + 1)]
        d.case("a burst again, one answer", before + (burst + [answer(ACK, newest)]) * tries + more, ["retransmission"])
        d.case("the PSN stands still", acknowledged(start, 6) + [send_only(start + 5, size=4 * k + 4) for k in range(80)],
               [("psn-constant", {"duplicate-unanswered": None})], loosely=True)
        # the requester gives up waiting, and goes on
        d.case("no answer for long", [f for k in range(newest, newest + tries) for f in (
            send_only(k), answer(ACK, k), send_only(k), *[rf.uc_write(9 * k + j, dqpn=30) for j in range(9)])],
               [("duplicate-unanswered", {"retransmission": tries})])
        # an answer to a later request is one to the duplicate as well
        d.case("one answer to both", before + [f for k in range(newest, newest + tries) for f in (
            send_only(k), send_only(k + 1), answer(ACK, k + 1))], ["retransmission"])
    d.done("duplicates: answered, not answered, and answered otherwise")


def refused(t, d, dice):
    """RNR NAKs, of requests that use a receive, and of those that need none."""
    for opcode, imm in ((0x0a, b""), (0x06, b""), (0x0b, bytes(4)), (0x04, None)):
        rounds, psn = dice.randrange(3, 30), dice.randrange(1 << 24)
        packet = send_only if imm is None else (lambda k, o=opcode, i=imm: write(k, o, 1024, i, length=1024 + 64 * (o == 0x06)))
        frames = [f for k in range(psn, psn + rounds) for f in (packet(k), answer(RNR, k), packet(k), answer(ACK, k))]
        if opcode == 0x06:  # First and Last
            frames = [f for k in range(psn, psn + 2 * rounds, 2) for f in (
                packet(k), write(k + 1, 0x08), answer(RNR, k, msn=psn + (k - psn) // 2), packet(k), write(k + 1, 0x08),
                answer(ACK, k + 1, msn=psn + (k - psn) // 2 + 1))]
        kind = "rnr" if opcode in (0x0b, 0x04) else "rnr-without-need"
        d.case(f"RNR NAK of opcode 0x{opcode:02x}", frames, [(kind, {"retransmission": None})])
    d.done("RNR NAKs of WRITEs without immediate data, which need no receive")


def to_nobody(t, d, dice):
    n, heard = dice.randrange(4, 9), dice.randrange(3, 9)
    for words, astray in (("address", {"dst": "0.0.0.0"}), ("QPN", {"qpn": 0})):
        silent = [f for k in range(n) for f in (send_only(heard + k // 2), answer(ACK, heard + k // 2, **astray))]
        f = d.case(f"{words} of nobody", other_way() + silent, [("answers-to-nobody", {"retransmission": None})], loosely=True)
        if not f or f[0]["packets"] != n:
            d.wrong.append(f"{words}: {n} answers, {f}")
        again = [f for _ in range(3 * n) for f in (send_only(heard), answer(ACK, heard, **astray))]
        d.case(f"{words} of nobody, later", other_way() + acknowledged(0, heard) + again, [("answers-to-nobody", {})], loosely=True)
        again = [f for _ in range(3 * n) for f in (send_only(heard - 1), answer(ACK, heard - 1, **astray))]
        d.case(f"duplicates, {words} of nobody", acknowledged(0, heard) + again, [("answers-to-nobody", {})], loosely=True)
    d.done("answers to 0.0.0.0, and to QPN 0")


# ---- READs ----


def read(psn, length, va=0x1000):
    return rf.roce(rf.bth(0x0c, 17, psn, ackreq=True) + rf.reth(va, 7, length), src=A, dst=B)


def response(opcode, psn, payload, aeth=None, syndrome=ACK):
    """aeth: whether there is one; None: as the opcode says."""
    aeth = opcode != MIDDLE if aeth is None else aeth
    pad = -(len(payload) + 4 * (aeth != (opcode != MIDDLE))) % 4
    return rf.roce(rf.bth(opcode, 18, psn, pad) + (rf.aeth(syndrome, 1) if aeth else b"") + payload + bytes(pad), src=B, dst=A)


def responses(psn, length, mtu, n=None):
    """What a READ asks for: [(opcode, PSN, payload)]."""
    n = n or max(1, -(-length // mtu))
    ops = [ONLY] if n == 1 else [FIRST, *[MIDDLE] * (n - 2), LAST]
    return [(op, psn + k, bytes([(psn + k) % 251]) * (mtu if k < n - 1 else max(0, length - (n - 1) * mtu))) for k, op in enumerate(ops)]


def read_mistakes(mtu):
    """{words: (finding, how the list of responses is changed)}; a READ has three packets or more, and the last is not full."""
    return {
        "none": (None, lambda r: [response(*x) for x in r]),
        "one too many": ("read-response-number", lambda r: [response(*x) for x in r[:-1]] + [
            response(MIDDLE, r[-1][1], bytes(mtu)), response(LAST, r[-1][1] + 1, r[-1][2])]),
        "ends too early": ("read-response-number", lambda r: [response(*x) for x in r[:-2]] + [response(LAST, *r[-2][1:])]),
        "each an Only": ("read-response-number", lambda r: [response(ONLY, *x[1:]) for x in r]),
        "never ends": ("read-response-number", lambda r: [response(*x) for x in r[:-1]]),
        "Last is full": ("read-response-size", lambda r: [response(*x) for x in r[:-1]] + [response(LAST, r[-1][1], bytes(mtu))]),
        "Last is shorter": ("read-response-size", lambda r: [response(*x) for x in r[:-1]] + [response(LAST, r[-1][1], r[-1][2][:-8])]),
        "no AETH": ("read-response-aeth", lambda r: [response(*x, aeth=False) for x in r]),
        "an AETH in Middle": ("read-response-aeth", lambda r: [response(*x, aeth=True) for x in r]),
        "says NAK": ("read-response-aeth", lambda r: [response(*x, syndrome=SEQUENCE) for x in r]),
        "PSNs of nobody": ("read-response-psn", lambda r: [response(op, psn + 5000, data) for op, psn, data in r]),
    }


def read_dialogue(dice, mtu, change, count=8, again=False, lengths=None):
    """change: what comes of the list of right responses."""
    psn, frames = dice.randrange(1 << 24), []
    for _ in range(count):
        length = lengths or mtu * dice.randrange(2, 9) + dice.randrange(20, mtu - 20)
        right = responses(psn, length, mtu)
        frames += ([read(psn, length)] + change(right)) * (1 + again)
        psn += len(right)
        if dice.randrange(2):
            frames += [send_only(psn), answer(ACK, psn)]
            psn += 1
    return frames + [send_only(psn), answer(ACK, psn)]


def reads(t, d, dice):
    for words, (kind, change) in read_mistakes(1024).items():
        for _ in range(2):
            mtu = dice.choice((256, 512, 1024, 2048, 4096))
            kind, change = read_mistakes(mtu)[words]
            frames = read_dialogue(dice, mtu, change)
            got = [f["kind"] for f in d.case(words, frames, [], judge=False)]
            if kind and kind not in got[:2] or not kind and got:
                d.wrong.append(f"READ responses, {words}, path MTU {mtu}: {got}, want {kind}")
    # the request that comes again is explained
    for words in ("ends too early", "Last is full", "PSNs of nobody", "an AETH in Middle"):
        kind, change = read_mistakes(1024)[words]
        d.case(f"{words}, asked again", read_dialogue(dice, 1024, change, again=True), [(kind, {"retransmission": None})], loosely=True)
    first = []
    d.case("PSNs that do not count", read_dialogue(dice, 1024, lambda r: [first.append(r[0][1]) or response(op, first[0] + 3000, data)
                                                                          for op, _, data in r], 20, lengths=900),
           [("psn-constant", {"read-response-psn": None})], loosely=True)
    d.case("Middle for Last", read_dialogue(dice, 1024, lambda r: [response(*x) for x in r[:-1]] + [response(MIDDLE, *r[-1][1:])], 20,
                                            lengths=3072), [("missing-last", {"read-response-number": None})], loosely=True)
    turn = iter(range(99))
    d.case("larger than the path MTU", read_dialogue(dice, 1024, lambda r: [response(*x) for x in r] if next(turn) % 2 else [
        response(ONLY, r[0][1], bytes(1500))], 20, lengths=1500), [("lint-payload-beyond-mtu", {"read-response-number": None})],
           loosely=True)
    d.case("packets that are not full", read_dialogue(dice, 1024, lambda r: [response(op, psn, data[:1000]) for op, psn, data in r], 20),
           [("lint-payload-not-path-mtu", {})], loosely=True)
    # a packet that lacks four bytes lacks an AETH
    d.case("another path MTU", read_dialogue(
        dice, 1024, lambda r: [response(op, psn, data[:508 if len(data) == 516 else 512]) for op, psn, data in r], 20),
           [("read-response-size", {})], loosely=True, keep=False)
    # pipelined, with losses, and asked again from where it broke off
    for _ in range(4):
        mtu, psn, frames, queue = dice.choice((256, 1024)), dice.randrange(1 << 24), [], []
        for _ in range(dice.randrange(20, 60)):
            length = dice.randrange(1, 6 * mtu)
            frames.append(read(psn, length, 0x1000))
            queue.append((psn, length))
            psn += max(1, -(-length // mtu))
            while len(queue) > dice.randrange(5):
                at, length = queue.pop(0)
                right = responses(at, length, mtu)
                if len(right) > 1 and not dice.randrange(4):
                    k = dice.randrange(1, len(right))
                    frames += [response(*x) for x in right[:k]]
                    frames += [read(*x, 0x1000 if x[0] != at else 0x1000 + k * mtu) for x in (
                        (at + k, length - k * mtu), *queue)]
                    right = responses(at + k, length - k * mtu, mtu)
                frames += [response(*x) for x in right]
        got = [f["kind"] for f in d.case("right READs", frames, [], judge=False, keep=False)]
        if [kind for kind in got if kind.startswith("read-")]:
            d.wrong.append(f"right READs, path MTU {mtu}: {got}")
    d.done("READ responses: number, size, PSN and AETH")


def read_again(t, d, dice):
    """A READ that is asked for by a NAK, and a response that is asked for again, were lost, and not overtaken."""
    expect = f"{d.path}.expect"
    with open(expect, "w", encoding="utf-8") as f:
        f.write(f"{A} qpn 18 <-> {B} qpn 17 mtu 256\n")
    for last in (True, False):
        psn, frames, missing = dice.randrange(1 << 24), [], 0
        for _ in range(dice.randrange(3, 7)):
            length = 256 * dice.randrange(3, 9) - 100
            right = responses(psn, length, 256)
            behind = psn + len(right)
            frames += [read(psn, length)] + [response(*x) for x in right]
            psn, behind = behind, behind + len(right)
            frames += [send_only(behind), answer(SEQUENCE, psn), read(psn, length)]
            frames += [] if last else [send_only(behind)]
            frames += [response(*x) for x in responses(psn, length, 256)] + [answer(ACK, behind)]
            psn, missing = behind + 1, missing + len(right)
        f = d.case("a READ after a NAK", frames, [("loss", {})], "--expect", expect, loosely=True)
        if not f or f[0]["packets"] != missing or any(b["kind"] == "reorder" for b in f[0].get("explains", [])):
            d.wrong.append(f"{missing} PSNs of READs: {f}")
    for whole, more in ((w, m) for w in (True, False) for m in ((), ("--expect", expect))):
        psn, frames, rounds = dice.randrange(1 << 24), [], dice.randrange(3, 9)
        for _ in range(rounds):
            n = dice.randrange(3, 7)
            k = dice.randrange(1, n)
            one, two = responses(psn, 256 * n, 256), responses(psn + n, 256, 256)
            frames += [read(psn, 256 * n), read(psn + n, 256)]
            frames += [response(*x) for x in one[:k] + one[k + 1:] + two if x[1] != psn + k]
            frames += [read(psn, 256 * n)] if whole else [read(psn + k, 256 * (n - k), 0x1000 + 256 * k)]
            frames += [response(*x) for x in (one if whole else responses(psn + k, 256 * (n - k), 256))]
            psn += n + 1
        f = d.case("a response that is asked for again", frames, [("loss", {})], *more, loosely=True)
        if not f or f[0]["packets"] != rounds or any(b["kind"] == "reorder" for b in f[0].get("explains", [])):
            d.wrong.append(f"{rounds} responses lost, {whole} {more}: {f}")
        got = d.totals(*more)
        if more and [got[name] for name in ("psn_skipped", "psn_recovered")] != [rounds, rounds]:
            d.wrong.append(f"{rounds} responses lost, {whole}: {got}")
    d.done("READs and their responses that are asked for again were lost, and not overtaken")


# ---- requesters ----


def going_back(t, d, dice):
    for off in (0, 1, 2, -1, -3):
        psn, frames, again, rounds = dice.randrange(1 << 24), [], 0, dice.randrange(2, 6)
        for _ in range(rounds):
            before, window = dice.randrange(4, 12), dice.randrange(4, 9)
            frames += acknowledged(psn, before)
            psn += before
            frames += [send_only(psn + k) for k in range(window)] + [answer(SEQUENCE, psn)]
            frames += [send_only(psn + k) for k in range(off, window)]
            frames += [send_only(psn + k) for k in range(window)] if off > 0 else []
            frames += [answer(ACK, psn + window - 1)]
            again, psn = again + window, psn + window
        want = [("goes-back-wrong", {"retransmission": None})] if off else [("psn-refused", {"retransmission": again})]
        got = d.case(f"goes back to {off}", frames, [], judge=False)
        kinds = [f["kind"] for f in got]
        if kinds[:1] != [want[0][0]]:
            d.wrong.append(f"goes back by {off}: {kinds}")
    psn, far = dice.randrange(1 << 24), dice.randrange(100, 200)
    frames = acknowledged(psn, 5) + [send_only(psn + 5 + k) for k in range(4)] + [answer(SEQUENCE, psn + 5)]
    frames += [send_only(psn + 6 + k) for k in range(3)] * 2 + [send_only(psn + 9 + k) for k in range(far)]
    d.case("goes back elsewhere, and on", frames, [("goes-back-wrong", {"nak-ignored": None}), "psn-refused"], loosely=True)
    # the last packet of a message asks, and the others do not; or none does
    for asks in (True, False):
        psn, tries = dice.randrange(1 << 24), dice.randrange(3, 8)
        frames, psn = acknowledged(psn, 5), psn + 5
        for _ in range(2):
            n = dice.randrange(3, 7)
            ops = [0x06, *[0x07] * (n - 2), 0x08]
            message = [write(psn + k, op, 1024, ackreq=op == 0x08, length=1024 * n) for k, op in enumerate(ops)]
            again = [write(psn + k, op, 1024, ackreq=asks and op == 0x08, length=1024 * n) for k, op in enumerate(ops)]
            frames += message + again * tries + message[-1:] + [answer(ACK, psn + n - 1)]
            psn += n
        kinds = [f["kind"] for f in d.case("AckReq", frames, [], judge=False)]
        if kinds[:1] != ["retransmission" if asks else "resends-without-ackreq"]:
            d.wrong.append(f"AckReq again, {asks}: {kinds}")
    d.done("requesters that go back elsewhere, or that do not ask")


PARTS = (duplicates, refused, to_nobody, reads, read_again, going_back)
