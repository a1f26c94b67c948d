# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPU use of a foreign program, from the lines of meter.sh: pure."""
TICKS_PER_S = 100
# Fewer packets between two samples are the program's greetings, not its traffic.
TRAFFIC_PACKETS = 50


def split(stderr):
    """(samples, the program's own lines)"""
    samples, rest = [], []
    for line in stderr.splitlines():
        if line.startswith("meter "):
            samples.append([float(word) for word in line.split()[1:]])
        else:
            rest.append(line)
    return samples, "\n".join(rest)


def cores(stderr):
    """{"process", "system"} while the traffic flowed; None where nothing was sampled."""
    samples, _ = split(stderr)
    seconds = system = process = 0
    for before, after in zip(samples, samples[1:]):
        if len(after) == len(before) == 4 and after[3] - before[3] < TRAFFIC_PACKETS:
            continue
        seconds += after[0] - before[0]
        system += after[1] - before[1]
        process += after[2] - before[2]
    if not seconds:
        return {"process": None, "system": None}
    return {"process": process / TICKS_PER_S / seconds, "system": system / TICKS_PER_S / seconds}
