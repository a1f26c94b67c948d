# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What the window of PSNs of SoftRoCE's RC leaves over a distance: the law that experiments draw beside the measurement. It has
the way's time only; what CPUs take comes on top. Pure.

A requester sends the packet with PSN n while n <= u + RXE_MAX_UNACKED_PSNS, where u is the first PSN that is not acknowledged
(rxe_requester() in drivers/infiniband/sw/rxe/rxe_req.c; the constants are in rxe_param.h). It asks for an acknowledgement in
the last packet of a message, and else in each packet behind RXE_MAX_PKT_PER_ACK + 1 that did not ask (init_req_packet():
`qp->req.noack_pkts++ > RXE_MAX_PKT_PER_ACK`). The responder acknowledges those packets only.
"""
import itertools

WINDOW = 128 + 1            # packets that are not acknowledged: RXE_MAX_UNACKED_PSNS, and the first of them
ASKS = 64 + 2               # of a long message each such packet has AckReq: RXE_MAX_PKT_PER_ACK
NVME_COMMANDS = 32 - 1      # of a queue of 32 entries, of which one stays free (NVMe Base Specification 2.0, 3.3.1.5)
NVME_IN_COMMAND = 4096      # bytes of a write that go with its command (nvme.sh); the target fetches more
READS = 128                 # outstanding READs of a QP: RXE_MAX_QP_RD_ATOM
ROUNDS = 1000               # of which a steady state is taken


def packets(size, path_mtu):
    """Of a message."""
    return max(1, -(-size // path_mtu))


def round_trips(count):
    """That a message of so many packets waits for acknowledgements before its last packet leaves."""
    return max(0, -(-(count - WINDOW) // ASKS))


def latency_us(transport, size, path_mtu, one_way_us):
    """
    Time until a message of RC is whole at the other end, where nothing else is under way. Of a single READ, whose responses know no
    window, until the response is whole. None: the transport has no such window.
    """
    if transport == "rc-read":
        return 2 * one_way_us
    if transport not in ("rc", "rc-write", "rc-send"):
        return None
    return (2 * round_trips(packets(size, path_mtu)) + 1) * one_way_us


def packets_a_round_trip(count, messages, parts=1):
    """
    Of a QP that always has the next message: packets of messages of `count` packets, of which so many may be outstanding, that
    are acknowledged in a round trip. parts: 2: the last packet is a message of its own.
    """
    asking = [n for n in range(count) if n >= count - parts or n % ASKS == ASKS - 1]
    acknowledged = 0
    asks = (message * count + n + 1 for message in itertools.count() for n in asking)
    ask = next(asks)
    for _ in range(ROUNDS):
        sent = min(acknowledged + WINDOW, (acknowledged // count + messages) * count)
        while ask <= sent:
            acknowledged, ask = ask, next(asks)
    return acknowledged / ROUNDS


def goodput_gbps(transport, size, path_mtu, one_way_us, messages):
    """Most of one QP, with so many messages outstanding. None: nothing limits it."""
    if transport not in ("rc", "rc-write", "rc-send", "rc-read") or not one_way_us:
        return None
    count = packets(size, path_mtu)
    if transport == "rc-read":      # a READ takes as many PSNs as its response, and is sent whole
        a_round = min(messages, READS, max(1, -(-WINDOW // count))) * count
    else:
        a_round = packets_a_round_trip(count, messages)
    return a_round * size / count * 8 / (2 * one_way_us * 1e3)


def nvme_gbps(transport, tool, size, path_mtu, one_way_us):
    """
    Most of one queue of NVMe over fabrics. A block takes a round trip, but a write whose data the target fetches takes two:
    command and fetch, data and completion. Over RDMA the data are a WRITE or a READ of the target, and a SEND behind it; rxe's
    window of PSNs is that of its QP. None: nothing limits it.
    """
    if not one_way_us:
        return None
    fetched, count = tool == "fio-write" and size > NVME_IN_COMMAND, packets(size, path_mtu) + 1
    blocks = NVME_COMMANDS / (2 if fetched else 1)
    if transport == "nvme-rdma" and fetched:
        blocks = min(blocks, max(1, -(-WINDOW // count)))
    elif transport == "nvme-rdma" and tool == "fio-read":
        blocks = packets_a_round_trip(count, NVME_COMMANDS, parts=2) / count
    return blocks * size * 8 / (2 * one_way_us * 1e3)
