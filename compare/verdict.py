# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a report says, in sentences: which row delivered most, what lost nothing, where the others lost. Pure."""
import math

from compare import disturbed, noise, plan, table
from compare.noise import ENOUGH
from compare.paths import PATHS
from compare.search import Goal
from compare.transport import PING_PONG


def sentences(rows, comparisons, searches=()):
    """rows, comparisons (noise.py) and searches of a report. What is lossless, then a few sentences for each section."""
    result = [f"{path_words(each['path'])}: {lossless(each)}" for each in searches if each["status"] == "ok"]
    for place, section in noise.sections(rows).items():
        here = [c for c in comparisons if noise.place(c) == place]
        path, flows, ip, size, rate = place
        lead = f"{path_words(path)}, {table.title(size, rate, flows, ip)}:"
        said = _best(section, here) if rate in (None, PING_PONG) else []
        said += [] if rate == PING_PONG else _losses(section)
        result += [f"{lead} {' '.join(said)}"] if said else []
    return result + _disturbed(rows, searches)


def _disturbed(rows, searches):
    """What others on the physical machine did to the figures: of each search, and of rows whose marks go with their losses."""
    told = [(each, disturbed.of_search(each, table.rate_figure)) for each in searches if each["status"] == "ok"]
    told += [(row, disturbed.of_row(row, table.figure_words)) for row in rows if row["status"] == "ok" and row.get("marks")
             and disturbed.differ(row["marks"])]
    return [f"{path_words(each['path'])}, {words(each)}, {table.size_words(each['size'])}: {said}" for each, said in told if said]


def lossless(search):
    """A search (trials.record()) in a sentence."""
    row = ", ".join([words(search), table.size_words(search["size"]), *table.more_words(search["flows"], search["ip"])])
    if search["status"] != "ok":
        return f"{row}: {search['status']}: {search['why']}."
    again = search["unit"] == "retransmission"
    goal, lost = Goal.parse(search["goal"]), "sent again" if again else "lost"
    aim = f"at most {100 * goal.loss:.2g} % {lost}" if goal.loss else "nothing sent again" if again else "lossless"
    aim += table.trials_words(goal)
    if search["lossless_gbps"] is None:
        least = table.rate_figure(min(trial["rate_gbps"] for trial in search["trials"]))
        if search["limit"] == "sender":
            return f"{row}: the sender kept no rate that was tried, down to {least} Gbit/s."
        return f"{row}: {aim} at no rate down to {least} Gbit/s{_first_loss(search)}."
    what = "message" if search["unit"] == "message" else "packet"
    known = f"{table.count_words(search['packets'])} {what}s; at most {search['at_most']:.2g} of all are {lost}, with 95 %"
    return f"{row}: {aim} up to {table.rate_figure(search['lossless_gbps'])} Gbit/s ({known}); {_above(search)}{_walked(search)}."


def _above(search):
    limit = search["limit"]
    if limit == "sender":
        return "the sender offers no more"
    if limit == "most":
        return "the search was told to end there"
    return _first_loss(search).removeprefix("; ") or "more is lost above"


def _walked(search):
    """What the walk afterwards lost at such a rate, too."""
    below = [each for each in search["trials"] if each["walk"] and each["lost"] and each["rate_gbps"] <= search["lossless_gbps"]]
    return f"; but the walk afterwards lost at {table.rate_figure(min(each['rate_gbps'] for each in below))}" if below else ""


def _first_loss(search):
    first = search["first_loss"]
    if not first:
        return ""
    places = plan.transport(search["transport"]).places
    where = [places[name].words for name, n in sorted(first["losses"].items(), key=lambda item: -item[1]) if n > 0]
    return (f"; first loss at {table.rate_figure(first['rate_gbps'])}: {table.share_words(first['lost'], first['of'])}"
            + (f" ({', '.join(where)})" if where else ""))


def path_words(path):
    """'local, path MTU 1024' (plan.Part.path) as the beginning of a sentence."""
    where, comma, setting = path.partition(",")
    return PATHS[where].words + comma + setting


def _best(section, comparisons):
    best = noise.best_of(section)
    if not noise.mean(best):
        return []
    time, figure = best["rate"] == PING_PONG, table.figure_words(noise.mean(best))
    first = f"{words(best)} {f'took the least time, {figure} µs' if time else f'delivered most, {figure} Gbit/s'}"
    against = [c for c in comparisons if c["a"] == noise.name(best)]
    alike = [words(c["b"]) for c in against if c["verdict"] == "noise"]
    worse = sorted((c for c in against if c["verdict"] in ("more", "less")), key=lambda c: abs(math.log(c["ratio"])))
    few = [words(c["b"]) for c in against if c["verdict"] == "too few"]
    if few and len(few) == len(against):
        return [f"{_sentence(first)} No difference is claimed: that takes {ENOUGH} runs of each row."]
    if worse:
        first += f", {table.ratio_words(worse[0])} {'as long as ' * time}{words(worse[0]['b'])}"
    said = [_sentence(first)]
    if few:
        said.append(_sentence(f"{listed(few)} had too few figures to be compared"))
    if alike:
        said.append(_sentence(f"{listed(alike)} differ{'s' if len(alike) == 1 else ''} from it only by noise"))
    return said


def _losses(section):
    known = [row for row in section if row["sent"] is not None and row["received"] is not None]
    none = [words(row) for row in known if row["sent"] == row["received"] and not messages_lost(row)]
    lost = [f"{words(row)} lost {table.share_words(row['sent'] - row['received'], row['sent'])}{where(row)}{_with_them(row)}"
            for row in known if row["sent"] > row["received"]]
    lost += [f"{words(row)} lost no packet, but {messages_lost(row)} of the messages"
             for row in known if row["sent"] == row["received"] and messages_lost(row)]
    lost += [f"{words(row)} lost {messages_lost(row)} of the messages" for row in section if row not in known and messages_lost(row)]
    if len(none) == len(section) > 1:
        return ["Nothing was lost."]
    return ([f"Nothing was lost by {listed(none)}."] if none else []) + [_sentence("; ".join(lost)) for _ in lost[:1]]


def messages_lost(row):
    """The share of the messages that was lost, in words. '': none, as far as is known."""
    messages = row.get("messages") or {}
    return table.share_words(messages["lost"], messages["sent"]) if messages.get("lost") else ""


def _with_them(row):
    """', and with them 40 % of the messages', where a message has several packets. '': they are the same."""
    messages = messages_lost(row)
    return f", and with them {messages} of the messages" if messages and row["messages"]["sent"] != row["sent"] else ""


def where(row):
    """Continues a share that was lost: ' (receive buffer)', the place with the most first."""
    places = plan.transport(row["transport"]).places
    names = [places[name].words + _buffer(row) * (name == "receive_buffer")
             for name, n in sorted(row["losses"].items(), key=lambda item: -item[1]) if n > 0]
    return f" ({', '.join(names + ['unexplained'] * bool(row['unexplained']))})" if names or row["unexplained"] else ""


def _buffer(row):
    """
    ' of 208 KiB, once unread for 20 ms'. A small buffer and a slow program lose packets at the same place, and the kernel counts them
    alike. These two figures tell one from the other.
    """
    buffer = row.get("receive_buffer")
    if not buffer:
        return ""
    unread = f"{buffer['unread_us']} µs" if buffer["unread_us"] < 1000 else f"{buffer['unread_us'] / 1000:.0f} ms"
    return f" of {buffer['bytes'] / 1024:.0f} KiB, once unread for {unread}"


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def words(row):
    """A row, or what names it in a comparison."""
    return f"{plan.transport(row['transport']).words}{'' if row['tool'] == 'rocescope' else ' by ' + row['tool']}"


def listed(names):
    """'a, b and c'; '' of none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
