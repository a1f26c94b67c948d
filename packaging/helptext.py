# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What `rocescope [COMMAND] --help` prints, taken apart: the man page is made of it, and tests compare with it."""
import re
import subprocess

COLUMN = 16     # words that go on in the next line begin at least there
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


def ask(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout.splitlines()


def join(words):
    return " ".join(" ".join(words).split())


def commands(program):
    """Those with a --help of this manner: {name: words}."""
    lines = ask(program, "--help")
    found = dict(entries(lines[2:lines.index("", 2)]))
    return {name: words for name, words in found.items()
            if ask(program, name, "--help")[0].startswith(f"usage: rocescope {name} ")}


def entries(lines):
    """A list in two columns: [(name, words)]."""
    found = []
    for line in lines:
        if found and len(line) - len(line.lstrip()) >= COLUMN:
            found[-1][1].append(line)
        elif match := ENTRY.match(line):
            found.append((match[1], [match[2] or ""]))
    return [(name, join(words)) for name, words in found]


def topic(program, *words):
    return entries(ask(program, *words))


class Help:
    """
    usage     "rocescope send IFACE|-w FILE ..."
    prose     paragraphs
    sections  [(heading or "", [("-j, --json", words), ...])]; the presets of send are such a section, too
    examples  [(words, command)]
    """

    def __init__(self, program, command):
        lines = ask(program, command, "--help")
        self.usage = lines[0].removeprefix("usage: ")
        end = lines.index("Examples:")
        comments, ran = lines[end + 1::2], lines[end + 2::2]
        self.examples = [(c.removeprefix("  # "), r.strip()) for c, r in zip(comments, ran, strict=True)]
        self.prose, self.sections = [], []
        for block in "\n".join(lines[1:end]).strip("\n").split("\n\n"):
            self._take(block.split("\n"))

    def _take(self, block):
        if any(line.startswith("  ") for line in block):
            heading = "" if block[0].startswith("  ") else block[0].rstrip(":")
            self.sections.append((heading, entries(block)))
        else:
            self.prose.append(join(block))

    def options(self):
        """{"--mode": "auto|native|generic", "-j": "", "--json": "", ...}"""
        found = {}
        for _, list_of in self.sections:
            for name, _ in list_of:
                words = name.replace(",", "").split() if name.startswith("-") else []
                value = " ".join(w for w in name.split() if not w.startswith("-"))
                found.update({w: value for w in words if w.startswith("-")})
        return found
