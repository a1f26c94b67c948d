# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes pcap files of given frames."""
import struct

START = 1763724000  # s since 1970: time of every capture's first frame


def write_pcap(path, frames, order="<", nano=False, snaplen=262144, link=1, step=10**6, times=None):
    """
    frames: each its bytes, or (bytes, length on the wire). times: ns since 1970; without it, `step` ns apart. Returns the path.
    """
    with open(path, "wb") as f:
        f.write(struct.pack(order + "IHHiIII", 0xa1b23c4d if nano else 0xa1b2c3d4, 2, 4, 0, 0, snaplen, link))
        for i, frame in enumerate(frames):
            frame, wire = frame if isinstance(frame, tuple) else (frame, len(frame))
            seconds, ns = divmod(times[i] if times else START * 10**9 + i * step, 10**9)
            captured = frame[:snaplen]
            f.write(struct.pack(order + "IIII", seconds, ns if nano else ns // 1000, len(captured), wire) + captured)
    return path
