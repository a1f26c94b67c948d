# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What `rocescope path` finds at each end of a path, before anything is measured there: it may explain what is measured."""
import json

from compare import PATIENCE_S
from compare.programs import last_line

COMMAND = "build/rocescope"
KEPT = ("id", "severity", "found", "why", "command")
SEVERE = ("will lose", "may lose")


def look(lab):
    """{end: [finding of rocescope.path/1]}; an end that could not be looked at: {end: 'why'}."""
    running = {}
    for pair in lab.pairs:
        for end, other in (("A", "B"), ("B", "A")):
            if pair.end[end] not in running:
                command = [COMMAND, "path", pair.netif(end), pair.address(other), "-j"]
                running[pair.end[end]] = pair.start(end, command, timeout=PATIENCE_S)
    return {end: _findings(process.wait()) for end, process in running.items()}


def _findings(result):
    try:
        return [{key: each[key] for key in KEPT} for each in json.loads(result.stdout)["findings"]]
    except (ValueError, KeyError):
        return last_line(result.stderr)


def words(found):
    """['the receiver (B): rmem-default may lose'] of look(): the ends that packets may be lost at."""
    lines = []
    for end, findings in (found or {}).items():
        side = f"the {'sender' if end.startswith('A') else 'receiver'}{end[1:]}"
        if isinstance(findings, str):
            lines.append(f"{side}: not looked at: {findings}")
            continue
        for severity in SEVERE:
            names = [each["id"] for each in findings if each["severity"] == severity]
            lines += [f"{side} {severity}: {', '.join(names)}"] * bool(names)
    return lines
