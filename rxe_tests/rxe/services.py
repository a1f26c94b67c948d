#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each operation of each service, byte by byte, with messages around the path MTU. What lies beside them stays as it was."""
import struct

from rxe import GRH, Pair, Tap, ends, path_mtus, pattern, until

OPERATIONS = {"rc": ("send", "send-imm", "write", "write-imm", "read"), "uc": ("send", "send-imm", "write", "write-imm"),
              "ud": ("send", "send-imm")}
GUARD = 64      # bytes between messages
BESIDE = 1000   # seed of what lies beside
IMM = 0x80000001
# operation, what is there, operands, what is there afterwards (IBTA 9.4.5)
ATOMICS = (("fetch and add", 0, {"add": 1}, 1), ("fetch and add", 2**64 - 3, {"add": 5}, 2),
           ("fetch and add", 7, {"add": 0}, 7),
           ("compare and swap", 5, {"add": 5, "swap": 9}, 9), ("compare and swap", 5, {"add": 6, "swap": 9}, 5),
           ("compare and swap", 2**64 - 1, {"add": 2**64 - 1, "swap": 0}, 0))


class Messages:
    """Of several sizes, in slots of the memory."""

    def __init__(self, pair, operation, path_mtu):
        self.pair, self.operation = pair, operation
        self.header = GRH if pair.service == "ud" else 0
        most = path_mtu if self.header else 3 * path_mtu + 5
        sizes = (0, 1, path_mtu - 1, path_mtu, path_mtu + 1, 2 * path_mtu, 3 * path_mtu + 5)
        self.sizes = [size for size in sizes if size <= most]
        self.slot = self.header + most + GUARD
        self.area = self.slot * len(self.sizes)

    def exchange(self):
        """(statuses, completions of receives, the target's memory, what it must be)"""
        pair, a, b = self.pair, self.pair.a, self.pair.b
        source, target = (b, a) if self.operation == "read" else (a, b)
        target.fill(BESIDE, 0, self.area)
        want = bytearray(pattern(BESIDE, self.area))
        requests = []
        for number, size in enumerate(self.sizes):
            at = number * self.slot
            source.fill(number, at, size)
            want[at + self.header:at + self.header + size] = pattern(number, size)
            requests.append({"operation": self.operation, "at": at, "size": size, "imm": IMM + number, **pair.at(at)})
        takes = self.operation.startswith("send") or self.operation.endswith("imm")
        if takes:
            places = [(number, number * self.slot, self.slot - GUARD) for number in range(len(self.sizes))]
            b.receive(pair.qb, places)
        statuses = pair.ask(*requests)
        received = b.received(len(self.sizes)) if takes else []
        for number in range(len(self.sizes) if self.header else 0):     # the GRH is not the sender's
            want[number * self.slot:number * self.slot + GRH] = bytes(GRH)

        def read():
            return self._without_grh(bytes.fromhex(target.memory(0, self.area)))

        if self.operation == "write" and pair.service == "uc":
            until(lambda: read() == want)   # nothing says when it has arrived
        return statuses, received, read(), bytes(want)

    def _without_grh(self, memory):
        if not self.header:
            return memory
        return b"".join(bytes(GRH) + memory[at + GRH:at + self.slot] for at in range(0, self.area, self.slot))


def operation(t, pair, name, path_mtu):
    messages = Messages(pair, name, path_mtu)
    name = f"{pair.service} {name}, path MTU {path_mtu}"
    statuses, received, memory, want = messages.exchange()
    sizes = ", ".join(map(str, messages.sizes))
    t.equal(statuses, len(messages.sizes) * ["success"], f"{name}: messages of {sizes} bytes are sent")
    t.ok(memory == want, f"{name}: every byte is right, and none beside", first_difference(memory, want))
    if received:
        imm = "imm" in name
        want = [(n, "success", messages.header + size, IMM + n if imm else None) for n, size in enumerate(messages.sizes)]
        t.equal([(each["id"], each["status"], each["bytes"], each["imm"]) for each in received], want,
                f"{name}: a completion of each, in order, with its {'immediate and ' if imm else ''}length")


def first_difference(got, want):
    return next((f"byte {n}: {g:#x}, not {w:#x}" for n, (g, w) in enumerate(zip(got, want)) if g != w), "none")


def atomics(t, pair):
    for name in ("fetch and add", "compare and swap"):
        cases = [each for each in ATOMICS if each[0] == name]
        area = 16 * len(cases) + 8
        for end in (pair.a, pair.b):
            end.fill(BESIDE, 0, area)
        here, there = (bytearray(pattern(BESIDE, area)) for _ in "ab")
        requests = []
        for number, (_, before, operands, after) in enumerate(cases):
            at = 8 + 16 * number
            pair.b.put(at, struct.pack("=Q", before).hex())
            here[at:at + 8], there[at:at + 8] = struct.pack("=Q", before), struct.pack("=Q", after)
            requests.append({"operation": name, "at": at, **operands, **pair.at(at)})
        t.equal(pair.ask(*requests), len(cases) * ["success"], f"rc {name}: {len(cases)} are executed")
        t.equal(pair.b.memory(0, area), there.hex(), f"rc {name}: with the right results")
        t.equal(pair.a.memory(0, area), here.hex(), f"rc {name}: what was there before returns")


with Tap() as t, ends(t) as (a, b):
    for service, operations in OPERATIONS.items():
        for path_mtu in path_mtus(a, b):
            pair = Pair(a, b, service, path_mtu=path_mtu)
            for each in operations:
                operation(t, pair, each, path_mtu)
            if service == "rc":
                atomics(t, pair)
            pair.destroy()
