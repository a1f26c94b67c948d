# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures as plots."""
import os

from compare import series, svg

# program, title
CURVES = (("all", "streams and ICRC"), ("icrc", "ICRC by folding"), ("streams", "streams"), ("parse", "parse only"),
          ("user-zlib", "zlib in user space"), ("user-isal", "ISA-L in user space"), ("icrc-slice8", "ICRC, slice-8 in BPF"),
          ("icrc-table", "ICRC, byte table in BPF"))


def draw(folder, result):
    """Plots programs, live and send, each as .svg."""
    for name, picture in (("programs", _programs(result["program"])), ("live", _live(result["live"])), ("send", _send(result["send"]))):
        if picture:
            with open(os.path.join(folder, f"{name}.svg"), "w", encoding="utf-8") as file:
                file.write(svg.standalone(picture))


def _programs(program):
    points = [series.Point(words, line, row["payload"], max(row["net_ns"], 1)) for line, (name, words) in enumerate(CURVES)
              for row in program if row["name"] == name and row["qps"] == 1]
    if not points:
        return None
    across = series.sizes(sorted({point.value for point in points}), "payload (bytes)", str)
    return series.means("ns a packet by payload", points, "ns a packet, net of the empty program", across, lambda point: point.value,
                        lambda point: f"{point.value} bytes: {point.mean} ns", aside=0)


def _bars(title, groups, names):
    """groups: {words: a figure for each of names}."""
    bars = [series.Bar(name, line, group, figures[line]) for group, figures in groups.items() for line, name in enumerate(names)]
    return series.beside(title, bars, "million packets a second", ("", list(groups), "\n".join),
                         lambda bar: f"{', '.join(bar.value)}: {bar.end}") if bars else None


def _size_and_qps(row):
    return f"{row['payload']} B", f"{row['qps']} QP{'s' if row['qps'] > 1 else ''}"


def _live(rows):
    groups = {}
    for row in sorted(rows, key=lambda row: (row["apart"], row["payload"], row["qps"])):
        group = groups.setdefault((*_size_and_qps(row), *["two CPUs"] * row["apart"]), {"empty": row["empty_mpps"]})
        group[row["icrc"]] = row["monitor_mpps"]
    figures = {words: (each["empty"], each["off"], each["all"]) for words, each in groups.items() if {"off", "all"} <= set(each)}
    return _bars("Live rates over veth", figures, ("empty program", "monitor, ICRC off", "monitor, every ICRC"))


def _send(rows):
    figures = {(*_size_and_qps(row), row["out"]): (row["unchanged_mpps"], row["send_mpps"]) for row in rows}
    return _bars("The sender's rates over veth", figures, ("one unchanged packet", "rocescope send"))
