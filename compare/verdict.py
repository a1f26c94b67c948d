# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a report says, in sentences: which row delivered most, what lost nothing, where the others lost. Pure."""
from compare import noise, plan, table
from compare.noise import ENOUGH
from compare.paths import PATHS


def sentences(rows, comparisons):
    """rows and comparisons (noise.py) of a report. A few sentences for each section."""
    result = []
    for (where, size, rate), section in noise.sections(rows).items():
        here = [c for c in comparisons if (c["where"], c["size"], c["rate"]) == (where, size, rate)]
        lead = f"{PATHS[where].words}, {table.title(size, rate)}:"
        said = ([] if rate else _most(section, here)) + _losses(section)
        result += [f"{lead} {' '.join(said)}"] if said else []
    return result


def _most(section, comparisons):
    best = max(section, key=lambda row: row["goodput_gbps"]["mean"])
    first = f"{words(best)} delivered most, {table.figure_words(best['goodput_gbps']['mean'])} Gbit/s"
    against = [c for c in comparisons if c["a"] == noise.name(best)]
    alike = [words(c["b"]) for c in against if c["verdict"] == "noise"]
    less = sorted((c for c in against if c["verdict"] == "more"), key=lambda c: c["ratio"])
    if any(c["verdict"] == "too few" for c in against):
        return [f"{_sentence(first)} No difference is claimed: that takes {ENOUGH} runs of each row."]
    if less:
        first += f", {table.ratio_words(less[0])} {words(less[0]['b'])}"
    said = [_sentence(first)]
    if alike:
        said.append(_sentence(f"{_list(alike)} differ{'s' if len(alike) == 1 else ''} from it only by noise"))
    return said


def _losses(section):
    known = [row for row in section if row["sent"] is not None and row["received"] is not None]
    none = [words(row) for row in known if row["sent"] == row["received"]]
    lost = [f"{words(row)} lost {table.share_words(row['sent'] - row['received'], row['sent'])}{_where(row)}"
            for row in known if row["sent"] > row["received"]]
    return ([f"Nothing was lost by {_list(none)}."] if none else []) + [_sentence("; ".join(lost)) for _ in lost[:1]]


def _where(row):
    """' (receive buffer)', the place with the most first."""
    places = plan.transport(row["transport"]).places
    names = [places[name].words for name, n in sorted(row["losses"].items(), key=lambda item: -item[1]) if n > 0]
    return f" ({', '.join(names + ['unexplained'] * bool(row['unexplained']))})" if names or row["unexplained"] else ""


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def words(row):
    """A row, or what names it in a comparison."""
    return f"{plan.transport(row['transport']).words}{'' if row['tool'] == 'rocescope' else ' by ' + row['tool']}"


def _list(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
