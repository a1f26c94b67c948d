# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures as Markdown that is also readable on a terminal: a section of docs/performance.md."""
from bench import machine

ORDER = ("empty", "empty-bare", "parse", "streams", "icrc", "all", "events", "receive", "copy", "icrc-slice8", "icrc-table", "user-zlib",
         "user-isal")
PACKETS = {"uc": "UC", "rc": "RC requests", "udp": "UDP"}
MARK = "*"      # behind a figure of all samples, because too few were quiet


def render(result):
    core = machine.core(result["machine"])
    tables = [_payloads(result["program"]), _qps(result), _changes(result["program"]), _datagrams(result["program"]), _live(result["live"]),
              _options(result["options"]), _send(result["send"]),
              _receivers(result["receivers"]), _offline(result["offline"]), _capture(result["capture"]),
              _verbs(result["verbs"]), _floors(result["floors"])]
    parts = [f"### {result['machine']['cpu']}", _machine(result)]
    return "\n\n".join(parts + [table(f"{title}; {core}:", head, rows) for title, head, rows in tables if rows]) + "\n"


def _machine(result):
    counts = [row["quiet"] for part in ("program", "flood", "live", "options", "send", "receivers", "offline", "capture") for row in result[part]]
    few = sum(not count["enough"] for count in counts)
    return (f"`make bench{' ARGS=--quick' if result['quick'] else ''}` on: {machine.words(result['machine'])}. "
            f"Quiet samples: {quiet(counts)}."
            + (f" In {few} of {len(counts)} rows they were too few: `{MARK}` is a figure of all samples." if few else "")
            + (" A quick look, no figures to quote." if result["quick"] else ""))


def table(title, head, rows):
    cells = [head] + [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) + " |"
             for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|")
    return "\n".join([title, "", *lines])


def quiet(counts):
    return f"{sum(count['runs'] for count in counts)} of {sum(count['of'] for count in counts)}"


def mark(row, figure):
    return f"{figure}{'' if row['quiet']['enough'] else MARK}"


def _cell(row):
    """The time of the empty programs, which is subtracted from the others."""
    return mark(row, row["ns"] if row["name"].startswith("empty") else row["net_ns"])


def _grid(names, columns, found):
    """A line for each name: the rows found for it by column, and how many of their samples were quiet."""
    lines = []
    for name in names:
        rows = [found.get((name, column)) for column in columns]
        if any(rows):
            lines.append([name] + [row and _cell(row) for row in rows] + [quiet([row["quiet"] for row in rows if row])])
    return lines


def _payloads(program):
    sizes = sorted({row["payload"] for row in program if row["qps"] == 1})
    found = {(row["name"], row["payload"]): row for row in program if row["qps"] == 1}
    return ("ns a packet by payload, net of `empty`, one QP (best quiet run)",
            ["program"] + [f"{size} B" for size in sizes] + ["quiet"], _grid(ORDER, sizes, found))


def _qps(result):
    columns = sorted({row["qps"] for row in result["program"] if row["payload"] == 1024})
    found = {(row["name"], row["qps"]): row for row in result["program"] if row["payload"] == 1024}
    head = ["program"] + [f"{count} QP{'s' if count > 1 else ''}" for count in columns]
    if result["flood"]:
        found["all", "flood"] = result["flood"][0]
        columns, head = columns + ["flood"], head + ["flood"]
    return ("ns a packet by QPs in turn, 1024 B, net of `empty`", head + ["quiet"],
            _grid(("streams", "all", "find-hash", "find-array"), columns, found))


def _beside_streams(program, kind):
    """A line for each row of that kind, beside what `streams` takes for usual packets of RoCE."""
    streams = {row["qps"]: row for row in program if (row["name"], row["payload"]) == ("streams", 1024)}
    rows = [row for row in program if row["name"].startswith(kind)]
    return [[row["name"].removeprefix(kind), row["qps"], _cell(row), _cell(streams[row["qps"]]),
             f"{row['net_ns'] / streams[row['qps']]['net_ns']:.2f}", quiet([row["quiet"]])] for row in rows if row["qps"] in streams]


def _changes(program):
    return ("ns a packet in which more changes, 1024 B, net of `empty`, beside `streams`: the address, round a ring (`--imm ring`); "
            "the traffic class, with each packet", ["what changes", "QPs", "ns", "`streams`", "ratio", "quiet"], _beside_streams(program, "streams-"))


def _datagrams(program):
    return ("ns a datagram of `--udp` by its format, 1024 B, net of `empty`, beside `streams`, RoCE without its ICRC",
            ["format", "flows", "ns", "`streams`", "ratio", "quiet"], _beside_streams(program, "udp-"))


def _live(rows):
    return ("Live over veth (median; ns of a CPU a packet, where the receiver has one of its own: best)",
            ["payload", "QPs", "receiver on", "ICRC", "monitor Mpps", "empty Mpps", "ratio", "uncounted", "monitor ns",
             "empty ns", "quiet"],
            [[row["payload"], row["qps"], "its own CPU" if row["apart"] else "the sender's", row["icrc"],
              f"{row['monitor_mpps']:.2f}", f"{row['empty_mpps']:.2f}",
              mark(row, f"{row['monitor_mpps'] / row['empty_mpps']:.0%}"), row["uncounted"], _ns(row["monitor_cpu_ns"]),
              _ns(row["empty_cpu_ns"]), quiet([row["quiet"]])] for row in rows])


def _options(rows):
    return ("What a packet of 1024 B costs on the sender's CPU, ns more than an empty program",
            ["command", "packets", "best", "median", "quiet"],
            [[row["command"], PACKETS[row["packet"]], mark(row, round(row["net_ns"])), mark(row, round(row["net_ns_median"])),
              quiet([row["quiet"]])] for row in rows])


def _send(rows):
    return ("The sender over veth, and one unchanged packet by the same way out (median)",
            ["payload", "QPs", "way out", "chosen", "send Mpps", "unchanged Mpps", "ratio", "runs' ratios", "quiet"],
            [[row["payload"], row["qps"], row["out"], "by auto" if row["chosen"] == "auto" else "",
              f"{row['send_mpps']:.3f}", f"{row['unchanged_mpps']:.3f}", mark(row, f"{row['ratio']:.0%}"), _range(row),
              quiet([row["quiet"]])] for row in rows])


def _receivers(rows):
    return ("Receivers of RDMA WRITE over veth, all of their work on one CPU (median)",
            ["receiver", "CPU first to", "payload", "taken GB/s", "ns a packet", "in the process", "CPU busy", "GB/s a CPU",
             "lost", "quiet"],
            [[row["receiver"], row["first"], row["payload"], *_receiver(row)] for row in rows])


def _receiver(row):
    return [f"{row['gbytes_per_s']:.2f}", mark(row, round(row["ns"])), round(row["process_ns"]), f"{row['busy']:.0%}",
            f"{row['payload'] / row['ns']:.2f}", f"{1 - row['packets'] / row['sent']:.0%}", quiet([row["quiet"]])]


def _offline(rows):
    """Compared with the least work for the same file."""
    least = {row["file"]: row["bytes_per_s"] for row in rows if row["tool"] == "reference"}
    return ("Capture files in the page cache (median)",
            ["file", "tool", "CPUs", "packets", "Mpps", "GB/s", "of the reference", "quiet"],
            [[row["file"], row["tool"], row["cpus"], row["packets"], f"{row['packets_per_s'] / 1e6:.3f}",
              mark(row, f"{row['bytes_per_s'] / 1e9:.2f}"),
              f"{row['bytes_per_s'] / least[row['file']]:.0%}" if row["file"] in least else None, quiet([row["quiet"]])]
             for row in rows])


def _capture(rows):
    return ("Capturing what the sender sends as fast as it goes, packets at random dropped, repeated, corrupted, late",
            ["payload", "tool", "sent", "Mpps sent", "seen", "in the file", "faulty", "of them in the file", "said lost", "quiet"],
            [[row["payload"], row["tool"], row["sent"], mark(row, f"{row['sent_mpps']:.3f}"), row["seen"], row["written"],
              row["faulty"], row["faulty_written"], row["lost"], quiet([row["quiet"]])] for row in rows])


def _verbs(rows):
    return ("What probes add to a call of verbs, ns (median; the provider's functions begin with mov: only with --expensive)",
            ["call", "WRs or completions", "begins with", "without", "added"],
            [[row["call"], row["wrs"], row["beginning"], round(row["bare_ns"]), round(row["added_ns"])] for row in rows])


def _range(row):
    ratios = [send / unchanged for send, unchanged in zip(row["send_runs"], row["unchanged_runs"])]
    return f"{min(ratios):.0%} to {max(ratios):.0%}"


def _ns(value):
    return None if value is None else round(value)


def _floors(rows):
    return ("What it has to reach (ratios of the same run)", ["ratio of", "is", "must be", "holds"],
            [[row["name"], f"{row['ratio']}{'' if row['quiet'] else MARK}", f"{row['kind']} {row['floor']}",
              "yes" if row["holds"] else "NO"] for row in rows])
