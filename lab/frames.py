# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The message format of the lab, between a program and the supervisor, and between the supervisor and a guest.

A frame is a kind (1 byte), a channel (one for each command), the payload's length (both 32 bits, network byte order)
and the payload.
"""
import struct
import threading

START = b"S"    # run a command: JSON {"argv", "timeout", "cwd", "env"}, from a program also {"where"}
KILL = b"K"     # signal its process group: the signal's number in decimal
STDOUT = b"O"   # output of the command
STDERR = b"E"
EXIT = b"X"     # the last frame of a channel: JSON {"rc", "timed_out"}; rc as in subprocess.Popen
HELLO = b"H"    # the guest is up: JSON {"kernel"}
DOWN = b"D"     # end the lab
PING = b"P"     # the supervisor lives: to an agent on a machine that does not end with the lab

CHUNK = 65536   # longest piece of output in one frame
_HEADER = struct.Struct(">cII")


def read(stream):
    """The next (kind, channel, payload) of a buffered binary stream. None at its end or in a truncated frame."""
    header = stream.read(_HEADER.size)
    if not header or len(header) < _HEADER.size:
        return None
    kind, channel, length = _HEADER.unpack(header)
    payload = stream.read(length) if length else b""
    return (kind, channel, payload) if len(payload) == length else None


class Writer:
    """Writes whole frames from several threads with one `write`, which may write only a part, like os.write."""

    def __init__(self, write):
        self._write = write
        self._lock = threading.Lock()

    def send(self, kind, channel, payload=b""):
        data = memoryview(_HEADER.pack(kind, channel, len(payload)) + payload)
        with self._lock:
            while data:
                data = data[self._write(data):]
