# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs the commands of a page of documentation as a reader would, and compares what they print with what stands there.

A block of code that begins with a line behind `$` or `#` has commands; the lines below each are its output, and `...` stands for
anything: for lines, or for the end of one. A command that only reads files prints exactly what is shown. Of what comes from an
interface, figures differ from run to run: a whole number that is 0 must be 0, and any other one may be any other. Lines may be broken
anywhere.
"""
import contextlib
import difflib
import fnmatch
import os
import re
import select
import signal
import subprocess
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from .patience import PATIENCE, until
from .project import ROOT
from .tap import Tap

END = "--- the end of the output: status "
# What these print depends on this machine: they need only end well, and print lines that begin alike.
MACHINE = re.compile(r"rocescope (path|compare) ")
FILES = re.compile(r"rocescope (analyze|send -w|doctor (-$|- |\S+\.pcap))|tshark -r \S+|build/rtl_example [^t]|^cmp|^echo|^\./my_core|^cat")
BEGUN = re.compile(r"watching|sending|receive: .* at |the changes last|metrics at")
KEPT = re.compile(r"\bnot kept$|^rocescope: send: the rate was not kept.*")     # that is the machine's
OTHER = re.compile(r"\d+ other\b")   # what the kernel itself sends, neighbour discovery for example
ICRC = re.compile(r"\bicrc [0-9a-f]{2}( [0-9a-f]{2}){3}")
JOB = re.compile(r"\[\d+\][ +-]")           # what a shell says of its jobs
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w]|\.\d)")
WIDTH = 124     # of what is written
AT_ONCE = 4     # pages; they often wait
AGAIN = 0.5     # s, between two Ctrl-C


class Step(NamedTuple):
    """A command of a page, what it prints, and the lines of the page where that stands, from 0."""
    command: str
    want: list
    first: int
    end: int


def steps(text):
    found, inside, ours = [], False, False
    for number, line in enumerate(text.splitlines()):
        begins, inside = not inside, line.startswith("    ") or (inside and not line)
        ours = inside and line[4:6] in ("$ ", "# ") if begins or not inside else ours
        if not ours:
            continue
        line = line[4:]
        if found and found[-1].command.endswith("\\") and not found[-1].want:
            found[-1] = Step(found[-1].command[:-1] + line.strip(), [], number + 1, number + 1)
        elif line.startswith(("$ ", "# ")):
            found.append(Step(line[2:], [], number + 1, number + 1))
        elif line or found[-1].want:
            step = found[-1]
            found[-1] = Step(step.command, [*step.want, line.rstrip()], step.first if step.want else number, number + 1)
    return [Step(command, trimmed(want), first, first + len(trimmed(want))) for command, want, first, _ in found]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def trimmed(lines):
    """Without empty lines at both ends."""
    while lines and not lines[0]:
        lines = lines[1:]
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


# ---- whether output is that of the page ----

def exact(text):
    return text


def masked(text):
    """Figures but 0 become N; the bytes of an ICRC differ as well."""
    def mask(match):
        return "0" if match[1] == "0" else "N"
    text = KEPT.sub(lambda found: "" if found[0].startswith("rocescope") else "kept", text)
    return NUMBER.sub(mask, ICRC.sub("icrc BYTES", OTHER.sub("N other", text)))


def beginning(text):
    """The words before the first figure, two at most."""
    return " ".join(re.split(r"\d", text)[0].split()[:2])


def form_of(command):
    if MACHINE.search(command):
        return beginning
    return exact if FILES.search(command) else masked


def alike(want, got, form):
    """Whether the lines are those of the page."""
    pattern = []
    for line in want:
        words = form(line.removesuffix("...")).split()
        pattern += [re.escape(word) for word in words] + [None] * line.endswith("...")
    # words are separated by a blank; `...` stands for any number of them
    whole = "".join(r"(?:\S+ )*" if word is None else f"{word} " for word in pattern)
    return re.fullmatch(whole, "".join(f"{word} " for line in got for word in form(line).split())) is not None


def rewritten(want, got, form):
    """The lines of the page with what was printed in their place: those that `...` stood for are left out again."""
    def close(a, b):
        return difflib.SequenceMatcher(None, form(a), form(b)).ratio()
    best = {(0, 0): (0, None)}
    for i in range(len(want) + 1):
        for j in range(len(got) + 1):
            here = best[i, j][0]
            dots = i < len(want) and want[i].strip() == "..."
            moves = [((i, j + 1), here - 0.3, "new")] if j < len(got) else []
            moves += [((i + 1, j), here - (0 if dots else 0.3), "gone")] if i < len(want) else []
            if i < len(want) and j < len(got):
                moves.append(((i, j + 1), here, "left out") if dots else ((i + 1, j + 1), here + close(want[i], got[j]) - 0.5, "same"))
            for to, score, how in moves:
                if to not in best or best[to][0] < score:
                    best[to] = (score, ((i, j), how))
    lines, at = [], (len(want), len(got))
    while best[at][1]:
        before, how = best[at][1]
        if how == "same" and want[before[0]].endswith(" ..."):
            lines.append(got[before[1]][:len(want[before[0]]) - 4] + " ...")
        elif how in ("new", "same"):
            lines.append(got[before[1]])
        elif how == "gone" and want[before[0]].strip() == "...":
            lines.append(want[before[0]])
        at = before
    return lines[::-1]


# ---- a shell ----

class Shell:
    """One bash for a page, in network, mount and process namespaces of its own, which end with it."""

    def __init__(self, folder):
        command = ["unshare", "--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child", "bash", "--norc"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": folder,
                                             "PATH": f"{os.path.join(ROOT, 'build')}:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"})
        self.rest = b""
        for line in ("set -m; trap : INT; mount -t tmpfs tmpfs /var/log",      # jobs as in a terminal
                     "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up",     # only the page's own frames
                     "mount -t tmpfs tmpfs /run; mount -t bpf bpf /sys/fs/bpf"):      # ip netns and pins, of this page only
            self.run(line)

    def read(self, seconds):
        if not select.select([self.process.stdout], [], [], max(seconds, 0))[0]:
            return False
        self.rest += os.read(self.process.stdout.fileno(), 65536)
        return True

    def children(self):
        """The process groups of bash's jobs."""
        def of(process):
            with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as f:
                return [int(child) for child in f.read().split()]
        return {child for bash in of(self.process.pid) for child in of(bash)}

    def run(self, command, seconds=PATIENCE, interrupt=False):
        """(status, lines): of all that was printed until the command ended. None: it did not end. interrupt: by Ctrl-C, when it has begun."""
        before = self.children()
        self.process.stdin.write(f"{command}\necho \"{END}$?\"\n".encode())
        self.process.stdin.flush()
        limit, asked = time.monotonic() + seconds, None
        while not (end := re.search(rb"(?:^|\n)?" + END.encode() + rb"(\d+)\n", self.rest)):
            if time.monotonic() > limit or (not self.read(0.1) and self.process.poll() is not None):
                return None, self.rest.decode(errors="replace").splitlines()
            if interrupt and not asked and BEGUN.search(self.rest.decode(errors="replace")):
                asked = time.monotonic()
            if asked and time.monotonic() >= asked:
                asked += AGAIN
                for group in self.children() - before:
                    with contextlib.suppress(ProcessLookupError):   # it has ended meanwhile
                        os.killpg(group, signal.SIGINT)
        said, self.rest = self.rest[:end.start()], self.rest[end.end():]
        return int(end[1]), told(said)

    def begun(self, folder, command):
        """Waits until a command in the background says that it has begun, and returns what it printed."""
        if output := re.search(r">(\w+) 2>&1 &$", command):
            path = os.path.join(folder, output[1])
            until(lambda: os.path.exists(path) and BEGUN.search(open(path, encoding="utf-8").read()))
        elif "rocescope" in command and not re.search(r"--ready|[^2]>", command):
            until(lambda: self.read(0.1) and BEGUN.search(self.rest.decode(errors="replace")))
        said, self.rest = self.rest, b""
        return told(said)

    def end(self):
        """What runs in the background ends with the namespace of processes."""
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()


def told(said):
    lines = [line.rstrip() for line in said.decode(errors="replace").splitlines()]
    return trimmed([line for line in lines if not JOB.match(line)])


class Result(NamedTuple):
    """Of one command: for a test, and what it printed."""
    step: Step
    good: bool
    words: str
    diagnosis: str
    printed: list
    skipped: str
    ended: bool = True


def bare(command):
    """Without its comment."""
    return re.sub(r"\s+# .*", "", command)


def perform(shell, folder, step):
    """Runs a command. (status, what it printed)"""
    endless = "^C" in step.want or not step.want and "--messages" not in step.command
    status, got = shell.run(step.command, PATIENCE * (5 if MACHINE.search(step.command) else 1), interrupt=endless)
    if status is not None and bare(step.command).endswith("&"):
        got += shell.begun(folder, bare(step.command))
    return status, got


def judge(step, status, got):
    shown = f"{step.command[:90]}{'...' * (len(step.command) > 90)}"
    diagnosis = "\n".join([f"status {status}", "the page:", *step.want, "the command:", *got])
    if status is None:
        return Result(step, False, f"{shown}: it ends", diagnosis, got, "", False)
    want = [line for line in step.want if line != "^C"]
    # wait: that of a job that was killed. What Ctrl-C has ended says so, or dies of it.
    good = status == 0 or "; wait" in step.command or status == 3 and "--exit-code" in step.command or \
        not step.want and (status == 130 or status == 1 and any("send: interrupted" in line for line in got))
    if not want:
        return Result(step, good, f"{shown}: runs", diagnosis, got, "")
    return Result(step, good and alike(want, got, form_of(step.command)), f"{shown}: prints what the page shows", diagnosis, got, "")


def performed(shell, folder, step):
    """The result of a command. One that asks another program is repeated until that answers."""
    limit = time.monotonic() + PATIENCE
    while not (result := judge(step, *perform(shell, folder, step))).good and step.command.startswith("curl") and \
            time.monotonic() < limit:
        time.sleep(0.2)    # until the other program answers
    return result


def run_page(path, before=(), otherwise=lambda step: None):
    """
    The results of a page's commands. before: commands that come first. otherwise(step): None, to run it; (whether it is right, what is
    said) of one that cannot run here; a text, why it is skipped.
    """
    page = steps(read(path))
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(ROOT):
            if not name.startswith("."):
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        shell = None
        for step in page:
            instead = otherwise(step)
            if isinstance(instead, str):
                yield Result(step, True, step.command, "", [], instead)
            elif instead:
                yield Result(step, instead[0], f"{step.command}: is understood", instead[1], [], "")
            else:
                if not shell:
                    shell = Shell(folder)
                    for command in before:
                        if not (result := performed(shell, folder, Step(command, [], 0, 0))).good:
                            yield result
                yield (result := performed(shell, folder, step))
                if not result.ended:
                    break
        if shell:
            shell.end()


def broken(line):
    """The line in pieces that fit the page."""
    line = line.replace("\t", "  ")
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False) \
        if len(line) > WIDTH else [line]


def write(path, results):
    """Puts what commands printed in the place of what the page shows, where that is no longer so; figures of an interface anew."""
    lines = read(path).splitlines()
    for r in reversed(results):
        form = form_of(r.step.command)
        if r.step.want and r.ended and (not r.good or form is masked):
            now = rewritten(r.step.want, r.printed, form)
            lines[r.step.first:r.step.end] = [f"    {piece}".rstrip() for line in now for piece in broken(line)]
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as f:
        f.write("".join(f"{line}\n" for line in lines))


def report(t, path, results):
    for r in results:
        if r.skipped:
            t.skip(f"{path}: {r.words}", r.skipped)
        else:
            t.ok(r.good, f"{path}: {r.words}", r.diagnosis)


def show(results):
    for r in results:
        print(f"# {r.step.command}", *r.printed, "", sep="\n", flush=True)


def test_form(t):
    """The comparison itself, and what --write makes of a page."""
    want = ["6.0 s: 13 frames", "...", "QPN lost badICRC lint", "256    3       0", "hint: 3 PSNs are lost", "..."]
    got = ["6.1 s: 14 frames", "  ICRC 14 checked", "QPN lost badICRC lint", "256    4       0", "hint: 4 PSNs are lost", "hint: more"]
    t.ok(alike(want, got, masked), "other figures are the same form")
    t.ok(not alike(want, got, exact), "... but not the same output of a file")
    for number, line, words in ((2, "QPN badICRC lost lint", "columns in another order"), (2, "QPN hex lost badICRC lint", "a new column"),
                                (3, "256    4       7", "a figure in the place of 0"), (3, "256    0       0", "0 in the place of a figure"),
                                (4, "hint: 4 PSNs are late", "another hint"), (4, "", "no hint")):
        t.ok(not alike(want, [*got[:number], line, *got[number + 1:]], masked), f"{words} is another form")
    now = [*got[:2], "QPN hex lost badICRC lint", "256 0x100 4       0", *got[4:]]
    t.equal(rewritten(want, now, masked), [now[0], "...", *now[2:5], "..."], "--write puts in what is printed, and leaves out what was left out")
    t.equal([step.command for step in steps("text\n\n    $ a \\\n        b\n\n    out\n    # c\n\nwords\n\n    no command\n    # d\n")],
            ["a b", "c"], "commands are in blocks that begin with one")


def main_words(arguments):
    """(--show, --write or None; the pages that are named)"""
    how = next((a for a in arguments if a in ("--show", "--write")), None)
    return how, [os.path.relpath(a, ROOT) if os.path.exists(a) else a for a in arguments if not a.startswith("--")]


def main(arguments, every, not_run):
    """
    A test of pages: {path: how (run_page)}. not_run: patterns of commands that are not run, each of which must be in a page.
    """
    how, named = main_words(arguments)
    chosen = {page: more for page, more in every.items() if not named or page in named}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {page: pool.submit(lambda page=page, more=more: list(run_page(page, **more))) for page, more in chosen.items()}
        if how:
            for page, results in running.items():
                write(page, results.result()) if how == "--write" else show(results.result())
            return
        with Tap() as t:
            test_form(t)
            for page, results in running.items():
                report(t, page, results.result())
            if not named:
                text = [step.command for page in every for step in steps(read(page))]
                t.equal([pattern for pattern in not_run if not fnmatch.filter(text, pattern)], [], "what is not run is in a page")
