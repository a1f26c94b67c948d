# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An end of a lab on this machine's own kernel: the agent in a network namespace, in place of a guest."""
import os
import socket
import subprocess

from lab import LabError, frames, nic, wire
from lab.guest import Guest


class Namespace(Guest):
    def boot(self):
        ours, theirs = socket.socketpair()
        with theirs:
            process = self._spawn(theirs)
        stream = ours.makefile("rb", buffering=frames.CHUNK)
        hello = frames.read(stream)
        if not hello:
            raise LabError(self._why())
        wire.add_veth(self.end, self._config["mtu"], process.pid)
        self._listen(ours, stream, hello)

    def prepare(self):
        return nic.prepare_native(self.end, self._config["mtu"])

    def _spawn(self, control):
        agent = os.path.join(self._config["root"], "lab", "agent.py")
        # DPDK's files vanish with the lab
        environment = {**os.environ, "RUNTIME_DIRECTORY": self._config["share"]}
        mounts = "mount -t sysfs sysfs /sys && mount -t bpf bpf /sys/fs/bpf"
        with open(self._log, "wb") as log:
            return subprocess.Popen(["unshare", "--net", "--mount", "sh", "-ec",
                                     f"{mounts}; exec /usr/bin/python3 -S -s -E '{agent}' {control.fileno()}"],
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[control.fileno()],
                                    env=environment)
