# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What rocescope says of its options: `rocescope --dump-options`. The man page and the completion are made of it."""
import json
import re
import subprocess

COLUMN = 16     # words that go on in the next line begin at least there
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


def ask(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def dump(program):
    """All of it; lib/option_dump.h says what a command has."""
    return json.loads(ask(program, "--dump-options"))


def commands(program):
    """Those with options: {name: what the dump has of it}."""
    return {c["name"]: c for c in dump(program)["commands"] if c["sections"]}


def options(command):
    """Each option of a command in the dump that --help shows."""
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
