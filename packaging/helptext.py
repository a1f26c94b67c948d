# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads the options of rocescope from `rocescope --dump-options`. The man page and the completion are generated from it."""
import json
import re
import subprocess

COLUMN = 16     # a continuation line begins its words at this column or later
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


def ask(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def dump(program):
    """The whole dump. lib/option_dump.h describes what a command has."""
    return json.loads(ask(program, "--dump-options"))


def commands(program):
    """The commands with options: {name: their part of the dump}."""
    return {c["name"]: c for c in dump(program)["commands"] if c["sections"]}


def options(command):
    """The options of a command that --help shows."""
    return [o for section in command["sections"] for o in section["options"] if not o["hidden"]]


def names(option):
    """["-j", "--json"]"""
    return [f"-{option['letter']}"] * bool(option["letter"]) + [f"--{option['name']}"]


def entries(lines):
    """A list in two columns: [(name, words)]."""
    found = []
    for line in lines:
        if found and len(line) - len(line.lstrip()) >= COLUMN:
            found[-1][1].append(line)
        elif match := ENTRY.match(line):
            found.append((match[1], [match[2] or ""]))
    return [(name, " ".join(" ".join(words).split())) for name, words in found]


def topic(program, name):
    """The list that `--help NAME` prints."""
    return entries(ask(program, "--help", name).splitlines())
