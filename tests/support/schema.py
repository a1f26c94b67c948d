# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks the programs' output by the JSON schemas (docs/json.md)."""
import functools
import json
import pathlib
import re

import jsonschema
try:
    import referencing
except ImportError:     # before jsonschema 4.18 (Debian 12), whose RefResolver later ones no longer follow everywhere
    referencing = None

from .project import ROOT

FOLDER = pathlib.Path(ROOT, "build", "schema")
SUFFIX = ".schema.json"
SHARED = "common"   # definitions that several schemas use


@functools.cache
def files():
    """{file name: schema}. Schemas refer to each other by file name."""
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*" + SUFFIX)}


def names():
    """Every NAME of a rocescope.NAME/1."""
    found = {path.name.removesuffix(SUFFIX) for path in pathlib.Path(ROOT, "docs", "schema").glob("*" + SUFFIX)}
    return sorted(found - {SHARED})


@functools.cache
def validator(name):
    own = files()[name + SUFFIX]
    if referencing:
        registry = referencing.Registry().with_resources((file, referencing.Resource.from_contents(s)) for file, s in files().items())
        others = {"registry": registry}
    else:
        others = {"resolver": jsonschema.RefResolver(name + SUFFIX, own, files())}
    return jsonschema.Draft202012Validator(own, format_checker=jsonschema.FormatChecker(("ipv4", "ipv6")), **others)


def errors(name, document):
    """The errors in the document, each with its place. Empty: the document is valid."""
    return [f"{error.json_path}: {error.message[:500]}" for error in validator(name).iter_errors(document)]


def validate(name, document):
    """Raises AssertionError if the document is not a rocescope.NAME/1."""
    found = errors(name, document)
    assert not found, f"no rocescope.{name}/1:\n" + "\n".join(found[:10])


# ---- does a schema refuse anything? ----

# Keys that a document may lack: pattern of the place.
MAY_LACK = {
    "snapshot": r"untracked|selection(_left_out)?|classes|rates|events|filter|groups|host|streams\.(rates|dialogue|owner|late_by|restart_by|immediate|traffic_class|next_psn|missing)|(streams\.lint|fault_kinds)\..*",
    "event": "imm_expected|imm_seen",
    "verbs": r"filter|qps\.calls\.(opcodes|completed|statuses)\..*",
    "capture": r"reasons\..*",
    "findings": r"findings\.(explains|explained_by)|checked\.answers(_compared)?",
    "stream": r"drops\..*|payload|operation|latency_histogram|ping_pong|unanswered|end_seen|error|mtu|path_mtu|packets_per_message|"
              r"pacing_slipped_us|ring_full|duplicates|late|foreign|receive_buffer_bytes|longest_unread_us|"
              r"socket_receive_buffer_runs|messages_not_completed|packets_not_completed|hw_counters(\..*)?|qps",
    "ring": r"error|receivers\.error",
    "compare": r"(path|paths\.(lab|hosts))\.(referee\.[AB]|findings\.[AB]|nics\.[AB]|link_gbps)|paths\.(lab|local|hosts)|paths\.local\.link_gbps|"
               r"rows\.((each|disturbed)\.)?losses\..*|rows\.(each|disturbed)\.(flow_control|loss_details)\.[AB]\..*|"
               r"searches\.(trials|first_loss)\.losses\..*",
    "bench": r"machine\.mitigations\..*|refused\.(qps|icrc|apart|out|tool)",
}
# A stream lacks counters that do not apply to it, but never these.
STREAM_HAS = ("bytes", "payload_bytes", "ecn_ce", "roce_packets", "icrc_checked", "icrc_unchecked", "icrc_bad", "truncated",
              "unknown_opcodes", "short_packets")


def may_lack(name, place):
    counters = files()["names" + SUFFIX]["$defs"]["stream_counters"]["properties"]
    if name == "snapshot" and place.startswith("streams.") and place[8:] in set(counters) - set(STREAM_HAS):
        return True
    return re.fullmatch(MAY_LACK.get(name, ""), place) is not None


def keys(value, place=""):
    """(place, the object, its key) of each place once. The elements of a list are one place."""
    found, inner = {}, []
    if isinstance(value, list):
        inner = [(place, element) for element in value]
    elif isinstance(value, dict):
        found = {f"{place}{key}": (value, key) for key in value}
        inner = [(f"{place}{key}.", element) for key, element in value.items()]
    for where, element in inner:
        for deeper, at in keys(element, where).items():
            found.setdefault(deeper, at)
    return found


def accepted_mistakes(name, document):
    """
    The changes that the schema does not refuse: one key of the document renamed, removed, or with a value of another type.
    """
    accepted = []
    for place, (found, key) in keys(document).items():
        before = dict(found)
        value = before[key]
        for mistake, instead in (("renamed", {f"{key} renamed": value}), ("left out", {}),
                                 ("of another type", {key: "text" if isinstance(value, dict) else {"an": "object"}})):
            found.clear()
            found.update({k: v for k, v in before.items() if k != key}, **instead)
            if not (mistake == "left out" and may_lack(name, place)) and validator(name).is_valid(document):
                accepted.append(f"{place} {mistake}")
        found.clear()
        found.update(before)
    return accepted
