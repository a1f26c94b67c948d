#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
One end of a path: SoftRoCE on its NIC, memory, and QPs. A test has one end in its own process. The other end is this file, run
as a program, which takes calls as lines of JSON:

    end.py                  from standard input
    end.py ADDRESS PORT     from whoever connects, one after the other. Use an address that only the test can reach.
"""
import contextlib
import glob
import json
import os
import random
import re
import socket
import subprocess
import sys
import time

from patience import PATIENCE, until
try:
    import pyverbs.enums as e
    from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
    from pyverbs.cq import CQ
    from pyverbs.device import Context
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.pyverbs_error import PyverbsError
    from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
    from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
    from pyverbs.wr import SGE, RecvWR, SendWR
except ImportError:
    e = None

OWN = "rxe_test"        # the RDMA device that a test makes
MEMORY = 4 << 20        # bytes
COMPLETIONS = 16384     # of each completion queue
QKEY = 0x11111111
PORT = 4791             # UDP port of RoCEv2
ROCE = f"protocol ip u32 match ip protocol 17 0xff match ip dport {PORT} 0xffff"
# enum ibv_wc_status
STATUS = ("success", "local length error", "local QP operation error", "local EE context error", "local protection error",
          "flushed", "memory window bind error", "bad response", "local access error", "remote invalid request",
          "remote access error", "remote operation error", "retries exceeded", "RNR retries exceeded")
OPERATIONS = {"send": "IBV_WR_SEND", "send-imm": "IBV_WR_SEND_WITH_IMM", "write": "IBV_WR_RDMA_WRITE",
              "write-imm": "IBV_WR_RDMA_WRITE_WITH_IMM", "read": "IBV_WR_RDMA_READ",
              "compare and swap": "IBV_WR_ATOMIC_CMP_AND_SWP", "fetch and add": "IBV_WR_ATOMIC_FETCH_AND_ADD"}
STATES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")


class Missing(Exception):
    """This machine does not have what the test needs."""


def pattern(seed, size):
    """Bytes that are the same at both ends."""
    return random.Random(seed).randbytes(size)


def run(*words, check=True):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def rxe_add(name, netif):
    """Puts SoftRoCE on the NIC. A module that rdma cannot load is not there."""
    if os.geteuid():
        raise Missing("needs root")
    run("modprobe", "-a", "rdma_rxe", "ib_uverbs", check=False)
    add = ["rdma", "link", "add", name, "type", "rxe", "netdev", netif]
    done = subprocess.run(add, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"no SoftRoCE (rdma_rxe) on {netif}: {done.stderr.strip() or 'rdma link add failed'}")


def device_of(netif):
    """The RDMA device on the NIC, or None."""
    return next((path.split("/")[4] for path in glob.glob("/sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0")
                 if read(path) == netif), None)


def gid_index(device, address):
    """Of the RoCEv2 GID of an IPv4 address. The kernel makes GIDs a moment after the address or the device."""
    gid = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*map(int, address.split(".")))
    port = f"/sys/class/infiniband/{device}/ports/1"

    def index():
        for path in glob.glob(f"{port}/gids/*"):
            number = os.path.basename(path)
            try:
                if read(path) == gid and read(f"{port}/gid_attrs/types/{number}") == "RoCE v2":
                    return number
            except OSError:
                pass    # an empty entry has no type
        return None

    found = until(index)
    if found is None:
        raise RuntimeError(f"{device} has no GID of {address}")
    return int(found), gid


class End:
    """Sizes in bytes, addresses as offsets into the memory. A QP is named by its number."""

    def __init__(self):
        self._own = self._context = self._captured = self._shared = None
        self._impaired = False
        self._qps, self._queues, self._peers = {}, {}, {}

    def many(self, calls):
        """[(name, words, {name: value})], by one call from the other end"""
        return [getattr(self, name)(*words, **named) for name, words, named in calls]

    # ---- the device ----

    def open(self, address):
        """The end whose NIC has that IPv4 address. Returns what its peer must know, and {kernel, netif, wire's MTU}."""
        if e is None:
            raise Missing("python3-pyverbs is not installed")
        found = json.loads(run("ip", "-j", "-4", "address", "show", "to", address))
        netif = next((each["ifname"] for each in found if each), None)
        if not netif:
            raise Missing(f"no NIC has the address {address}")
        if not device_of(netif):
            rxe_add(OWN, netif)
            self._own = OWN
        self._netif, self._device = netif, device_of(netif)
        self._gid_index, self._gid = gid_index(self._device, address)
        until(lambda: "ACTIVE" in read(f"/sys/class/infiniband/{self._device}/ports/1/state"))
        self._context = Context(name=self._device)
        self._pd = PD(self._context)
        self._sends, self._receives = CQ(self._context, COMPLETIONS), CQ(self._context, COMPLETIONS)
        access = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC)
        self._mr = MR(self._pd, MEMORY, access)
        return {"gid": self._gid, "rkey": self._mr.rkey, "address": self._mr.buf, "kernel": os.uname().release, "netif": netif,
                "mtu": int(read(f"/sys/class/net/{netif}/mtu"))}

    def close(self):
        self.mend()
        for number in list(self._qps):
            self.destroy(number)
        if self._context:
            for each in (self._mr, self._sends, self._receives, self._pd, self._context):
                each.close()
        self._context = None
        if self._own:
            run("rdma", "link", "delete", self._own)
        self._own = None

    def counters(self):
        """{name: number} of SoftRoCE."""
        paths = glob.glob(f"/sys/class/infiniband/{self._device}/ports/1/hw_counters/*")
        return {os.path.basename(path): int(read(path)) for path in paths if not path.endswith("lifespan")}

    @staticmethod
    def warnings():
        """Lines of the kernel's log."""
        return re.findall(r"(?:WARNING|BUG): .*", run("dmesg"))

    # ---- the wire ----

    def impair(self, kind, *words):
        """RoCE packets leave through a qdisc of this kind (netem). Others, such as calls by TCP, do not."""
        self._shape([kind, "cls_u32"], f"qdisc add dev {{0}} parent 1:4 handle 40: {kind} {' '.join(words)}",
                    f"filter add dev {{0}} parent 1: {ROCE} flowid 1:4")

    def drop(self, psns):
        """Drops the packets of these PSNs, each time. A PSN is in the last three bytes of the BTH's third word (IBTA 9.2)."""
        place = "0x00ffffff at 36"      # behind IPv4, UDP and two words
        self._shape(["cls_u32", "act_gact"], *(f"filter add dev {{0}} parent 1: {ROCE} match u32 {psn} {place} action drop"
                                               for psn in psns))

    def _shape(self, modules, *lines):
        """A qdisc that changes nothing by itself, and words of tc for {0}, the NIC."""
        run("modprobe", "-qa", "sch_prio", *(name if "_" in name else f"sch_{name}" for name in modules), check=False)
        words = "\n".join(("qdisc replace dev {0} root handle 1: prio bands 4", *lines)).format(self._netif)
        done = subprocess.run(["tc", "-batch", "-"], input=words, capture_output=True, text=True, check=False)
        self._impaired = True
        if done.returncode:
            self.mend()
            raise Missing(f"no {' or no '.join(modules)} of tc: {done.stderr.splitlines()[0]}")

    def passed(self):
        """{packets: that have left through impair()'s qdisc, drops: by it, qlen: that are in it}"""
        shown = json.loads(run("tc", "-s", "-j", "qdisc", "show", "dev", self._netif))
        return next(({name: each[name] for name in ("packets", "drops", "qlen")} for each in shown if each["handle"] == "40:"),
                    {"qlen": 0})

    def mend(self):
        """Takes it away, when all packets have left it."""
        if self._impaired:
            until(lambda: not self.passed()["qlen"])
            run("tc", "qdisc", "del", "dev", self._netif, "root", check=False)
            self._impaired = False

    def capture(self):
        """From now on, what comes in."""
        self._captured = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))   # ETH_P_IP
        self._captured.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._captured.bind((self._netif, 0))

    def captured(self):
        """[(opcode, AckReq)] of the RoCE packets since capture()."""
        found = []
        with self._captured as packets:
            packets.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    frame = packets.recv(8192)
                    if frame[23] == 17 and int.from_bytes(frame[36:38], "big") == PORT:
                        found.append((frame[42], frame[50] >> 7))
        return found

    # ---- memory ----

    def fill(self, seed, at, size):
        self._mr.write(pattern(seed, size), size, at)

    def put(self, at, data):
        """data: hexadecimal"""
        self._mr.write(bytes.fromhex(data), len(data) // 2, at)

    def memory(self, at, size):
        """In hexadecimal."""
        return self._mr.read(size, at).hex()

    # ---- QPs ----

    def qp(self, service, sends=256, receives=256, completions=0):
        """completions: of a queue of its own for its receives. 0: all QPs share one."""
        kind = {"rc": e.IBV_QPT_RC, "uc": e.IBV_QPT_UC, "ud": e.IBV_QPT_UD}[service]
        cap = QPCap(max_send_wr=sends, max_recv_wr=receives)
        queue = CQ(self._context, completions) if completions else self._receives
        init = QPInitAttr(qp_type=kind, scq=self._sends, rcq=queue, srq=self._shared, cap=cap, sq_sig_all=1)
        attr = QPAttr(port_num=1)
        attr.qkey = QKEY
        qp = QP(self._pd, init, attr)
        self._qps[qp.qp_num], self._queues[qp.qp_num] = qp, queue
        return qp.qp_num

    def share_receives(self, size=16):
        """From now on QPs take their receives from one queue."""
        self._shared = SRQ(self._pd, SrqInitAttr(SrqAttr(max_wr=size)))

    def connect(self, number, gid, peer, path_mtu=1024, sq_psn=0, rq_psn=0, timeout=17, retries=7, rnr_retries=7, rnr_timer=12,
                refuse=()):
        """
        From any state. timeout, rnr_timer: codes of the ACK timeout and of the RNR timer (IBTA 9.7.6.1.3, 9.7.5.2.8).
        refuse: what this end does not allow its peer, of write, read and atomic.
        """
        qp, attr = self._qps[number], QPAttr(port_num=1)
        qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
        to = AHAttr(gr=GlobalRoute(dgid=GID(gid), sgid_index=self._gid_index, hop_limit=64), is_global=1, port_num=1)
        attr.ah_attr, attr.dest_qp_num, attr.qkey = to, peer, QKEY
        attr.path_mtu, attr.sq_psn, attr.rq_psn = getattr(e, f"IBV_MTU_{path_mtu}"), sq_psn, rq_psn
        attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = timeout, retries, rnr_retries, rnr_timer
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 16
        allowed = {"write": e.IBV_ACCESS_REMOTE_WRITE, "read": e.IBV_ACCESS_REMOTE_READ, "atomic": e.IBV_ACCESS_REMOTE_ATOMIC}
        attr.qp_access_flags = e.IBV_ACCESS_LOCAL_WRITE | sum(flag for name, flag in allowed.items() if name not in refuse)
        qp.to_rts(attr)
        self._peers[number] = (AH(self._pd, attr=to) if qp.qp_type == e.IBV_QPT_UD else None, peer)

    def fail(self, number):
        """Moves the QP to the error state."""
        self._qps[number].modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)

    def state(self, number):
        return STATES[self._qps[number].query(e.IBV_QP_STATE)[0].qp_state]

    def destroy(self, number):
        ah = self._peers.pop(number, (None,))[0]
        self._qps.pop(number).close()
        queue = self._queues.pop(number)
        if queue is not self._receives:
            queue.close()
        if ah:
            ah.close()

    def receive(self, number, places):
        """Posts receives: [(id, at, size)]"""
        for ident, at, size in places:
            self._qps[number].post_recv(RecvWR(wr_id=ident, num_sge=1, sg=[SGE(self._mr.buf + at, size, self._mr.lkey)]))

    def post(self, number, requests):
        """Posts work requests, each a dictionary for _request(). Returns how many, and why not the next one: errno, or None."""
        qp, (ah, peer) = self._qps[number], self._peers[number]
        for posted, request in enumerate(requests):
            try:
                qp.post_send(self._request(ah, peer, **request))
            except PyverbsError as error:
                return posted, getattr(error, "error_code", None) or str(error)
        return len(requests), None

    def _request(self, ah, peer, operation, at=0, size=0, ident=0, rkey=0, to=0, imm=0, add=0, swap=0, lkey=0):
        """to: address at the peer. lkey: is added to the right one. imm: host byte order."""
        if operation in ("compare and swap", "fetch and add"):
            size = 8
        wr = SendWR(wr_id=ident, opcode=getattr(e, OPERATIONS[operation]), num_sge=1,
                    sg=[SGE(self._mr.buf + at, size, self._mr.lkey + lkey)], imm_data=socket.htonl(imm))
        if ah:
            wr.set_wr_ud(ah, peer, QKEY)
        elif operation.startswith(("write", "read")):
            wr.set_wr_rdma(rkey, to)
        elif not operation.startswith("send"):
            wr.set_wr_atomic(rkey, to, add, swap)
        return wr

    def sent(self, count, seconds=PATIENCE):
        """Completions of work requests, in order. Fewer than that: nothing more has come for so many seconds."""
        return self._completions(self._sends, count, seconds)

    def received(self, count, seconds=PATIENCE, of=None):
        """of: a QP with a queue of its own."""
        return self._completions(self._queues.get(of, self._receives), count, seconds)

    @staticmethod
    def _completions(queue, count, seconds):
        """They end when nothing has come for so long."""
        found, limit = [], time.monotonic() + seconds
        while len(found) < count:
            some = queue.poll(min(count - len(found), 64))[1]
            found += [{"id": c.wr_id, "status": STATUS[c.status] if c.status < len(STATUS) else c.status, "bytes": c.byte_len,
                       "imm": socket.ntohl(c.imm_data) if c.wc_flags & e.IBV_WC_WITH_IMM else None, "qp": c.qp_num,
                       "from": c.src_qp} for c in some]
            if some:
                limit = time.monotonic() + seconds
            elif time.monotonic() >= limit:
                break
            else:
                time.sleep(0.001)    # between two polls
        return found


def serve(lines, out, make=End):
    """Answers calls until the caller goes away, and then puts everything back. make: of which kind the end is."""
    end = make()
    try:
        for line in lines:
            name, words, named = json.loads(line)
            try:
                answer = {"returned": getattr(end, name)(*words, **named)}
            except Missing as missing:
                answer = {"missing": str(missing)}
            except Exception as error:  # the caller gets it
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=out, flush=True)
    finally:
        end.close()


def listen(address, port, make=End):
    """A process for each caller, so that none finds what another one left."""
    with socket.create_server((address, int(port))) as listener:
        print("listening", flush=True)
        while True:
            connection = listener.accept()[0]
            child = os.fork()
            if not child:
                with connection, connection.makefile("rw", encoding="ascii") as lines:
                    serve(lines, lines, make)
                os._exit(0)
            connection.close()
            os.waitpid(child, 0)


if __name__ == "__main__":
    if sys.argv[1:]:
        listen(*sys.argv[1:])
    serve(sys.stdin, sys.stdout)
