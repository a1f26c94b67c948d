# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs somebody else's program in guest A of a lab, with SoftRoCE on its NIC, and if it needs one, its peer in guest B."""
import contextlib
import os
import sys
import time

from lab import LabError, frames, nic

ANSWER_S = 120  # a guest that has not told the end of a program this long after its time limit does not live any more
READY_S = 120   # a peer that does not listen after this long is not waited for
ENDING_S = 3    # a peer may take so long to end by itself, after the program
POLL_S = 0.2
# These are the guest's own.
OWN = ("HOME", "TMPDIR")
LISTENERS = "cat /proc/net/tcp /proc/net/tcp6; rdma resource show cm_id 2>/dev/null"
TCP_LISTEN = "0A"   # include/net/tcp_states.h


def environment(lab, end):
    """This program's environment, and what the program needs to know of its end."""
    other = nic.peer(end)
    told = {"ROCE_DEVICE": lab.rdma(end), "ROCE_NETIF": lab.netif(end), "ROCE_MTU": str(lab.mtu)}
    for family, suffix in ((4, ""), (6, "_IPV6")):
        told[f"ROCE_LOCAL{suffix}"] = lab.address(end, family)
        told[f"ROCE_GID_INDEX{suffix}"] = str(lab.gid_index(end, family))
        if other in lab.ends:
            told[f"ROCE_PEER{suffix}"] = lab.address(other, family)
    return {**{name: value for name, value in os.environ.items() if name not in OWN}, **told}


def run(lab, argv, peer, ready, timeout):
    """
    Runs argv in the lab's shared folder and returns its Result, while its output comes through. peer: a shell command for B, begun
    first, or None; argv waits until the peer listens on a TCP port or with rdma_cm, or, with `ready`, until it has said that text.
    timeout: seconds for each of both. If the program succeeds and the peer fails, the Result is the peer's. A peer that goes on is
    ended.
    """
    if peer and "B" not in lab.ends:
        raise LabError(f"the lab '{lab.name}' has no guest B for a peer: lab up --guests 2")
    for end in lab.ends[:2]:
        lab.rxe_up(end)
    try:
        with Peer(lab, peer, ready, timeout) if peer else contextlib.nullcontext() as server:
            process = lab.start("A", argv, timeout=timeout, cwd=lab.share, env=environment(lab, "A"), on_output=pass_on)
            result = process.wait(timeout + ANSWER_S)
            return (server and result.rc == 0 and server.failure()) or result
    except TimeoutError:
        raise LabError("a guest does not answer any more: its kernel hangs") from None


def pass_on(kind, data):
    output = {frames.STDOUT: sys.stdout, frames.STDERR: sys.stderr}[kind].buffer
    output.write(data)
    output.flush()


class Peer:
    """What it says comes on standard error in whole lines, to tell them from those of the program."""

    def __init__(self, lab, command, text, timeout):
        self._lab, self._text = lab, text and text.encode()
        self._has_said = False
        self._rest = {frames.STDOUT: b"", frames.STDERR: b""}
        self._before, self._begun = self._listeners(), time.monotonic()
        self._process = lab.start("B", ["sh", "-c", command], timeout=timeout, cwd=lab.share, env=environment(lab, "B"),
                                  on_output=self._pass_on)

    def __enter__(self):
        try:
            self._await_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait(ANSWER_S)
        for kind in self._rest:
            self._pass_on(kind, b"\n" if self._rest[kind] else b"")

    def _await_ready(self):
        while not (self._has_said if self._text else self._listeners() - self._before):
            if self._process.poll() is not None:
                raise LabError(f"the peer ended before it {'said that' if self._text else 'listened'}: status {self._process.poll()}")
            if time.monotonic() > self._begun + READY_S:
                raise LabError(f"the peer has not said '{self._text.decode()}' after {READY_S} s" if self._text else
                               f"the peer listens on nothing after {READY_S} s: --ready TEXT waits for what it says")
            time.sleep(POLL_S)

    def failure(self):
        """Its Result, if it ends by itself and fails."""
        try:
            result = self._process.wait(ENDING_S)
        except TimeoutError:
            return None
        if not result.rc:
            return None
        print(f"lab: the program succeeded, and its peer failed: status {result.rc}", file=sys.stderr)
        return result

    def _listeners(self):
        found = set()
        for line in self._lab.exec("B", ["sh", "-c", LISTENERS]).stdout.splitlines():
            words = line.split()
            if words[3:4] == [TCP_LISTEN]:
                found.add((words[1], words[9]))     # address and port, inode
            elif "LISTEN" in words:
                found.add(line)
        return found

    def _pass_on(self, kind, data):
        text = self._rest[kind] + data
        self._has_said = self._has_said or bool(self._text) and self._text in text
        *lines, self._rest[kind] = text.split(b"\n")
        if len(self._rest[kind]) > frames.CHUNK:
            lines.append(self._rest[kind])
            self._rest[kind] = b""
        sys.stderr.buffer.write(b"".join(b"peer: %s\n" % line for line in lines))
        sys.stderr.buffer.flush()
