# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of the fuzz targets: small inputs in each target's own format (see its first comment)."""
import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess

from . import capture_files, roce_frames as rf, tunnels
from .project import ROOT

V6 = {"src": "fd00::1", "dst": "fd00::2"}
ATOMIC = struct.pack("!QIQQ", 0x1000, 7, 1, 2)

# Opcode and the extension headers behind its BTH: each header and each place in a message at least once.
TRANSPORTS = [
    (0x00, b""), (0x01, b""), (0x02, b""), (0x03, rf.immediate(5)), (0x04, b""), (0x05, rf.immediate(6)),
    (0x06, rf.reth(0x1000, 7, 1024)), (0x0b, rf.reth(0x1000, 7, 256) + rf.immediate(7)),
    (0x0c, rf.reth(0x1000, 7, 4096)), (0x0d, rf.aeth(0x1f)), (0x0e, b""), (0x0f, rf.aeth(0x1f)), (0x10, rf.aeth(0x1f)),
    (0x11, rf.aeth(0x1f)), (0x11, rf.aeth(0x60)), (0x11, rf.aeth(0x21)), (0x12, rf.aeth(0) + bytes(8)), (0x13, ATOMIC),
    (0x17, bytes(4)), (0x1c, bytes(4) + rf.reth(0x1000, 7, 256)), (0x26, rf.reth(0x1000, 7, 1024)), (0x27, b""),
    (0x29, rf.immediate(8)), (0x2b, rf.reth(0x1000, 7, 256) + rf.immediate(9)),
    (0x44, bytes(4) + rf.deth(3)), (0x64, rf.deth(3)), (0x65, rf.deth(3) + rf.immediate(1)), (0x81, bytes(16)),
    (0xa6, bytes(4) + rf.reth(0x1000, 7, 1024)), (0x3f, b""),
]


def frames():
    """Frames of every kind of roce_parse(), with every sequence of headers before the BTH."""
    made = [rf.roce(rf.bth(opcode, 17, n, pad=n % 4) + headers + bytes(16 + n % 4))
            for n, (opcode, headers) in enumerate(TRANSPORTS)]
    send = rf.bth(4, 17, 1) + bytes(64)
    fragment = struct.pack("!BBHI", 17, 0, 0, 1)
    destination = bytes([17, 0, 1, 4, 0, 0, 0, 0])
    made += [
        rf.roce(send, vlans=(7,)), rf.roce(send, vlans=(7, 8)), rf.roce(send, options=bytes([1] * 8)),
        rf.roce(send, tos=3), rf.roce(send, bad_icrc=True), rf.roce(send, **V6), rf.roce(send, vlans=(7,), **V6),
        rf.roce(send, options=destination, **V6),
        rf.roce(send) + bytes(6), rf.roce(send)[:60], rf.roce(send)[:-1], rf.roce(rf.bth(0x27, 17, 2) + bytes(256)),
        rf.datagram(struct.pack("!IBBHIIQQIIQ", 0x52435353, 1, 0, 3, 9, 64, 5, 5, 0, 1, 0), 7471),
        rf.datagram(bytes(20), 7471), rf.datagram(bytes(20), 53), rf.ethernet(0x8915) + bytes(60),
        rf.ethernet(0x0806) + bytes(46), rf.ethernet(0x0800) + rf.ipv4("10.9.0.1", "10.9.0.2", 40, fragment=0x2000)
        + bytes(40),
    ]
    made += [rf.rocev1(send), rf.rocev1(rf.bth(0x27, 17, 2) + bytes(256)), rf.rocev1(rf.bth(0x11, 17, 2) + rf.aeth(0))[:-3]]
    whole = rf.ipv6("fd00::1", "fd00::2", 8 + len(send) + 4, fragment)
    made.append(rf.ethernet(0x86dd) + whole[:6] + b"\x2c" + whole[7:]
                + struct.pack("!HHHH", 49152, 4791, 8 + len(send) + 4, 0) + send + bytes(4))
    return made


def parse_seeds():
    for i, frame in enumerate(frames()):
        yield struct.pack("!BBH", i % 4, 37 * i % 256, 100) + frame


def decap_seeds():
    for i, kind in enumerate(tunnels.ALL):
        for outer in ("ipv4", "ipv6"):
            yield struct.pack("!H", i % 3) + tunnels.wrap(rf.uc_write(i), kind, outer, ((), (7,), (7, 8))[i % 3],
                                                          keep=(None, 100, 40)[i % 3])


def mask_seeds():
    for i, frame in enumerate(frames()):
        yield struct.pack("!HH", (0, 300, 1082, 4154, 9018)[i % 5], 8 * (i + 40)) + frame
    # folded from byte 96 on, before the masked byte of the BTH
    yield bytes(4) + rf.roce(rf.bth(4, 17, 1) + bytes(284), vlans=(7, 8), options=bytes([17, 3, 1, 28]) + bytes(28), **V6)


# ---- streams ----

def opcode_places():
    """The opcode's index in tests/unit/ibta.h, by which the target names it."""
    with open(os.path.join(ROOT, "tests", "unit", "ibta.h"), encoding="ascii") as f:
        rows = [part[:4] for line in f if line.startswith("\t{ 0x") for part in line.split("{ ")[1:]]
    return {int(row, 16): place for place, row in enumerate(rows)}


def stream_seeds():
    places = opcode_places()

    def packet(opcode, distance=0, lengths=0, qp=0, payload=1, icrc=0, noise=0):
        return bytes([places.get(opcode, len(places)) if opcode != "udp" else len(places) + 1,
                      icrc | qp << 2 | payload << 4 | noise << 7, distance & 0xff, lengths])

    start = bytes.fromhex("fffff0800000")  # the PSN wraps soon, the shifted one elsewhere
    uc = [packet(0x26, lengths=0xa1), packet(0x27), packet(0x29)]
    rc = [packet(0x00), packet(0x01), packet(0x02)]
    only = packet(0x2b)
    read = [packet(0x0c, lengths=0xa3, payload=0), packet(0x04, distance=11), packet(0x0c, lengths=0xa3, payload=0),
            packet(0x04, distance=11), packet(0x0c, distance=-4, lengths=0xa3, payload=0), packet(0x04)]
    response = [packet(0x0d), packet(0x0e), packet(0x0f), packet(0x0d, distance=5), packet(0x10)]
    for packets in (
        uc * 3, rc * 3, [only] * 8, read, response,
        [only, packet(0x2b, distance=2), packet(0x2b, distance=-2), packet(0x2b, distance=-2), only],
        [uc[0], packet(0x27, distance=1), uc[2], *uc],
        [packet(0x04, distance=60), packet(0x04, distance=-128)[:3] + bytes.fromhex("40000000"), packet(0x04)],
        [packet(0x04, icrc=2), packet(0x04, icrc=2), packet(0x04), packet(0x04, icrc=2, distance=9), packet(0x04)],
        [packet(0x04, icrc=3), packet(0x04, icrc=2), packet(0x04)],
        [packet(0x11, lengths=0x60), packet(0x11), packet(0x81), packet(None)],
        [packet(0x64), packet(0x65, qp=1), packet(0x64, distance=3)],
        [packet("udp"), packet("udp", distance=3), packet("udp", distance=-2), packet("udp", lengths=0x40)],
        [packet(0x04, distance=120), packet(0x04, distance=-120), packet(0x04, distance=-110)],
        [packet(0x04, qp=n % 4) for n in range(16)],
        # holes far behind the newest PSN, and packets that fill them
        [packet(0x04), packet(0x04, distance=50), packet(0x04, distance=101), packet(0x04, distance=-127)] * 2,
        [packet(0x2b), packet(0x2b, distance=101), packet(0x2b, distance=-127), packet(0x2b, distance=-126)],
    ):
        yield start + b"".join(packets)


# ---- responders ----

def responder_seeds():
    places = opcode_places()

    def packet(opcode, distance=0, payload=1, dma=0, va=0, region=0, flags=0):
        return bytes([places[opcode], distance & 0xff, payload, dma, va, region | flags << 2])

    for service, base in ((0, 0), (8, 0x20)):
        start = bytes([service, 0xff, 0xff, 0xfe, 3])
        message = [packet(base + 6, dma=3), packet(base + 7), packet(base + 9)]     # 3: three times the path MTU
        send = [packet(base + 0), packet(base + 2)]
        only = packet(base + 11)
        for packets in (
            message * 2, send * 4, [only] * 6, [*message[:2], only, *message[:1], *message[2:]],
            [message[0], packet(base + 7, 1), message[2], *message], [only, packet(base + 11, -1), packet(base + 11, 2), only],
            [packet(base + 11, flags=1), packet(base + 11, flags=2), packet(base + 11, flags=4), packet(base + 11, flags=8), only],
            [packet(base + 11, region=3), only], [packet(base + 11, va=1), only], [packet(base + 6, dma=7, region=2), message[1]],
            [packet(0x0c, dma=9), only],
        ):
            yield start + b"".join(packets)
            yield bytes([start[0] | 0x13]) + start[1:] + b"".join(packets)


# ---- tables ----

def table_seeds():
    key = struct.pack("!16s16sIHBB", b"\x0a\x09\x00\x01", b"\x0a\x09\x00\x02", 17, 0, 0, 0)
    yield bytes([200]) + bytes([0]) + key + bytes([0]) + key[::-1] + bytes([3, 4]) + bytes([0]) + key
    yield bytes([255]) + bytes([2, 0, 0, 63, 2, 1, 0, 63, 2, 2, 0, 63, 3])
    yield bytes([20]) + bytes([2, 0, 0, 50, 3])
    yield bytes([50]) + bytes([1, 3, 0, 1, 16, 1, 36, 2, 37, 3] * 8)
    yield bytes([0]) + bytes([2, 0, 0, 3, 4])


# ---- captures ----

def pcap(records, order="<", magic=0xa1b2c3d4, link=1):
    return struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link) + b"".join(
        struct.pack(order + "IIII", 1763724000, i, len(frame), wire) + frame for i, (frame, wire) in enumerate(records))


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def pcapng(records, order="<"):
    return block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1), order) \
        + block(1, struct.pack(order + "HHI", 1, 0, 65535), order) \
        + b"".join(block(6, struct.pack(order + "IIIII", 0, 0x643d1, i, len(frame), wire) + frame, order)
                   for i, (frame, wire) in enumerate(records))


def connection():
    """CM's REQ and REP (IBTA 12.6.5, 12.6.8; MAD: 13.4.3), then a WRITE, a READ and its response."""
    def management(attribute, fields, **where):
        mad = bytearray(struct.pack("!BBBBIQHHI", 1, 7, 2, 3, 0, 9, attribute, 0, 0) + bytes(232))
        for place, field in fields.items():
            mad[24 + place:24 + place + len(field)] = field
        return rf.roce(rf.bth(rf.UD_SEND_ONLY, 1, 0) + rf.deth(1) + mad, **where)

    def answer(transport):
        return rf.roce(transport, src="10.9.0.2", dst="10.9.0.1")

    return [
        management(0x10, {0: b"\0\0\0\x05", 32: b"\0\0\x11", 44: b"\0\0\x64", 50: b"\x30"}),
        management(0x13, {0: b"\0\0\0\x06", 4: b"\0\0\0\x05", 12: b"\0\0\x12", 20: b"\0\0\xc8"},
                   src="10.9.0.2", dst="10.9.0.1"),
        rf.roce(rf.bth(0x0a, 18, 200) + rf.reth(0x1000, 7, 64) + bytes(64)),
        answer(rf.bth(0x11, 17, 200) + rf.aeth(0x1f)),
        rf.roce(rf.bth(0x0c, 18, 201) + rf.reth(0x1000, 7, 2048)),
        answer(rf.bth(0x0d, 17, 201) + rf.aeth(0x1f) + bytes(64)),
        answer(rf.bth(0x0f, 17, 202) + rf.aeth(0x1f) + bytes(64)),
        rf.roce(rf.bth(0x0c, 18, 203) + rf.reth(0x1000, 7, 64)),
        answer(rf.bth(0x10, 17, 204) + rf.aeth(0x1f) + bytes(64)),
    ]


def reader_seeds():
    records = [(frame, len(frame)) for frame in frames()]
    sequence = [(frame, len(frame)) for frame in
                (rf.uc_write(1, opcode=rf.UC_WRITE_FIRST), rf.uc_write(2, opcode=rf.UC_WRITE_MIDDLE),
                 rf.uc_write(4, opcode=rf.UC_WRITE_LAST_IMM, imm=1), rf.uc_write(3, opcode=rf.UC_WRITE_MIDDLE),
                 rf.uc_write(5), rf.uc_write(5), rf.uc_write(5, bad_icrc=True))]
    yield pcap(sequence)
    yield pcap(sequence, ">", 0xa1b23c4d)
    yield pcap([(frame, len(frame)) for frame in connection()])
    yield pcapng(sequence)
    yield pcapng(sequence[:2], ">")
    yield pcap([(frame[:64], wire) for frame, wire in sequence])
    yield pcap(sequence)[:-20]
    yield pcap([], link=113)
    yield gzip.compress(pcap(sequence))
    yield bytes(capture_files.Pcap(capture_files.INFINIBAND).add(
        capture_files.of_link(capture_files.INFINIBAND, rf.uc_write(1))).data)
    yield b""
    for i in range(0, len(records), 4):
        yield (pcapng if i % 8 else pcap)(records[i:i + 4])


def capture_seeds():
    links = {"file": 0, "ethernet": 1, "ip": 2, "bth": 3}
    files = list(capture_files.samples())
    for i, (_, link, f) in enumerate(files):
        yield bytes([links[link] | i % 16 << 2, 37 * i % 256]) + f.data
    for packed in (gzip.compress, lzma.compress):
        yield b"\x10\x01" + packed(files[0][2].data)
        yield b"\x20\x20" + packed(files[-1][2].data) + packed(files[0][2].data)
    if shutil.which("zstd"):
        yield b"\x30\x02" + subprocess.run(["zstd", "-q", "-c"], input=files[-1][2].data, capture_output=True, check=True).stdout


def doctor_seeds():
    def inputs(made, what=0):
        return b"".join(struct.pack("!BH", what, len(frame)) + frame for frame in made if len(frame) < 1024)

    every = frames()
    yield inputs(every)
    yield inputs(every, 1)
    yield inputs(every[:20], 2) + inputs(every[20:], 4)
    yield inputs(every[:8], 16) + inputs(every[:16], 9)
    yield inputs(connection())
    only = [rf.uc_write(n, imm=n, opcode=rf.UC_WRITE_ONLY_IMM, dma=256) for n in range(12)]
    yield inputs(only[:5] + only[7:])
    yield inputs([frame[:-4] + struct.pack(">I", struct.unpack("<I", frame[-4:])[0]) for frame in only])
    yield inputs([frame for n in range(6) for frame in (
        rf.roce(rf.bth(4, 17, 500 + n) + bytes(8)),
        rf.roce(rf.bth(0x11, 18, 5) + rf.aeth(0x60), src="10.9.0.2", dst="10.9.0.1"))])


def control_seeds():
    """Each message of the control connection, and what receivers tell (docs/json.md)."""
    qps = [{"qpn": 17, "psn": 16777215, "rkey": 4294967295, "address": address} for address in (-1, 0x7f0012345000)]
    end = {"transport": "rc", "size": 4096, "path_mtu": 1024, "gid": "00000000000000000000ffff0a090001", "lid": 0, "qps": qps}
    reads = {"rate": 2e7, "rate_of_packets": False, "duration": 2.5, "messages": 9, "window": 64, "limit": 128}
    messages = [end, end | {"operation": "write-imm", "filler": True, "samples": {"every": 61, "slots": 17}},
                end | {"operation": "read", "filler": True, "reads": reads},
                end | {"transport": "ud", "operation": "send", "filler": False, "ping_pong": True},
                end | {"transport": "xrc", "qps": [qp | {"srq": 16777215} for qp in qps]},
                end | {"slots": 64},
                end | {"slots": 1, "peer": end["gid"], "pkey": 65535, "receive_bytes": 0, "regions": [
                    {"rkey": rkey, "address": address, "bytes": 4096} for rkey, address in ((4294967295, -4096), (7, 0))]},
                {"end": 2 * [{"packets": 30, "messages": 3, "completed": 30}], "ns": 123456789012},
                {"error": "its --transport is another one \u001b"}, {"go": True}, {"stop": True}, {"done": True}]
    for message in messages:
        yield json.dumps(message).encode()


def server_seeds():
    """Runs of senders: what they register, then their totals; in one piece, and in many."""
    end, more, *_ = (json.loads(seed) for seed in control_seeds())
    totals = {"end": 2 * [{"packets": 30, "messages": 3, "completed": 30}], "ns": 123456789012}
    runs = [[end | {"operation": "send", "filler": False}, totals], [more | {"transport": "uc", "operation": "write"}, totals],
            [end | {"operation": "write-imm", "qps": end["qps"][:1]}, {"error": "interrupted"}], [end, totals, end, totals]]
    for i, messages in enumerate(runs):
        text = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        yield bytes([i, 255]) + text
        yield bytes([0, 6]) + text[:-20]


def text_seeds():
    for text in ("10.9.0.0/24 rc and not faulty", "(src 10.9.0.1 or dst fd00::2) lost>3 qpn 0x11", "untrusted or icrc_bad >= 7 lint",
                 "qpn==0x11 dst!=10.9.0.2 service=uc"):
        yield b"\0" + text.encode()
    yield (b"\x01# known\n10.9.0.1 qpn 17 psn 0x100 <-> 10.9.0.2 qpn 18 psn 0 mtu 4096\n\nfd00::1 qpn 0x21 <-> fd00::2 qpn 0x22\n"
           b"10.9.0.1 qpn 17 <-> 10.9.0.3 qpn 19\n")
    ours = b"meaning 1\nsize 4 32\nb 0 8 1\nstream.hole[] 8 2 4\nstream.hole[].from 0 2 1\na 16 4 1\nlist 20 2 4\n"
    for old in (ours, b"meaning 1\nsize 4 24\na 4294967292 4 1\nlist 4 2 1\nb 12 4 1\nstream.hole[] 20 2 2\nstream.hole[].from 0 2 1"):
        yield b"\x02" + old + b"\0" + ours
    for text in ("5000,vdif,frames=25000,6000,seq=64:48:le,step=2048,stream=0:16,stream=16:8,7471", "9000,spead,step=2,9001,chdr,9002,vita49"):
        yield b"\x03" + text.encode()


def options_seeds():
    """Plans of `send`, then options of the other commands, by their place in the target's list."""
    every = "op rc-write\nmessage 64K # and a comment\nmtu 4096\nrate 1.5Gbit\nburst 32/100us\nseed 7\ndst fd00::2\nflow-label 0xfffff\n" \
            "vlan 4094\npcp 7\ndscp 26\necn 1\nports random\nudp-checksum\nfirst-psn random\nva 0x7f0000000000\nregions 16\n"
    for plan in (every, "op uc-send\nmessages 20\nmessage 5000\nqps 3\ninterleave weights=3,1,2\npayload lfsr\ndf off\n",
                 "qp qpn=0x11,psn=0xffffff,rkey=7,va=0x1000\nqp psn=1\ninterleave packet\nframe 4\nimmediate-page\nreserved 0xff\n",
                 "op ud-send\nmessage 100\nduration .5\nrate 2Mpps\nfault drop:p=1e-3\nfault reorder:every=3,by=1-5\n",
                 "message 301\nfault corrupt:at=2,where=icrc,burst=9\nfault icrc-swapped:every=2\nfault duplicate:p=.5\nfault tver\n",
                 "preset hsb\nmessage 4K\ntruth t\nfirst-qpn 9\nother-psn 5\nport 1\nttl 1\npkey 1\n", "op ack\n", "op cnp\nqps 2\n",
                 "qps 2\ninterleave sequence=f\npayload file=f\n\0" + "0, 1 # twice\n1 0"):
        yield b"\0" + plan.encode()
    ports = "udp 5000,vdif,frames=25000,6000,seq=64:48:le,step=2048,stream=0:16,stream=16:8,7471\nudp 9000,spead\n"
    for n, text in ((1, ports + "interval .5\nduration 9\nmode generic\ndirection both\nicrc 1/64\nmax-streams 100\npin a.b\nevents\n"
                     "filter (rc or qpn 0x11) and lost>3\ngroup antenna=qpn>>4\nfail-on psn_lost,icrc_bad\nprometheus [::1]:9795"),
                    (2, ports + "imm step=2048,counter=imm>>12&0xff\nimm ring=0x1000:64K:4K:100\nlink bth\nstreams all\nplot a.svg"),
                    (3, "reason psn,icrc\ncontext 4\nlimit 7\nfile-size 1M\nfile-seconds 60\nfiles 3\nsnaplen 64\nbuffer 4M"),
                    (4, "bring-up\nexpect f\nsvg a.svg\njson"), (7, "interval 2\nremote r"), (6, "fix\nverbose"),
                    (5, "path-mtu 4096\nservice uc\npeer 10.9.0.2\npeer-psn 0xffffff\nrkey 0x7\nmemory 1G\nblock 64K\ncontrol :7471\ncnp")):
        yield bytes([n]) + text.encode()


def write(folder):
    """A folder of seeds for each target."""
    for name, seeds in (("parse", parse_seeds), ("decap", decap_seeds), ("mask", mask_seeds), ("stream", stream_seeds),
                        ("table", table_seeds), ("reader", reader_seeds), ("capture", capture_seeds),
                        ("doctor", doctor_seeds), ("control", control_seeds), ("responder", responder_seeds),
                        ("server", server_seeds), ("text", text_seeds), ("options", options_seeds)):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        for i, seed in enumerate(seeds()):
            with open(os.path.join(folder, name, f"{i:03}"), "wb") as f:
                f.write(seed)
