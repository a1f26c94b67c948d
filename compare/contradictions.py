# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Figures of a report's row, or of a search, that contradict each other. Such a row is refused where a report is made and where it is
read: it says what contradicts, and has no figures. Pure.
"""
import math

from compare import join, latency, noise
from compare.search import OFFERED
from compare.transport import PING_PONG, bits_per_second

REFUSED = "its figures contradict each other"
PRINTED = 1e-4      # programs print six digits
STEP = 1 / 32       # a percentile is at most so much too large (userspace/traffic/streams/histogram.h), as those of fio are
# Packets for each flow of a run that counters have and the row has not: end markers (3), a tool's hello, neighbour discovery.
SPARE = 16
MOST = 3            # that are told of a row
CATCHING_UP = 2     # a sender that is late sends at most at so many times its rate (userspace/traffic/streams/pacing.h)
LEFT_OUT_S = .5     # of a run's start and end, which goodput leaves out (userspace/traffic/streams/windows.h)
STALL_S = 1         # for which a sender on a busy machine may have no CPU, before its first packet or behind its last
# Differences of two counts: the rules below judge them.
SIGNED = ("lost", "unexplained", "retransmitted", *join.LOST.values(), *join.STRETCHES)
NAMED = ("where", "path", "transport", "tool", "operation", "size", "flows", "ip", "rate", "goal")


def checked(row, path=None):
    """A row of a report as it is, or refused. path: the facts of its path."""
    return _checked(row, lambda: of_row(row, path or {}))


def checked_search(search):
    """The same of a search (trials.record())."""
    again = {name: None for name in ("lossless_gbps", "conditional_gbps", "upper_gbps", "limit", "unit", "packets", "lost", "at_most",
                                     "first_loss", "marks")}
    return _checked(search, lambda: of_search(search), {**again, "trials": []})


def _checked(row, rules, more=None):
    if row["status"] != "ok":
        return row
    try:
        found = list(rules())
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError) as error:
        found = [f"they cannot be read ({error!r})"]
    if not found:
        return row
    found = list(dict.fromkeys(found))
    found[MOST:] = [f"and {len(found) - MOST} more"] * (len(found) > MOST)
    runs = {"runs": 0} if "runs" in row else {}
    return {**{name: row[name] for name in NAMED if name in row}, **runs, "status": "failed",
            "why": f"{REFUSED}: {'; '.join(found)}", **(more or {})}


def refused(rows):
    """Those of rows that were."""
    return [row for row in rows if row["status"] != "ok" and str(row["why"]).startswith(REFUSED)]


def of_row(row, path):
    """What contradicts in a row that ran, in words."""
    each, own = row.get("each") or [], {name: value for name, value in row.items() if name != "each"}
    noise.figures({**row, "each": each})    # whoever reads the row needs them
    yield from _numbers("", own)
    pairs = max((len(run["pairs_gbps"]) for run in each if run.get("pairs_gbps")), default=1)
    counting = row.get("counted") or (row.get("referee") or {}).get("runs") or len(each) or 1
    # between hosts other traffic is in the counters (docs/compare.md)
    spare = math.inf if row.get("where") == "hosts" else SPARE * row["flows"] * pairs
    yield from _counts(row, spare * counting)
    yield from _stretches(row)
    yield from _messages(row, spare * counting)
    yield from _goodput(row, path, pairs)
    yield from _latencies("the row's ", row.get("latency_us"))
    yield from _pooled(row.get("latency_pooled_us"))
    for run in each:
        yield from (f"run {run['number']}: {words}" for words in _of_run(run, row, spare))


def _of_run(run, row, spare):
    yield from _numbers("", run)
    yield from _counts(run, spare)
    if run.get("lost") != join.difference(run.get("sent"), run.get("received")):
        yield f"received {run['received']} + lost {run['lost']} are not the {run['sent']} sent"
    goodput, least = run["goodput_gbps"], run.get("goodput_min_gbps")
    if _above(least, goodput):
        yield f"the least window {least:g} Gbit/s above the goodput {goodput:g}"
    shares = run.get("pairs_gbps") or [None]
    if None not in (*shares, goodput) and not math.isclose(sum(shares), goodput, rel_tol=.01, abs_tol=1e-6):
        yield f"goodput {goodput:g} Gbit/s of pairs that have {sum(shares):g}"
    payload, seconds, most = row.get("packet_payload"), run.get("sent_s"), _most_gbps(row, len(shares))
    if None not in (goodput, payload, seconds, run.get("sent")) and (most is None or _above(goodput, most, .05)) and _above(
            goodput * 1e9 * max(0, seconds - LEFT_OUT_S - STALL_S), run["sent"] * payload * 8, .25):
        yield f"goodput {goodput:g} Gbit/s above what was sent in {seconds:g} s"
    yield from _latencies("", run.get("latency_us"))
    yield from _histogram(run)
    yield from of_calls(run)


def _most_gbps(row, pairs):
    """
    What senders with the row's rate send at most: one that stood still catches up, and has sent for longer than the receiver counts.
    None: the row has no rate.
    """
    return None if row["rate"] in (None, PING_PONG) else CATCHING_UP * bits_per_second(row["rate"]) * pairs / 1e9


def _numbers(place, value):
    """No number is negative, unless it is a difference, and each is one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(f"{place}.{name}" if place else name, inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _numbers(place, inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            yield f"{place} is no number"
        elif value < 0 and place.rpartition(".")[2] not in SIGNED:
            yield f"{place} {value:g} is negative"


def _above(a, b, more=PRINTED):
    """Whether a is above b by more than digits that were not printed. Of what is not known, nothing is."""
    return a is not None and b is not None and a > b + abs(b) * more + 1e-9


def _counts(row, spare):
    """Packets of a row or of a run."""
    sent, received, losses = (row.get(name) for name in ("sent", "received", "losses"))
    placed = sum(losses.values())
    if sent == 0 and (received or placed > spare):
        yield f"{received or 0} received and {placed} lost, but none sent"
    if sent is None or received is None:
        return
    if received - sent > spare:
        yield f"{received} received above {sent} sent"
    if placed - max(0, sent - received) > spare:
        yield f"{placed} lost at their places above the {sent - received} lost in all"
    again = row.get("retransmitted")
    if again is not None and not -spare <= again <= sent + spare:
        yield f"{again} sent again of {sent}"


def _stretches(row):
    """A row's losses on each stretch are those in all, and what no place explains is what is left of them."""
    lost = join.difference(row["sent"], row["received"])
    stretches = [row[name] for name in join.LOST.values()]
    if None not in (lost, *stretches) and sum(stretches) != lost:
        yield f"received {row['received']} + lost {sum(stretches)} are not the {row['sent']} sent"
    rest = join.difference(lost, sum(row["losses"].values()))
    if row["unexplained"] != rest:
        yield f"{row['unexplained']} unexplained, where {rest} are"
    parts = list(row["unexplained_by_stretch"].values())
    if None not in (rest, *parts) and sum(parts) != rest:
        yield f"{sum(parts)} unexplained by stretch, {rest} in all"


def _messages(row, spare):
    sent, received, lost = ((row.get("messages") or {}).get(name) for name in ("sent", "received", "lost"))
    if sent is None:
        return
    if (lost or 0) > sent:
        yield f"{lost} messages lost of {sent} sent"
    if received is not None and received - sent > spare:
        yield f"{received} messages received above {sent} sent"
    # an answer may be lost, too: then its message counts as received and as lost
    short = lost is not None and received is not None and sent - received - lost
    if short and (short > spare or row["rate"] != PING_PONG):
        yield f"{received} messages received + {lost} lost are not the {sent} sent"


def _goodput(row, path, pairs):
    goodput = row["goodput_gbps"]
    mean, least = goodput["mean"], row.get("goodput_min_gbps")
    timed = join.measuring(row["each"]) if row.get("each") else []
    known = join.mean(run["goodput_gbps"] for run in timed) if timed else mean
    if timed and row["runs"] != len(timed):
        yield f"figures of {row['runs']} runs, where there are {len(timed)}"
    if (mean is None) != (known is None) or mean is not None and not math.isclose(mean, known, rel_tol=PRINTED, abs_tol=1e-9):
        yield f"mean goodput {mean} Gbit/s, of the runs {known}"
    if _above(least, mean):
        yield f"the least window {least:g} Gbit/s above the goodput {mean:g}"
    shares = row.get("pairs_gbps")
    if shares and _above(shares["least"], shares["most"]):
        yield f"the pair with the least {shares['least']:g} Gbit/s above that with the most {shares['most']:g}"
    if mean is None:
        return
    if _above(mean, _most_gbps(row, pairs), .05):
        yield f"goodput {mean:g} Gbit/s above the rate {row['rate']}"
    # a virtual NIC only says that it has a speed
    link = None if "veth" in str(path.get("driver")) or "no bus" in str(path.get("driver")) else path.get("link_gbps")
    if link and _above(mean, link * pairs, .05):
        yield f"goodput {mean:g} Gbit/s above the link's {link:g}"


ORDER = ("min", "p50", "p90", "p99", "p999", "max")


def _latencies(whose, figures):
    """Percentiles grow, up to the maximum, and the mean is between minimum and maximum."""
    known = [(name, (figures or {}).get(name)) for name in ORDER if (figures or {}).get(name) is not None]
    for (low, a), (high, b) in zip(known, known[1:]):
        if _above(a, b, STEP if high == "max" else PRINTED):
            yield f"{whose}{_words(low)} {a:g} µs above {_words(high)} {b:g}"
    least, most, mean = ((figures or {}).get(name) for name in ("min", "max", "mean"))
    if _above(least, mean) or _above(mean, most):
        yield f"{whose}mean {mean:g} µs outside of {'?' if least is None else f'{least:g}'} to {'?' if most is None else f'{most:g}'}"


def _words(name):
    return {"min": "minimum", "max": "maximum", "p999": "p99.9"}.get(name, name)


def _pooled(pooled):
    if not pooled:
        return
    yield from _latencies("pooled ", pooled)
    for name, spread in pooled["spread"].items():
        figure = pooled[name]
        if spread and (_above(spread["least"], spread["most"]) or _above(spread["least"], figure) or _above(figure, spread["most"])):
            yield f"pooled {_words(name)} {figure:g} µs outside of the runs' {spread['least']:g} to {spread['most']:g}"
    stalls = pooled["stalls"]
    if stalls and not (0 < stalls["messages"] <= .01 + PRINTED and stalls["messages"] <= stalls["time"] <= 1 + PRINTED):
        yield f"stalls of {stalls['messages']:g} of the messages and {stalls['time']:g} of the time"


def _histogram(run):
    """The percentiles of a run are those of its histogram, which has messages."""
    histogram, figures = run.get("latency_histogram"), run.get("latency_us") or {}
    if not histogram:
        return
    bounds = [bound for bound, _ in histogram]
    if any(count <= 0 for _, count in histogram) or bounds != sorted(set(bounds)) or not figures:
        yield "its histogram is not in order"
        return
    parts = latency.shares([histogram])
    for name, q in latency.QUANTILES.items():
        own, stated = latency.quantile(parts, q), figures.get(name)
        if stated is not None and not math.isclose(own, stated, rel_tol=STEP):
            yield f"{_words(name)} {stated:g} µs, of its histogram {own:g}"


def of_calls(run):
    """Every message that a program says it has sent was posted, by whichever end is the requester."""
    ends = [each for each in (run.get("calls") or {}).values() if each]
    sent, posted = (run.get("messages") or {}).get("sent"), sum(each["wrs"] for each in ends)
    if ends and sent is not None and posted < sent and not any(each["unseen"] for each in ends):
        yield f"{sent} messages sent, of which `rocescope verbs` saw {posted} posted"


def of_search(search):
    """What contradicts in a search that ended, in words."""
    yield from _numbers("", search)
    found, upper, packets, lost = (search[name] for name in ("lossless_gbps", "upper_gbps", "packets", "lost"))
    if found is not None and _above(found, upper):
        yield f"{found:g} Gbit/s without loss above {upper:g}, which is too much"
    # at the sender's limit the rate is the least that it offered in a trial
    most = max((trial["rate_gbps"] for trial in search["trials"]), default=found) if search["limit"] == "sender" else found
    if _above(search["conditional_gbps"], most):
        yield f"{search['conditional_gbps']:g} Gbit/s forwarded above the {most:g} offered"
    if found is not None and not packets:
        yield f"{found:g} Gbit/s without loss, of no packets"
    if lost is not None and lost > (packets or 0):
        yield f"{lost} lost of {packets} packets"
    at_most = search["at_most"]
    if at_most is not None and (at_most > 1 or packets and _above(lost / packets, at_most)):
        yield f"a loss ratio of at most {at_most:g}, where {lost} of {packets} were lost"
    first = search["first_loss"]
    if first and (not 0 < first["lost"] <= first["of"] or found is not None and first["rate_gbps"] <= found):
        yield f"first loss of {first['lost']} of {first['of']} at {first['rate_gbps']:g} Gbit/s"
    for number, trial in enumerate(search["trials"], 1):
        yield from (f"trial {number}: {words}" for words in _of_trial(trial, search))


def _of_trial(trial, search):
    if not 0 <= trial["lost"] <= trial["of"]:
        yield f"{trial['lost']} lost of {trial['of']}"
    spare = math.inf if search.get("where") == "hosts" else SPARE * search["flows"]
    yield from _counts(trial, spare)
    if not trial["full"] and _above(trial["offered_gbps"], CATCHING_UP * trial["rate_gbps"], .05):
        yield f"{trial['offered_gbps']:g} Gbit/s offered above the rate {trial['rate_gbps']:g}"
    if trial["valid"] and not trial["full"] and not trial["lost"] and trial["offered_gbps"] < trial["rate_gbps"] * OFFERED * (1 - PRINTED):
        yield f"{trial['offered_gbps']:g} Gbit/s offered at the rate {trial['rate_gbps']:g}, and yet valid"
    goodput, seconds = trial["goodput_gbps"], trial["seconds"]
    if goodput is not None and _above(goodput * max(0, seconds - LEFT_OUT_S), trial["offered_gbps"] * seconds, .05):
        yield f"goodput {goodput:g} Gbit/s above the {trial['offered_gbps']:g} offered"


def of_ring(received):
    """What contradicts in the report of a ring's receiver (rocescope.ring/1) and gets into no row, in words."""
    workers, pressure = sum(worker["messages"] for worker in received["workers"]), received["pressure"]
    if workers != received["messages"]:
        yield f"{received['messages']} messages are not the {workers} of its workers"
    if _above(pressure["longest_seconds"], pressure["seconds"]):
        yield f"back-pressure for {pressure['seconds']:g} s, once for {pressure['longest_seconds']:g}"
    if _above(received["seconds"], received["read_seconds"]):
        yield f"read in {received['read_seconds']:g} s what came for {received['seconds']:g}"
