# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs commands that come as frames: in a guest for its agent, on the wire for the supervisor."""
import json
import os
import signal
import subprocess
import threading

from lab import frames

# How long children that outlive their command may still write.
LINGER_S = 1


class Commands:
    """Several threads call send(kind, channel, payload)."""

    def __init__(self, send):
        self._send = send
        self._running = {}

    def handle(self, kind, channel, payload):
        if kind == frames.START:
            self._start(channel, json.loads(payload))
        elif kind == frames.KILL:
            self._kill(channel, int(payload))

    def _start(self, channel, spec):
        try:
            process = subprocess.Popen(spec["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, cwd=spec.get("cwd"),
                                       env={**os.environ, **(spec.get("env") or {})}, start_new_session=True)
        except (OSError, ValueError) as error:
            status = 127 if isinstance(error, FileNotFoundError) else 126
            self._send(frames.STDERR, channel, f"lab: cannot run {spec['argv'][0]}: {error}\n".encode())
            self._finish(channel, status)
            return
        self._running[channel] = process
        threading.Thread(target=self._follow, args=(channel, process, spec.get("timeout")), daemon=True).start()

    def _follow(self, channel, process, timeout):
        pumps = [threading.Thread(target=self._pump, args=(kind, channel, pipe), daemon=True)
                 for kind, pipe in ((frames.STDOUT, process.stdout), (frames.STDERR, process.stderr))]
        for pump in pumps:
            pump.start()
        timed_out = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self._kill(channel, signal.SIGKILL)
            process.wait()
        for pump in pumps:
            pump.join(LINGER_S)
        self._finish(channel, process.returncode, timed_out)

    def _pump(self, kind, channel, pipe):
        with pipe:
            while data := os.read(pipe.fileno(), frames.CHUNK):
                self._send(kind, channel, data)

    def _kill(self, channel, number):
        process = self._running.get(channel)
        if process and process.poll() is None:
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass

    def _finish(self, channel, status, timed_out=False):
        self._running.pop(channel, None)
        self._send(frames.EXIT, channel, json.dumps({"rc": status, "timed_out": timed_out}).encode())
