# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""RoCEv2 frames for tests, made without any code of the project. The ICRC is zlib's."""
import socket
import struct
import zlib

MAC_A, MAC_B = bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b")
UC_WRITE_FIRST, UC_WRITE_MIDDLE, UC_WRITE_LAST, UC_WRITE_LAST_IMM = 0x26, 0x27, 0x28, 0x29
UC_WRITE_ONLY, UC_WRITE_ONLY_IMM = 0x2a, 0x2b
RC_SEND_ONLY, UC_SEND_ONLY, RC_ACK, UD_SEND_ONLY, CNP = 0x04, 0x24, 0x11, 0x64, 0x81


def bth(opcode, dqpn, psn, pad=0, ackreq=False):
    return struct.pack("!BBHII", opcode, 0x40 | pad << 4, 0xffff, dqpn, ackreq << 31 | psn & 0xffffff)


def reth(va, rkey, length):
    return struct.pack("!QII", va, rkey, length)


def immediate(value):
    return struct.pack("!I", value)


def aeth(syndrome, msn=0):
    return struct.pack("!I", syndrome << 24 | msn)


def deth(sqpn):
    return struct.pack("!II", 0x11111111, sqpn)


def icrc(ip, udp, transport):
    """IBTA A17.3.3: eight bytes of ones, then the datagram with its variable fields as ones."""
    ip, udp, transport = bytearray(ip), bytearray(udp), bytearray(transport)
    if ip[0] >> 4 == 4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xff
    else:
        ip[0] |= 0x0f
        ip[1] = ip[2] = ip[3] = ip[7] = 0xff
    udp[6:8] = b"\xff\xff" if udp else b""  # RoCEv1 has none
    transport[4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + transport))


def internet_checksum(data):
    """RFC 1071; 0 if the data includes its right checksum."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", bytes(data) + b"\0" * (len(data) % 2)))
    return ~(total % 0xffff or total and 0xffff) & 0xffff


def ipv4(src, dst, length, options=b"", tos=0, ttl=64, identification=0, fragment=0x4000):
    head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, tos, 20 + len(options) + length, identification,
                       fragment, ttl, 17, 0) + socket.inet_aton(src) + socket.inet_aton(dst) + options
    return head[:10] + struct.pack("!H", internet_checksum(head)) + head[12:]


def ipv6(src, dst, length, extension=b""):
    first = 60 if extension else 17
    return struct.pack("!IHBB", 6 << 28, length + len(extension), first, 64) + \
        socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) + extension


def grh(source, destination, length, traffic_class=0, flow=0, hops=1):
    """RoCEv1's GRH (IBTA 8.3); length: from the BTH on, with the ICRC; GIDs in the form of IPv6 addresses."""
    return struct.pack("!IHBB", 6 << 28 | traffic_class << 20 | flow, length, 0x1b, hops) + \
        socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)


def ethernet(ethertype, vlans=()):
    """vlans: identifiers of the tags, the outer first; another TPID than 0x8100 is in the upper 16 bits."""
    tags = b"".join(struct.pack("!I", vlan if vlan >> 16 else 0x8100 << 16 | vlan) for vlan in vlans)
    return MAC_B + MAC_A + tags + struct.pack("!H", ethertype)


def roce(transport, src="10.9.0.1", dst="10.9.0.2", vlans=(), options=b"", bad_icrc=False, sport=49152, tos=0,
         dport=4791, checksum=None, identification=0, ttl=64):
    """A whole frame: `transport` is the BTH, its extension headers, payload and pad. checksum: "right" or "wrong" for UDP."""
    udp = struct.pack("!HHHH", sport, dport, 8 + len(transport) + 4, 0)
    if ":" in src:
        ip, ethertype = ipv6(src, dst, len(udp) + len(transport) + 4, options), 0x86dd
    else:
        ip, ethertype = ipv4(src, dst, len(udp) + len(transport) + 4, options, tos, ttl, identification), 0x0800
    crc = icrc(ip, udp, transport)
    if bad_icrc:
        crc = bytes([crc[0] ^ 1]) + crc[1:]
    if checksum:  # the ICRC does not cover it
        addresses = ip[8:40] if ":" in src else ip[12:20]
        whole = addresses + struct.pack("!HH", 17, len(udp) + len(transport) + 4) + udp + transport + crc
        udp = udp[:6] + struct.pack("!H", (internet_checksum(whole) or 0xffff) ^ (checksum == "wrong"))
    return ethernet(ethertype, vlans) + ip + udp + transport + crc


def rocev1(transport, src="fe80::1", dst="fe80::2", vlans=(), bad_icrc=False):
    """A GRH instead of IP and UDP."""
    ip = grh(src, dst, len(transport) + 4)
    crc = icrc(ip, b"", transport)
    return ethernet(0x8915, vlans) + ip + transport + (bytes([crc[0] ^ 1]) + crc[1:] if bad_icrc else crc)


def datagram(payload, dport, src="10.9.0.1", dst="10.9.0.2", sport=40000, tos=0):
    udp = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
    return ethernet(0x0800) + ipv4(src, dst, len(udp) + len(payload), tos=tos) + udp + payload


def uc_write(psn, payload=bytes(256), imm=None, dqpn=17, opcode=None, dma=None, va=0x1000, **how):
    """One packet of a UC RDMA WRITE; by default a whole message. dma: its length, in a First or Only."""
    opcode = opcode or (UC_WRITE_ONLY if imm is None else UC_WRITE_ONLY_IMM)
    headers = bth(opcode, dqpn, psn)
    if opcode in (UC_WRITE_FIRST, UC_WRITE_ONLY, UC_WRITE_ONLY_IMM):
        headers += reth(va, 0x77, dma or len(payload))
    if opcode in (UC_WRITE_ONLY_IMM, UC_WRITE_LAST_IMM):
        headers += immediate(imm or 0)
    return roce(headers + payload, **how)


def management(attribute, local, remote, qpn, psn, path_mtu=1024, **how):
    """
    A REQ (0x10) or REP (0x13) of connection management by the tables of IBTA 12.6, with the fields that are read. local, remote:
    communication IDs. psn: with which the requests to the sender of this one begin.
    """
    mad = bytearray(256)
    mad[:4] = 1, 7, 2, 3
    struct.pack_into("!H", mad, 16, attribute)
    struct.pack_into("!II", mad, 24, local, remote)
    at = (36, 44) if attribute == 0x13 else (56, 68)
    for offset, value in zip(at, (qpn, psn)):
        mad[offset:offset + 3] = value.to_bytes(3, "big")
    if attribute == 0x10:
        mad[74] = (path_mtu.bit_length() - 8) << 4
    return roce(bth(UD_SEND_ONLY, 1, 0) + deth(1) + bytes(mad), **how)
