# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Datagrams with a number in each, built byte by byte from the formats' own specifications, for tests of --udp."""
import struct


def bits(value, at, count, size):
    """`size` bytes in which bits at .. at + count - 1 are the value, counted from the first byte's most significant one."""
    return ((value & (1 << count) - 1) << 8 * size - at - count).to_bytes(size, "big")


def little(value, at, count, size):
    """The same, counted from the first byte's least significant bit."""
    return ((value & (1 << count) - 1) << at).to_bytes(size, "little")


def both(*parts):
    return bytes(map(lambda *each: sum(each), *parts))


def start(run_, width, step=1, back=1500):
    """The first number of a run: shortly before the field's end; the next run begins `back` numbers before that."""
    return (1 << width) - 1000 * step - run_ * back * step


def network_64(stream, run_, index):
    return struct.pack("!Q", start(run_, 64) + index & (1 << 64) - 1) + bytes(100)


def little_32_step(stream, run_, index):
    return b"head    " + struct.pack("<I", 7 + start(run_, 32, 2048) + 2048 * index & 0xffffffff) + bytes(100)


def step_1000(stream, run_, index):
    """Steps that do not go into 2^32."""
    return bytes(2) + struct.pack("!HI", 0xffff, start(run_, 32, 1000) // 1000 * 1000 + 1000 * index & 0xffffffff) + bytes(40)


def number_48(stream, run_, index):
    return both(bits(stream, 8, 8, 24), bits(start(run_, 48) + index, 16, 48, 24))


def odd_13(stream, run_, index):
    """Neither begins nor ends with a byte; the stream of two fields."""
    return both(bits(start(run_, 13) + index, 11, 13, 24), bits(stream & 7, 5, 3, 24), bits(stream >> 3, 24, 2, 24))


def far_away(stream, run_, index):
    """Another run is far away. The number ends with the datagram."""
    return bytes(20) + struct.pack("<Q", (run_ << 40) + 12345678 + index)


def programs(stream, run_, index):
    """A new run has a new random number, and starts at 0: no fault."""
    return struct.pack("!IBBHIIQQIIQ", 0x52435353, 1, 0, stream, 100 + run_, 64, index, index, 0, 1, 0) + bytes(16)


def chdr(stream, run_, index):
    """RFNoC specification: VC 6, EOB, EOV, packet type 3, metadata 5, sequence 16, length 16, destination EPID 16."""
    number = start(run_, 16) + index & 0xffff
    return struct.pack("<QQ", (6 | index & 1) << 53 | number << 32 | 116 << 16 | 300 + stream, index) + bytes(100)


def dune(stream, run_, index):
    """detdataformats' DAQEthHeader: bit fields of a little-endian word, and a time stamp."""
    number = start(run_, 12, back=2966) + index & 0xfff
    word = 1 | 3 << 6 | 9 << 12 | 2 << 22 | (20 + stream) << 26 | number << 40 | 899 << 52
    return struct.pack("<QQ", word, 2048 * index) + bytes(60)


def udps(stream, run_, index):
    return struct.pack("<Q", start(run_, 64, back=3000) + index & (1 << 64) - 1) + vdif_header(10, index, 0, 0) + bytes(64)


def vdif_header(second, frame, thread, station):
    """VDIF 1.1.1: second and frame, then version, channels, length, then bits, thread, station."""
    return struct.pack("<IIII", second, 42 << 24 | frame, 1 << 29 | 12, 1 << 26 | thread << 16 | station) + bytes(16)


VDIF_FRAMES = 250   # in a second


def vdif(stream, run_, index):
    """Begins in the middle of a second. Another run is an hour later."""
    second, frame = divmod(100 + index, VDIF_FRAMES)
    return vdif_header(1000 + 3600 * run_ + second, frame, stream, 0x4566) + bytes(64)


def vdif_given(stream, run_, index):
    """The first second has one frame, and the last frames of the second one may be lost: only --udp can know."""
    second, frame = divmod(VDIF_FRAMES - 1 + index, VDIF_FRAMES)
    return vdif_header((1 << 30) - 5 + second & (1 << 30) - 1, frame, stream, 0) + bytes(64)


def vita49(stream, run_, index):
    """VITA 49.0: data with a stream identifier, a class and picoseconds: 4,000,000.5 of them a packet."""
    second, picoseconds = divmod(index * 8000001 // 2 + 999 * 10**9, 10**12)
    first = 1 << 28 | 1 << 27 | 1 << 22 | 2 << 20 | index % 16 << 16 | 23
    return struct.pack("!IIQIQ", first, 0xabcd0000 + stream, 0x0012345600000001, 1700000000 + 86400 * run_ + second,
                       picoseconds) + bytes(64)


def vita49_samples(stream, run_, index):
    """Without a stream identifier; a counter of samples that goes on for ever."""
    return struct.pack("!IQ", 3 << 20 | index % 16 << 16 | 19, (run_ << 40) + 1024 * index) + bytes(64)


FORMATS = [
    ("network_64", "seq=0:64", network_64, [0], True),
    ("little_32_step", "seq=64:32:le,step=2048", little_32_step, [0], True),
    ("step_1000", "step=1000,seq=32:32", step_1000, [0], True),
    ("number_48", "seq=16:48,stream=8:8", number_48, [0, 3, 255], True),
    ("odd_13", "seq=11:13,stream=5:3,stream=24:2", odd_13, [0, 5, 0x1f], True),
    ("far_away", "seq=160:64:le", far_away, [0], False),
    ("programs", "programs", programs, [0, 4], None),
    ("chdr", "chdr", chdr, [0, 1], True),
    ("dune", "dune", dune, [0, 7], True),
    ("udps", "udps", udps, [0], True),
    ("vdif", "vdif", vdif, [0, 5], False),
    ("vdif_given", f"vdif,frames={VDIF_FRAMES}", vdif_given, [1023], None),
    ("vita49", "vita49", vita49, [0, 1], False),
    ("vita49_samples", "vita49", vita49_samples, [0], False),
]
FLOW_NUMBER = {"chdr": lambda stream: 3 << 16 | 300 + stream, "dune": lambda stream: 3 | 9 << 6 | 2 << 16 | (20 + stream) << 20,
               "vdif": lambda stream: 0x4566 << 10 | stream, "vita49": lambda stream: 0xabcd0000 + stream}


def number_of(name, stream):
    return FLOW_NUMBER.get(name, lambda stream: stream)(stream)


def spead(heap, length, offset, payload, items=()):
    """SPEAD-64-48: magic, version, widths, number of items, then items of 16 and 48 bits."""
    words = [(1, heap), (2, length), (3, offset), (4, len(payload)), *items]
    return struct.pack("!BBBBHH", 0x53, 4, 2, 6, 0, len(words)) + \
        b"".join(struct.pack("!Q", 1 << 63 | name << 48 | value) for name, value in words) + struct.pack("!Q", 0x1000 << 48) + payload
