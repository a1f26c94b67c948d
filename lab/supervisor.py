#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Process 1 of a lab's PID, network and mount namespaces: when it ends, the kernel ends all the others. Where the ends are
machines as they are, there are no namespaces: a guard on each ends with its connection.

supervisor.py CONFIG, in the lab's folder. CONFIG is JSON: the settings, and `lifeline`, a socket to the program that
started the lab. Progress and the outcome are written to it as JSON lines. When that program ends, so does the lab,
unless the program has written a byte. With the byte it may pass a process (a pidfd): the lab ends with that process.
Programs connect to the socket `control` in the folder, once for each command.
"""
import json
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from lab import HOSTS, NATIVE, LabError, frames, wire   # noqa: E402
from lab.commands import Commands                       # noqa: E402
from lab.guest import Guest                             # noqa: E402
from lab.machine import Machine                         # noqa: E402
from lab.namespace import Namespace                     # noqa: E402

KINDS = {NATIVE: Namespace, HOSTS: Machine}


ENDED = 125     # status of a command whose end has ended


class Supervisor:
    def __init__(self, config):
        self.config = config
        self._lock = threading.Lock()
        self._channels = {}     # number: (where it runs, queue of frames)
        self._last = 0
        self._ended = set()
        self._ends = {"wire": Commands(self._deliver)}
        kind = KINDS.get(config["accel"], Guest)
        for end in config["ends"]:
            self._ends[end] = kind(end, config, lambda *frame, end=end: self._from_guest(end, *frame))

    def up(self):
        """Sets up the wire, then boots the ends at the same time. Returns what users of the lab need to know."""
        if self.config["accel"] != HOSTS:
            # a guest that is alone has the port of a peer: a test may send to it from there
            ends = self.config["ends"] if len(self.config["ends"]) > 1 else "AB"
            taps = ends if self.config["accel"] != NATIVE else []
            wire.up(self.config["mtu"], taps)
            if self.config["control"]:
                wire.up_control(taps)
        failures = []
        boots = [threading.Thread(target=self._boot, args=(end, failures)) for end in self.config["ends"]]
        for boot in boots:
            boot.start()
        for boot in boots:
            boot.join()
        if failures:
            raise LabError(failures[0])
        return {"kernel": self._ends[self.config["ends"][0]].kernel, "accel": self.config["accel"], "mtu": self.config["mtu"],
                "ends": self.config["ends"], "share": self.config["share"]}

    def _boot(self, end, failures):
        try:
            self._ends[end].boot()
            status, errors = self._run(end, ["sh", "-ec", self._ends[end].prepare()])
            if status:
                failures.append(f"end {end}: the NIC did not come up: {errors.strip()}")
        except (LabError, OSError, ValueError) as error:
            failures.append(str(error))

    def close(self):
        """Ends the ends that do not end with the supervisor."""
        closing = [threading.Thread(target=end.close) for name, end in self._ends.items() if name != "wire"]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def serve(self, listener):
        while True:
            connection = listener.accept()[0]
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection):
        """Serves one command: a START from the program, then perhaps KILLs. If the program ends, so does the command."""
        with connection, connection.makefile("rb") as stream:
            frame = frames.read(stream)
            if not frame:
                return
            if frame[0] == frames.DOWN:
                self.close()
                os._exit(0)
            spec = json.loads(frame[2])
            where = spec.pop("where")
            if self.config["accel"] != HOSTS:    # an agent there knows its root
                spec["cwd"] = spec.get("cwd") or self.config["root"]
            channel, output = self._open(where)
            sender = threading.Thread(target=self._send_all, args=(connection, output), daemon=True)
            sender.start()
            self._ends[where].handle(frames.START, channel, json.dumps(spec).encode())
            if where in self._ended:
                self._finish(channel, where)
            try:
                while frame := frames.read(stream):
                    self._ends[where].handle(frames.KILL, channel, frame[2])
            except OSError:
                pass
            if self._close(channel):
                self._ends[where].handle(frames.KILL, channel, b"%d" % signal.SIGKILL)
            output.put(None)
            sender.join()

    @staticmethod
    def _send_all(connection, output):
        writer = frames.Writer(connection.send)
        try:
            while frame := output.get():
                writer.send(*frame)
        except OSError:
            pass

    def _run(self, where, argv):
        """Runs a command for the supervisor itself. Returns its status and errors."""
        channel, output = self._open(where)
        self._ends[where].handle(frames.START, channel, json.dumps({"argv": argv}).encode())
        if where in self._ended:
            self._finish(channel, where)
        errors = b""
        while True:
            kind, _, payload = output.get()
            if kind == frames.STDERR:
                errors += payload
            elif kind == frames.EXIT:
                return json.loads(payload)["rc"], errors.decode(errors="replace")

    def _open(self, where):
        with self._lock:
            self._last += 1
            self._channels[self._last] = (where, queue.SimpleQueue())
            return self._last, self._channels[self._last][1]

    def _close(self, channel):
        with self._lock:
            return self._channels.pop(channel, None)

    def _deliver(self, kind, channel, payload):
        """Frames without a channel come from children of a finished command: they are dropped."""
        entry = self._close(channel) if kind == frames.EXIT else self._channels.get(channel)
        if entry:
            entry[1].put((kind, channel, payload))

    def _from_guest(self, end, kind, channel, payload):
        if kind:
            self._deliver(kind, channel, payload)
            return
        self._ended.add(end)
        for channel, (where, _) in list(self._channels.items()):
            if where == end:
                self._finish(channel, end)

    def _finish(self, channel, end):
        what = "guest" if self.config["accel"] != HOSTS else "the connection to"
        self._deliver(frames.STDERR, channel, f"lab: {what} {end} has ended\n".encode())
        self._deliver(frames.EXIT, channel, json.dumps({"rc": ENDED, "timed_out": False}).encode())


def own_filesystems():
    """Mounts /sys of this network namespace, and a bpffs, which is not inherited."""
    for kind, path in (("sysfs", "/sys"), ("bpf", "/sys/fs/bpf")):
        subprocess.run(["mount", "-t", kind, kind, path], check=False)


def watch(lifeline, supervisor):
    """
    Waits on the lifeline. A byte lets the lab outlive its program. The lab ends with the stream, or with the process
    passed to it.
    """
    byte, processes, *_ = socket.recv_fds(lifeline, 1, 1)
    if byte and not processes:
        return
    if byte:
        select.select(processes, [], [])
    supervisor.close()
    os._exit(1)


def main():
    config = json.loads(sys.argv[1])
    lifeline = socket.socket(fileno=config["lifeline"])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(1))
    begun = time.monotonic()
    supervisor = Supervisor(config)
    threading.Thread(target=watch, args=(lifeline, supervisor), daemon=True).start()
    if config["accel"] != HOSTS:
        own_filesystems()
    try:
        outcome = {"ready": {**supervisor.up(), "boot_seconds": round(time.monotonic() - begun, 1)}}
    except (LabError, OSError, subprocess.CalledProcessError) as error:
        outcome = {"failed": str(error)}
    if "ready" in outcome:
        with open("info.json", "w", encoding="ascii") as file:
            json.dump(outcome["ready"], file)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind("control")
        listener.listen(64)
    lifeline.sendall(json.dumps(outcome).encode() + b"\n")
    if "failed" in outcome:
        supervisor.close()
        os._exit(1)
    supervisor.serve(listener)


main()
