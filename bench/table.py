# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures as Markdown that is also readable on a terminal."""
from bench import machine

ORDER = ("empty", "empty-bare", "parse", "streams", "icrc", "all", "events", "copy", "icrc-slice8", "icrc-table", "user-zlib",
         "user-isal")


def render(result):
    parts = [machine.words(result["machine"]) + (" - a quick look, no figures to quote" if result["quick"] else ""),
             _payloads(result["program"]), _qps(result), _live(result["live"]),
             _send(result["send"]), _offline(result["offline"]), _capture(result["capture"]), _floors(result["floors"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(title, head, rows):
    if not rows:
        return ""
    cells = [head] + [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) + " |"
             for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|")
    return "\n".join([title, "", *lines])


def _cell(row):
    """The time of the empty programs, which is subtracted from the others."""
    return row["ns"] if row["name"].startswith("empty") else row["net_ns"]


def _payloads(program):
    sizes = sorted({row["payload"] for row in program if row["qps"] == 1})
    found = {(row["name"], row["payload"]): _cell(row) for row in program if row["qps"] == 1}
    rows = [[name] + [found.get((name, size)) for size in sizes] for name in ORDER
            if any((name, size) in found for size in sizes)]
    return _table("ns a packet by payload, net of `empty`, one QP (best run):",
                  ["program"] + [f"{size} B" for size in sizes], rows)


def _qps(result):
    counts = sorted({row["qps"] for row in result["program"] if row["payload"] == 1024})
    found = {(row["name"], row["qps"]): row["net_ns"] for row in result["program"] if row["payload"] == 1024}
    rows = [[name] + [found.get((name, count)) for count in counts] for name in ("streams", "all", "find-hash", "find-array")]
    head = ["program"] + [f"{count} QP{'s' if count > 1 else ''}" for count in counts]
    if result["flood"]:
        head.append("flood")
        for row in rows:
            row.append(result["flood"][0]["net_ns"] if row[0] == "all" else None)
    return _table("ns a packet by QPs in turn, 1024 B, net of `empty`:", head, rows if counts else [])


def _live(rows):
    return _table("Live over veth (median; ns of a CPU a packet, where the receiver has one of its own: best):",
                  ["payload", "QPs", "receiver on", "ICRC", "monitor Mpps", "empty Mpps", "ratio", "uncounted", "monitor ns",
                   "empty ns"],
                  [[row["payload"], row["qps"], "its own CPU" if row["apart"] else "the sender's", row["icrc"],
                    f"{row['monitor_mpps']:.2f}", f"{row['empty_mpps']:.2f}",
                    f"{row['monitor_mpps'] / row['empty_mpps']:.0%}", row["uncounted"], _ns(row["monitor_cpu_ns"]),
                    _ns(row["empty_cpu_ns"])] for row in rows])


def _send(rows):
    return _table("The sender over veth, and one unchanged packet by the same way out (median):",
                  ["payload", "QPs", "way out", "chosen", "send Mpps", "unchanged Mpps", "ratio", "runs' ratios"],
                  [[row["payload"], row["qps"], row["out"], "by auto" if row["chosen"] == "auto" else "",
                    f"{row['send_mpps']:.3f}", f"{row['unchanged_mpps']:.3f}", f"{row['ratio']:.0%}", _range(row)]
                   for row in rows])


def _offline(rows):
    """Compared with the least work for the same file."""
    least = {row["file"]: row["bytes_per_s"] for row in rows if row["tool"] == "reference"}
    return _table("Capture files in the page cache (median):",
                  ["file", "tool", "CPUs", "packets", "Mpps", "GB/s", "of the reference"],
                  [[row["file"], row["tool"], row["cpus"], row["packets"], f"{row['packets_per_s'] / 1e6:.3f}",
                    f"{row['bytes_per_s'] / 1e9:.2f}",
                    f"{row['bytes_per_s'] / least[row['file']]:.0%}" if row["file"] in least else None] for row in rows])


def _capture(rows):
    return _table("Capturing what the sender sends as fast as it goes, packets at random dropped, repeated, corrupted, late:",
                  ["payload", "tool", "sent", "Mpps sent", "seen", "in the file", "faulty", "of them in the file", "said lost"],
                  [[row["payload"], row["tool"], row["sent"], f"{row['sent_mpps']:.3f}", row["seen"], row["written"],
                    row["faulty"], row["faulty_written"], row["lost"]] for row in rows])


def _range(row):
    ratios = [send / unchanged for send, unchanged in zip(row["send_runs"], row["unchanged_runs"])]
    return f"{min(ratios):.0%} to {max(ratios):.0%}"


def _ns(value):
    return None if value is None else round(value)


def _floors(rows):
    return _table("What it has to reach (ratios of the same run):", ["ratio of", "is", "must be", "holds"],
                  [[row["name"], row["ratio"], f"{row['kind']} {row['floor']}", "yes" if row["holds"] else "NO"]
                   for row in rows])
