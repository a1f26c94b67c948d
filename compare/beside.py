# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Our programs beside the tools of others on the same transport: on the page, and what compare tools prints. Pure."""
from compare import noise, plan, table
from compare.transport import PING_PONG

HEADS = ("transport", "tool of others", "ours", "theirs", "ours / theirs", "in words")
WORDS = {"more": "ours carries more", "less": "ours carries less", "noise": "no more than noise", "too few": "too few pairs to tell"}
TIMED = {**WORDS, "more": "ours answers later", "less": "ours answers sooner"}


def pairs(rows):
    """[(section's title, unit, [cells of HEADS])] of the rows of a report that ran."""
    found = []
    ran = [row for row in rows if row["status"] == "ok" and "each" in row]
    sections = noise.sections(ran)
    for place in dict.fromkeys(map(noise.place, known := noise.beside_tools(ran))):
        path, flows, ip, size, rate = place
        means = {(row["transport"], row["tool"]): noise.mean(row) for row in sections[place]}
        cells = [_cells(each, means) for each in known if noise.place(each) == place]
        found.append((f"{path}, {table.title(size, rate, flows, ip)}", table.unit(rate), cells))
    return found


def _cells(each, means):
    name, tool = each["transport"], each["tool"]
    ratio = "?" if each["ratio"] is None else table.ratio_words(each) if each["low"] is not None else f"{each['ratio']:.3g}"
    words = (TIMED if each["rate"] == PING_PONG else WORDS).get(each["verdict"], each["verdict"])
    return (plan.transport(name).words, tool, table.figure_words(means[name, "rocescope"]), table.figure_words(means[name, tool]), ratio, words)


def why(rows):
    """Sentences on why pairs may differ: how else a tool counts, and what may make it faster or slower. Each once."""
    said = {}
    for each in noise.beside_tools([row for row in rows if row["status"] == "ok" and "each" in row]):
        tools = [tool for tool in plan.transport(each["transport"]).tools if tool.name == each["tool"]]
        tool = next((tool for tool in tools if tool.answers == (each["rate"] == PING_PONG)), None)
        if tool and tool.differs:
            said.setdefault(f"{tool.name}: {tool.differs}", None)
    return list(said)
