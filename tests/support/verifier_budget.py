# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the counts of verifier_cost with bpf/budget."""
import os
import re
import subprocess

from .project import ROOT

VERIFIER_COST = os.path.join(ROOT, "build", "tests", "verifier_cost")
# Some programs are at functions of the RDMA core.
COMMAND = ["sh", "-c", f"modprobe -aq ib_core ib_uverbs 2>/dev/null; exec {VERIFIER_COST}"]
BUDGET = os.path.join(ROOT, "bpf", "budget")
TOO_LARGE = 1.3
UNKNOWN = "?"
COMPILER = 14   # clang's version whose counts the budget has


def _read():
    """{program: {kernel: instructions, None: the kernel cannot load it, UNKNOWN}}"""
    with open(BUDGET, encoding="ascii") as file:
        lines = file.read().splitlines()
    kernels = next(line.split()[2:] for line in lines if line.startswith("# program"))
    rows = [line.split() for line in lines if line and line[0] != "#"]
    return {row[0]: {k: _number(n) for k, n in zip(kernels, row[1:], strict=True)} for row in rows}


def _number(word):
    return UNKNOWN if word == UNKNOWN else None if word == "-" else int(word)


def _compiler():
    said = subprocess.run([os.environ.get("CLANG", "clang"), "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", said)[1])


def costs(result):
    """{program: instructions, or None: refused}, of verifier_cost's output"""
    return {program: _number(count) for program, count in (line.split() for line in result.stdout.splitlines())}


def check(t, release, result):
    """result: output of verifier_cost on the kernel of that release."""
    budget = _read()
    kernel = ".".join(release.split(".")[:2])
    why = {words.split(":")[0]: words for words in result.stderr.split("verifier_cost: ")}
    cost = costs(result)
    t.ok(sorted(cost) == sorted(budget), f"kernel {kernel}: bpf/budget has the programs that there are", result)
    for program, row in budget.items():
        count = cost.get(program)
        if row.get(kernel) == UNKNOWN:
            t.note(f"kernel {kernel}: {program} {count or 'is not loaded'}; bpf/budget does not judge it")
        elif kernel in row:
            _check_program(t, f"kernel {kernel}: {program}", count, row[kernel], why.get(program, result))
        else:
            t.note(f"kernel {kernel}: {program} {count} instructions; bpf/budget knows no such kernel")


def _check_program(t, words, count, limit, why):
    if count is None or limit is None:
        t.ok(count == limit, f"{words} is {'loaded' if limit else 'not for this kernel'}", why)
        return
    t.note(f"{words} {count:,} instructions, budget {limit:,}")
    if (compiler := _compiler()) != COMPILER:
        t.ok(count <= TOO_LARGE * limit, f"{words}, compiled by clang {compiler}, needs not more than {TOO_LARGE} times its budget")
        return
    t.ok(count <= limit <= TOO_LARGE * count, f"{words} keeps to its budget, which is not more than {TOO_LARGE} times that")
