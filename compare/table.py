# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The report as a table: a section for each size and rate, a bar for each goodput."""
import itertools
import re
import textwrap
from typing import NamedTuple, Optional

from compare import join, noise, plan
from compare.search import Goal
from compare.transport import PING_PONG, bits_per_second

EIGHTHS = " ▏▎▍▌▋▊▉█"
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
MIN_WIDTH = 80

# transport, tool, goodput, its least window, its bar, packets on the wire, losses, cores of the sender and of the receiver
HEADINGS = (("", "", "goodput", "", "", "packets", "", "sender's", "receiver's"),
            ("transport", "tool", "Gbit/s", "least", "", "on wire", "lost, where", "cores", "cores"))
GOODPUT, SENDER, RECEIVER = 7, 9, 10    # columns of these
LEAST = 6           # columns of the least window,
LEAST_FROM = 40     # in a table with so many for it, the bar and the losses
BAR_FROM = 24       # columns for the bar and the losses, below which there is no bar
SPREAD = 5          # columns more for goodput with its deviation,
WIDE_FROM = 96      # in a table of so many. A smaller one has no packets on the wire
NARROW_NAME = 12    # columns of a transport's name in a smaller table, where it may take two lines
ALIGN = "<<>><><>>"
GAP = "  "
PACKETS = 5         # the column of packets on the wire
LATENCIES = ("min", "p50", "p99", "p999", "max")    # of ping-pong
SPREAD_OF = "p99"   # which of them is shown of each run, where there is room
ROCE_SWITCHED = "RoCE of the RNICs was on for their own rows and off for all others. Its authors never ran this on an RNIC."
EMULATED = "The CPU is emulated (TCG): compare rows with each other, not with other machines."


def render(report, width, colour=False):
    """The whole table, as lines."""
    paint, width = painter(colour), max(width, MIN_WIDTH)
    widths = _widths([row for row in report["rows"] if row["status"] == "ok"], width)
    lines = []
    for name in dict.fromkeys(row["path"] for row in [*report["rows"], *report.get("searches", ())]):
        path = report["paths"].get(name)   # none: it was interrupted before
        words = path_words(path) if path else f"Path: {name}, not measured."
        lines += ([""] if lines else []) + [paint(line, "dim") for line in wrap(words, width)]
        rows = [row for row in report["rows"] if row["path"] == name]
        for section in sections([row for row in rows if row["status"] == "ok"]):
            body = _ping_section if section.rate == PING_PONG else _section
            lines += ["", paint(section.title, "bold")] + body(section.rows, widths, paint, width)
        lines += _searches([each for each in report.get("searches", ()) if each["path"] == name], width, paint)
        lines += _others(rows, width, paint)
    notes = footnotes(report["rows"], deviation=width >= WIDE_FROM, least=bool(widths[3])) + about(report["rows"])
    notes = [paint(line, "dim") for note in notes for line in wrap(note, width)]
    verdict = [line for sentence in report["verdict"] for line in wrap(sentence, width, "  ")]
    return lines + [""] + notes + [""] * bool(notes) + verdict


def painter(colour):
    """A function that paints a text in one of STYLES, where there is colour."""
    return lambda text, style: f"\x1b[{STYLES[style]}m{text}\x1b[0m" if colour and style else text


def wrap(text, width, indent=""):
    """Lines, all but the first indented. A percent sign stays with its number, and a row's name in one piece."""
    lines = textwrap.wrap(text.replace(" %", "\u00a0%"), width, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]


def footnotes(rows, deviation=True, least=True):
    """Those that these rows need. deviation, least: whether these figures are shown."""
    ran = [row for row in rows if row["status"] == "ok"]
    carried = [row for row in ran if row["rate"] != PING_PONG]
    goodput = "Goodput as the receiver counts it"
    if deviation and any(row["runs"] > 1 for row in carried):
        goodput += ", with the standard deviation of the runs"
    if any(row.get("goodput_at") == "sender" for row in carried):
        goodput += "; ^ as the sender does, who does not know what arrived"
    notes = [f"{goodput}."] if carried else []
    if least and any(row.get("goodput_min_gbps") is not None for row in carried):
        notes.append("Of our stream programs and iperf3 it is the mean of windows of 100 ms, without the start and the end; "
                     "least: of these windows.")
    if any(row.get("packet_payload", 0) is None for row in ran):
        notes.append("Of datagrams that IP cuts into fragments nobody counts the packets: their losses are those of the messages. "
                     "The counters of NICs and ports have fragments, that of the receive buffer has datagrams.")
    if len(carried) < len(ran):
        notes.append("Ping-pong: half of the time until the answer to a message is back.")
    latencies = [(row, found) for row in ran if (found := noise.latencies(row))]
    if latencies:
        medians = dict.fromkeys(row["tool"] for row, found in latencies if found["from"] == "medians" and found["p50"] is not None)
        notes.append("Latencies are those of all runs, each with the same weight." + (
            f" {' and '.join(medians)} tell{'s' * (len(medians) == 1)} percentiles only: theirs are the medians of the runs'."
            if medians else ""))
    if ran:
        notes.append("Cores: of the program / of its whole machine, which does most of the work of kernel UDP and rxe in "
                     "softirq.")
    return notes


def about(rows):
    """What transports of these rows are, a line for each of those that not everybody knows."""
    names = dict.fromkeys(row["transport"] for row in rows if row["status"] == "ok")
    return [f"{transport.words}: {transport.about}" for transport in map(plan.transport, names) if transport.about]


def _section(rows, widths, paint, _):
    lines = [paint(_line(cells, widths), "dim") for cells in HEADINGS]
    best = max((mean_goodput(row) or 0 for row in rows), default=0)
    before = None
    for row in rows:
        lines += _row_lines(row, widths, best, row["transport"] != before, paint)
        before = row["transport"]
    return lines


def _ping_section(rows, widths, paint, width):
    """A small table has no least latency, nor what the runs had each, nor p99.9."""
    several = any((noise.latencies(row) or {}).get("runs", 0) > 1 for row in rows)
    for kinds, spread in ((LATENCIES, several), (LATENCIES[1:], several), (LATENCIES[1:], False), (("p50", "p99", "max"), False)):
        lines = _ping_lines(rows, widths, kinds, spread)
        if max(map(len, lines)) <= width:
            break
    return [paint(line, "dim") for line in lines[:2]] + lines[2:]


def _ping_lines(rows, widths, kinds, spread):
    cells = [("", "", "µs", *("",) * len(kinds), *(f"{SPREAD_OF} of",) * spread, "sender's", "receiver's"),
             ("transport", "tool", "mean", *map(latency_name, kinds), *("the runs",) * spread, "cores", "cores")]
    before = None
    for row in rows:
        names = wrap(plan.transport(row["transport"]).words, widths[0]) if row["transport"] != before else [""]
        latencies = noise.latencies(row) or {}
        figures = [figure_words(latencies.get(kind)) for kind in kinds] + [between_words(latencies, SPREAD_OF, "-")] * spread
        cells.append((names[0], row["tool"], spread_words(list(noise.figures(row).values()), widths[2] > GOODPUT), *figures,
                      cores_words(row["sender_cores"]), cores_words(row["receiver_cores"])))
        cells += [(name, *("",) * (len(cells[0]) - 1)) for name in names[1:]]
        before = row["transport"]
    widths = (*widths[:2], *(max(map(len, column)) for column in list(zip(*cells))[2:]))
    return [_line(each, widths, "<<" + ">" * len(cells[0])) for each in cells]


def latency_name(kind):
    return kind.replace("p999", "p99.9")


def between_words(latencies, kind, to=" to "):
    """'58.4 to 71.2': the least and the most of the runs."""
    spread = (latencies.get("spread") or {}).get(kind)
    return f"{figure_words(spread['least'])}{to}{figure_words(spread['most'])}" if spread else ""


def stall_words(row):
    """What makes the mean latency of a row that is above its p99. '': it is not."""
    latencies = noise.latencies(row) or {}
    mean, p99 = latencies.get("mean"), latencies.get("p99")
    if mean is None or p99 is None or mean <= p99:
        return ""
    stalls, above = latencies["stalls"], f"the mean of {figure_words(mean)} µs is above the p99"
    if not stalls:
        return f"{above} of {figure_words(p99)} µs: at most 1 % of the messages make it so, and {row['tool']} tells no more"
    return (f"{above}: {share_words(stalls['messages'], 1)} of the messages took longer than {figure_words(stalls['above_us'])} µs, "
            f"{share_words(stalls['time'], 1)} of the time of all messages")


def calls_words(row):
    """What `rocescope verbs` saw of the programs in the runs that measure. '': it did not look."""
    runs = [run["calls"] for run in join.measuring(row.get("each") or []) if run.get("calls")]
    ends = [(end, each) for run in runs for end, each in run.items() if each and each["wrs"]]
    if not ends:
        return ""
    posted, done, errors = (sum(each[name] for _, each in ends) for name in ("wrs", "completions", "errors"))
    timed = [each["latency_us"] for _, each in ends if each["latency_us"]["count"]]
    count = sum(each["count"] for each in timed)
    mean = sum(each["count"] * each["mean"] for each in timed) / count if count else None
    return (f"{posted:,} requests posted, {done:,} completions" + (f", {errors:,} of them errors" if errors else "") +
            (f", {figure_words(mean)} µs from post to completion in the mean" if count else "") + ", by `rocescope verbs`")


def goal_words(text):
    """'without loss', or what a search's goal allows."""
    goal = Goal.parse(text)
    return (f"with at most {100 * goal.loss:.2g} % lost" if goal.loss else "without loss") + trials_words(goal)


def trials_words(goal):
    """Where some of the trials may lose more."""
    return f" in {100 * (1 - goal.exceed):.3g} % of the trials" if goal.exceed else ""


def search_title(search):
    return f"Highest rate {goal_words(search['goal'])}"


def _searches(searches, width, paint):
    """A table for each goal. An interrupted search has a reason in place of figures."""
    lines = []
    for title in dict.fromkeys(map(search_title, searches)):
        done = [each for each in searches if search_title(each) == title and each["status"] == "ok"]
        lines += ["", paint(title, "bold"), *_searched(done, width, paint)] if done else []
    return lines + [paint(line, "dim") for each in searches if each["status"] != "ok"
                    for line in wrap(f"{each['status']}: {each['why']}: {each['transport']}/{each['tool']} search", width, "  ")]


def _searched(done, width, paint):
    """The rates, best first for each size."""
    done = sorted(done, key=lambda each: (each["size"], -(each["lossless_gbps"] or 0)))
    best = max((each["lossless_gbps"] or 0 for each in done), default=0)
    cells = [search_cells(each) for each in done]
    heads = ("transport", "messages", "Gbit/s", "packets", "at most lost", "first loss at")
    widths = [max(map(len, column)) for column in zip(heads, *cells)]
    free = width - sum(widths) - len(GAP) * len(widths)
    shown = [GAP.join(f"{cell:{side}{each}}" for cell, side, each in zip(line, "<>>>><", widths)) for line in (heads, *cells)]
    bars = [""] + [bar(each["lossless_gbps"] or 0, best, min(free, 24)) for each in done]
    return [paint(f"{line.rstrip()}", "dim") if not n else f"{line}{GAP}{bars[n] if free > 8 else ''}".rstrip()
            for n, line in enumerate(shown)]


def search_cells(search):
    """transport, size, rate, packets without loss, their bound, the first loss: in words."""
    first = search["first_loss"]
    limit = {"sender": "the sender's limit", "most": "end of the search"}.get(search["limit"], "")
    return (plan.transport(search["transport"]).words,
            ", ".join([size_words(search["size"]), *more_words(search["flows"], search["ip"])]), rate_figure(search["lossless_gbps"]),
            count_words(search["packets"]), "?" if search["at_most"] is None else f"{search['at_most']:.1e}",
            limit or (rate_figure(first["rate_gbps"]) if first else ""))


def reasons(rows):
    """[(status, why, its rows)] of the rows without figures: each reason once."""
    found = {}
    for row in rows:
        if row["status"] != "ok":
            found.setdefault((row["status"], row["why"]), []).append(row)
    return [(status, why, those) for (status, why), those in found.items()]


def _name(row):
    size = f" {size_words(row['size'])}" if row["size"] else ""
    rate = f" {rate_words(row['rate'])}" if row["rate"] else ""
    more = "".join(f" {words}" for words in more_words(row["flows"], row["ip"]))
    return f"{row['transport']}/{row['tool']}{size}{rate}{more}"


def names(rows):
    """Each transport and tool once, for people."""
    found = {}
    for row in rows:
        found.setdefault(f"{row['transport']}/{row['tool']}", []).append(row)
    return [_name(those[0]) if len(those) == 1 else f"{name} ({len(those)} rows)" for name, those in found.items()]


def remarks(rows):
    """[(what is to be said of their runs and latencies, rows)]: each once."""
    found = {}
    for row in (row for row in rows if row["status"] == "ok"):
        for words in filter(None, (row.get("about_runs"), stall_words(row), calls_words(row))):
            found.setdefault(words, []).append(row)
    return list(found.items())


def _others(rows, width, paint):
    lines = [paint(line, "dim") for words, those in remarks(rows)
             for line in wrap(f"{', '.join(names(those))}: {words}", width, "  ")]
    for status, why, those in reasons(rows):
        text = f"{status}: {why}: {', '.join(names(those))}"
        style = "red" if status == "failed" else "dim"
        lines += [paint(line, style) for line in wrap(text, width, "  ")]
    return [""] + lines if lines else []


def ratio_words(comparison):
    """'2.1 times (1.9 to 2.3)', of one that has an interval"""
    return "{ratio:.3g} times ({low:.3g} to {high:.3g})".format(**comparison)


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size_words(size):
    if size % 1024 == 0:
        return f"{size // 1024} KiB" if size < 1 << 20 else f"{size / (1 << 20):.4g} MiB"
    return f"{size} B"


def rate_words(rate):
    return re.sub(r"([KMG]?)bit$", r" \1bit/s", rate) if rate else "as fast as it goes"


def more_words(flows, ip):
    """What is not usual about a row."""
    return [f"{flows} flows"] * (flows > 1) + ["IPv6"] * (ip == 6)


def unit(rate):
    return "µs" if rate == PING_PONG else "Gbit/s"


def run_words(rate, run):
    """The figure of a run."""
    return f"{figure_words(noise.figure(rate, run))} {unit(rate)}"


def path_words(path):
    words = [f"Path: {path['ends']}, kernel {path['kernel']}, {path['nic']}, MTU {path['mtu']}; every packet carries up to "
             f"{path['packet_payload']} bytes of payload (the RDMA path MTU), whatever the transport."]
    if path["emulated_cpu"]:
        words.append(EMULATED)
    if path.get("roce_switched"):
        words.append(ROCE_SWITCHED)
    if path.get("no_referee"):
        words.append(f"No referee: {path['no_referee']}.")
    return " ".join(words)


def title(size, rate, flows=1, ip=4):
    words = ([f"messages of {size_words(size)}"] if size else []) + [rate_words(rate)] + more_words(flows, ip)
    return ", ".join(words)


class Section(NamedTuple):
    """Rows whose bars can be compared."""
    title: str
    path: str
    size: Optional[int]
    rate: Optional[str]
    flows: int
    ip: int
    rows: list


def sections(rows):
    """
    The Sections by path, flows, IP, size and rate: paths in order of appearance, full speed before the rates, small sizes
    first. The transports of each are in the table's order.
    """
    order = [transport.name for transport in plan.transports()]
    paths = list(dict.fromkeys(row["path"] for row in rows))
    groups = {}
    for row in rows:
        # Figures of another path have a section of their own, since their bars cannot be compared.
        apart = plan.transport(row["transport"]).section
        groups.setdefault((row["path"], apart or "", *((1, 4, None, None) if apart else noise.place(row)[1:])), []).append(row)
    for (path, apart, flows, ip, size, rate), group in sorted(groups.items(), key=lambda item: _rank(paths, *item[0])):
        words = apart or title(size, rate, flows, ip)
        words = words[0].upper() + words[1:]
        yield Section(f"{words} ({path})" if len(paths) > 1 else words, path, size, rate, flows, ip,
                      sorted(group, key=lambda row: order.index(row["transport"])))


def _rank(paths, path, apart, flows, ip, size, rate):
    slow = 0 if rate is None else 2 if rate == PING_PONG else 1
    return paths.index(path), apart, ip, flows, slow, bits_per_second(rate) if slow == 1 else 0, size or 0


def _widths(rows, width):
    """
    Names and packets get the width of the longest of these rows. The bar and the losses share the rest. In a small table the
    packets go first, then the least window, then the bars.
    """
    wide = width >= WIDE_FROM
    longest = max((len(plan.transport(row["transport"]).words) for row in rows), default=NARROW_NAME)
    names = (longest if wide else min(longest, NARROW_NAME), max((len(row["tool"]) for row in rows), default=0))
    packets = max((len(count_words(row["on_wire"])) for row in rows), default=0)
    deviation = wide and any(row["runs"] > 1 for row in rows)
    fixed = (GOODPUT + SPREAD * deviation, max(packets, len("packets")) * wide, SENDER, RECEIVER)
    free = width - sum(names) - sum(fixed) - len(GAP) * (6 if wide else 5)
    least = LEAST if free >= LEAST_FROM else 0
    free -= least + len(GAP) if least else 0
    bar = (free - len(GAP)) // 3 if free >= BAR_FROM else 0
    free -= bar + len(GAP) if bar else 0
    return (*names, fixed[0], least, bar, fixed[1], free, SENDER, RECEIVER)


def _line(cells, widths, align=ALIGN):
    return GAP.join(f"{cell:{side}{width}}" for cell, side, width in zip(cells, align, widths) if width).rstrip()


def _row_lines(row, widths, best, first, paint):
    name = wrap(plan.transport(row["transport"]).words, widths[0]) if first else [""]
    style = "bold" if row["tool"] == "rocescope" else None
    losses = wrap(loss_words(row) + share_of_pairs(row), widths[6]) or [""]
    goodput = mean_goodput(row)
    mark = "^" if row.get("goodput_at") == "sender" else ""
    cells = (name[0], row["tool"], spread_words(list(noise.figures(row).values()), widths[2] > GOODPUT) + mark,
             figure_words(row.get("goodput_min_gbps")), bar(goodput or 0, best, widths[4]), count_words(row["on_wire"]),
             losses[0], cores_words(row["sender_cores"]), cores_words(row["receiver_cores"]))
    plain = _line(cells, widths)
    more = itertools.zip_longest(name[1:], losses[1:], fillvalue="")
    lines = [plain] + [_line((name, "", "", "", "", "", line, "", ""), widths) for name, line in more]
    if style:
        lines[0] = plain.replace(row["tool"], paint(row["tool"], style), 1)
    if row.get("unexplained"):
        lines = [paint(line, "yellow") for line in lines]
    return lines


def bar(value, best, width):
    """In eighths of a character. A value above 0 always shows."""
    if best <= 0 or value <= 0:
        return ""
    eighths = max(1, round(value / best * width * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def packets_lost(row):
    """On all stretches. None: not known."""
    return join.difference(row["sent"], row["received"])


def places_words(transport, losses):
    """'receive buffer 12, softnet 3' from {PLACE: n}"""
    places = plan.transport(transport).places
    return ", ".join(f"{places[place].words} {count_words(n)}" for place, n in losses.items())


def loss_words(row):
    """'none', or which share of the packets was lost, where, and what no counter explains."""
    lost, words = packets_lost(row), []
    if lost is None:
        known = places_words(row["transport"], row["losses"])
        words.append(f"{known}; the rest is not known" if known else "not known")
    elif lost and not row["losses"] and row.get("unexplained") == lost:
        words.append(f"{share_words(lost, row['sent'])} unexplained")
    elif lost:
        words.append(f"{share_words(lost, row['sent'])}{_shares_words(row)}")
    if row.get("unexplained") and (row["losses"] or row["unexplained"] != lost):
        words.append(f"{count_words(row['unexplained'])} unexplained")
    if row.get("retransmitted"):
        words.append(f"{count_words(row['retransmitted'])} sent again")
    messages = row.get("messages") or {}
    if messages.get("lost") and messages["sent"] != row["sent"]:
        words.append(f"{share_words(messages['lost'], messages['sent'])} of the messages")
    return ", ".join(words) or "none"


def _shares_words(row):
    """Continues the sum of losses: one place has all of it, or each of several has its share."""
    places = plan.transport(row["transport"]).places
    losses = sorted(row["losses"].items(), key=lambda item: -item[1])
    if len(losses) < 2:
        return "".join(f" {places[place].words}" for place, _ in losses)
    return ": " + ", ".join(f"{places[place].words} {share_words(n, row['sent'])}" for place, n in losses)


def share_of_pairs(row):
    """Continues the losses: what the pairs with the least and the most goodput have."""
    share = row.get("pairs_gbps")
    return f"; pairs: {figure_words(share['least'])} to {figure_words(share['most'])} Gbit/s" if share else ""


def share_words(part, whole):
    if not whole:
        return count_words(part)
    share = 100 * part / whole
    return f"{share:.2g} %" if abs(share) < 99.5 else f"{share:.0f} %"


def mean_goodput(row):
    return (row.get("goodput_gbps") or {}).get("mean")


def figure_words(value):
    if value is None:
        return "?"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def rate_figure(gbps):
    """Of a rate that was set: three digits."""
    return "none" if gbps is None else f"{gbps:.3g}"


def spread_words(values, spread):
    """The mean, and if there is room the standard deviation as a part of it."""
    found = join.mean_std(values)
    mean, std = found["mean"], found["std"]
    return figure_words(mean) + (f" ±{100 * std / mean:.0f}%" if mean and std is not None and spread else "")


def count_words(n):
    return "?" if n is None else f"{n:,}"


def microseconds(ns):
    """Empty if it is not known."""
    return "" if ns is None else figure_words(ns / 1e3)


def energy_words(row):
    joules = row.get("joules_per_gbit")
    return "energy not available" if joules is None else f"{figure_words(joules)} J per Gbit"


def cores_words(cores):
    def one(value):
        return "?" if value is None else f"{value:.2f}"

    return "" if not cores else f"{one(cores['process'])}/{one(cores['system'])}"
