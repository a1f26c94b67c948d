# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads pcapng as draft-ietf-opsawg-pcapng defines it: the files of rocescope capture, without any code of the project."""
import struct

SECTION, INTERFACE, STATISTICS, PACKET = 0x0a0d0d0a, 1, 5, 6
# enhanced packet block's options
COMMENT, FLAGS, DROPCOUNT, PACKETID, QUEUE, VERDICT = 1, 2, 4, 5, 6, 7
XDP = 2  # a verdict's kind: eBPF XDP


class Packet:
    def __init__(self, interface, ns, length, data, options):
        self.interface, self.ns, self.length, self.bytes = interface, ns, length, data
        self.comment = options[COMMENT].decode() if COMMENT in options else ""
        self.flags = _number(options, FLAGS)
        self.dropped = _number(options, DROPCOUNT) or 0
        self.id = _number(options, PACKETID)
        self.queue = _number(options, QUEUE)
        verdict = options.get(VERDICT)
        self.verdict = (verdict[0], int.from_bytes(verdict[1:], "little")) if verdict else None

    @property
    def outward(self):
        return self.flags & 3 == 2

    @property
    def reasons(self):
        """The comment's first word, reason=A,B."""
        return self.comment.split(":")[0].split()[0].removeprefix("reason=").split(",") if self.comment else []

    @property
    def fault(self):
        """The id of the packet that this one is context for."""
        return int(self.comment.split("fault=")[1].split(":")[0]) if "fault=" in self.comment else None


def _number(options, code):
    return int.from_bytes(options[code], "little") if code in options else None


def _options(data):
    """{code: value}; if a code repeats, its last value."""
    found, at = {}, 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if not code:
            break
        found[code] = data[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return found


class Capture:
    """packets; interfaces, statistics: [options] each. AssertionError: the file is cut or invalid."""

    def __init__(self, path):
        self.packets, self.interfaces, self.statistics = [], [], []
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            assert length % 4 == 0 and at + length <= len(data), f"a block of {length} bytes at {at} of {len(data)}"
            assert struct.unpack_from("<I", data, at + length - 4)[0] == length, f"lengths of the block at {at}"
            self._take(kind, data[at + 8:at + length - 4])
            at += length

    def _take(self, kind, body):
        if kind == SECTION:
            assert struct.unpack_from("<I", body)[0] == 0x1a2b3c4d
        elif kind == INTERFACE:
            options = _options(body[8:])
            assert options[9] == b"\x09", "nanoseconds"
            self.interfaces.append(options)
        elif kind == STATISTICS:
            self.statistics.append(_options(body[12:]))
        elif kind == PACKET:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            padded = 20 + (captured + 3) // 4 * 4
            self.packets.append(Packet(interface, high << 32 | low, length, body[20:20 + captured], _options(body[padded:])))
        else:
            raise AssertionError(f"block {kind:#x}")
