# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The floors of engine, sender and reader, as ratios between rows of one run. The result is reported, never asserted."""

AT_LEAST, AT_MOST = "at least", "at most"
PARTS = ("program", "flood", "live", "send", "receivers", "offline")


def net(result, name, payload, qps=1):
    """ns a packet, less the empty program's; None: no such row."""
    for row in result["program"]:
        if (row["name"], row["payload"], row["qps"]) == (name, payload, qps):
            return row["net_ns"]
    return None


def live(result, payload, icrc, apart, qps=1):
    for row in result["live"]:
        if (row["payload"], row["icrc"], row["qps"], row["apart"]) == (payload, icrc, qps, apart):
            return row
    return None


def judge(result):
    """[{ name, ratio, floor, kind, holds, quiet }] for the rows that exist. quiet: all its rows had quiet samples enough."""
    sure = {part: [row for row in result[part] if row["quiet"]["enough"]] for part in PARTS}
    known = {row["name"] for row in _judge(sure)}
    return [dict(row, quiet=row["name"] in known) for row in _judge(result)]


def _judge(result):
    rows = [_floor(*each) for each in _engine(result) + _live(result) + _send(result) + _receivers(result) + _offline(result)]
    return [row for row in rows if row]


def _engine(result):
    def slower(what, than, payload):
        return net(result, what, payload), net(result, than, payload)

    def slice8(payload):
        """Less the copy of the packet, which a slice-8 on the packet itself would not need."""
        times = [net(result, name, payload) for name in ("icrc-slice8", "copy", "parse")]
        return None if None in times else times[0] - times[1] + times[2], net(result, "icrc", payload)

    def many(name, qps):
        return net(result, name, 1024, qps), net(result, name, 1024)

    def alone(payload):
        """The ICRC only: less finding and parsing the packet."""
        times = net(result, "icrc", payload), net(result, "parse", payload)
        return None if None in times else times[0] - times[1]

    flood = result["flood"][0]["net_ns"] if result["flood"] else None
    datagrams = [(f"{row['name']} / streams, 1024 B, {row['qps']} flow{'s' if row['qps'] > 1 else ''}", row["net_ns"],
                  net(result, "streams", 1024, row["qps"]), AT_MOST, 1.3)
                 for row in result["program"] if row["name"].startswith("udp-")]
    return datagrams + [
        ("slice-8 in BPF / folding, 1024 B", *slower("icrc-slice8", "icrc", 1024), AT_LEAST, 4),
        ("slice-8 in BPF / folding, 3456 B", *slower("icrc-slice8", "icrc", 3456), AT_LEAST, 6),
        ("the same, less slice-8's copy of the packet, 1024 B", *slice8(1024), AT_LEAST, 4),
        ("the same, less slice-8's copy of the packet, 3456 B", *slice8(3456), AT_LEAST, 6),
        ("slice-8 in BPF / folding, 4096 B multi-buffer", *slower("icrc-slice8", "icrc", 4096), AT_LEAST, 3),
        ("zlib in user space / folding in XDP, 1024 B", net(result, "user-zlib", 1024), alone(1024), AT_LEAST, 2),
        ("zlib in user space / parsing and folding in XDP, 1024 B", *slower("user-zlib", "icrc", 1024), AT_LEAST, 2),
        ("engine without ICRC / zlib, 1024 B", *slower("streams", "user-zlib", 1024), AT_MOST, 0.35),
        ("engine with ICRC / zlib, 1024 B", *slower("all", "user-zlib", 1024), AT_MOST, 0.75),
        ("streams: 2000 QPs / one", *many("streams", 2000), AT_MOST, 1.5),
        ("streams: 65536 QPs / one", *many("streams", 65536), AT_MOST, 3),
        ("all: 2000 QPs / one", *many("all", 2000), AT_MOST, 1.5),
        ("all: 65536 QPs / one", *many("all", 65536), AT_MOST, 3),
        ("all: flood of random QPNs / one QP", flood, net(result, "all", 1024), AT_MOST, 3),
    ]


def _live(result):
    rows = []
    for icrc, floor in (("off", 0.65), ("all", 0.45)):
        for apart in (False, True):
            row = live(result, 1024, icrc, apart)
            if row:
                where = "a CPU of its own" if apart else "the sender's CPU"
                rows.append((f"live on {where}, ICRC {icrc} / empty program, 1024 B", row["monitor_mpps"],
                             row["empty_mpps"], AT_LEAST, floor))
    if result["live"]:
        rows.append(("live: frames the monitor did not count, all runs", sum(r["uncounted"] for r in result["live"]), 1,
                     AT_MOST, 0))
    return rows


def _send(result):
    """Each row relative to the bare outlet of that row: the outlet that auto chooses, and the others."""
    return [(f"send by {row['out']} / one unchanged packet, {row['payload']} B, {row['qps']} QPs", row["send_mpps"],
             row["unchanged_mpps"], AT_LEAST, {64: 0.85, 4096: 0.8}[row["payload"]])
            for row in result["send"] if row["qps"] > 1 and row["payload"] in (64, 4096)]


def _receivers(result):
    """Payload that a CPU can take in a second, of `receive` and of others in their better order of NAPI and process."""
    least = {}
    for row in result["receivers"]:
        if row["ns"]:
            key = row["receiver"], row["payload"]
            least[key] = min(row["ns"], least.get(key, row["ns"]))
    return [(f"receive / {other}, payload a CPU and second, {payload} B", least.get((other, payload)),
             least.get(("receive", payload)), AT_LEAST, floor)
            for payload in sorted({payload for _, payload in least}) for other, floor in (("recvmmsg-crc", 2), ("af-xdp", 1.2))]


def _offline(result):
    """All of `analyze`, relative to other programs on the same file."""
    rates = {(row["file"], row["tool"]): row for row in result["offline"]}
    rows = []
    for file in sorted({file for file, _ in rates}):
        def rate(tool, unit, file=file):
            return rates.get((file, tool), {}).get(unit)

        rows += [
            (f"analyze on one CPU / tshark, packets, {file}", rate("analyze-1", "packets_per_s"),
             rate("tshark", "packets_per_s"), AT_LEAST, 50),
            (f"analyze on one CPU / read() and CRC, bytes, {file}", rate("analyze-1", "bytes_per_s"),
             rate("reference", "bytes_per_s"), AT_LEAST, 0.4),
            (f"analyze on two CPUs / on one, {file}", rate("analyze-2", "packets_per_s"), rate("analyze-1", "packets_per_s"),
             AT_LEAST, 1.6),
        ]
    return rows


def _floor(name, value, of, kind, floor):
    if value is None or not of:
        return None
    ratio = value / of
    return {"name": name, "ratio": round(ratio, 3), "kind": kind, "floor": floor,
            "holds": ratio >= floor if kind == AT_LEAST else ratio <= floor}
