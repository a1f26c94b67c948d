#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
receive_requester.py CONTROL_ADDRESS OWN_ADDRESS GID_INDEX: in the sender's guest: SoftRoCE asks `rocescope receive` by RC for what
it should refuse. Prints a JSON object, {request: three enum ibv_wc_status}: of the request; of a right one when only the sender's
end of the connection was made anew; and when the receiver's end was, too.
"""
import json
import os
import sys

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

sys.path[0] = os.path.dirname(os.path.abspath(__file__))
from support.patience import until                      # noqa: E402
from support.receiving import Control, sender_end       # noqa: E402

SIZE, PSN = 64, 0xfffffe
REGION = 64 << 20   # bytes of the receiver's only region, where QP 0 has the beginning
RETRIES, TIMEOUT = 1, 16    # once more after 268 ms
# name: opcode, what is added to rkey and address, bytes
REQUESTS = {
    "nothing, with a wrong rkey": (e.IBV_WR_RDMA_WRITE, 1, 0, 0),
    "rkey": (e.IBV_WR_RDMA_WRITE, 1, 0, SIZE),
    "before the region": (e.IBV_WR_RDMA_WRITE, 0, -1, SIZE),
    "beyond the region": (e.IBV_WR_RDMA_WRITE_WITH_IMM, 0, REGION - SIZE + 1, SIZE),
    "READ": (e.IBV_WR_RDMA_READ, 0, 0, SIZE),
    "compare and swap": (e.IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, 8),
    "fetch and add": (e.IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8),
    "SEND without a buffer": (e.IBV_WR_SEND, 0, 0, SIZE),
}
RIGHT = (e.IBV_WR_RDMA_WRITE, 0, 0, SIZE)


class Requester:
    def __init__(self, control, own, gid_index):
        self.control, self.own, self.gid_index = control, own, gid_index
        self.device = Context(name="rxe0")
        self.pd = PD(self.device)
        self.cq = CQ(self.device, 16)
        self.mr = MR(self.pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(max_send_wr=4, max_recv_wr=1), sq_sig_all=1)
        self.qp = QP(self.pd, init, QPAttr(port_num=1))
        self.connection = self.peer = None

    def arm(self):
        """The receiver's end, which is told that the first PSN is PSN."""
        if self.connection:
            self.connection.close()
        self.connection = Control(self.control)
        end = sender_end(service="rc", size=SIZE, address=self.own, psn=PSN)
        end["qps"][0]["qpn"] = self.qp.qp_num
        self.connection.say(**end)
        self.peer = self.connection.hear()

    def connect(self, psn):
        """Our end."""
        self.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
        to, attr = self.peer["qps"][0], QPAttr(port_num=1)
        gid = self.peer["gid"]
        route = GlobalRoute(dgid=GID(":".join(gid[n:n + 4] for n in range(0, 32, 4))), sgid_index=self.gid_index, hop_limit=64)
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        attr.dest_qp_num, attr.rq_psn, attr.sq_psn, attr.path_mtu = to["qpn"], to["psn"], psn & 0xffffff, e.IBV_MTU_1024
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.retry_cnt, attr.timeout, attr.rnr_retry, attr.min_rnr_timer = RETRIES, TIMEOUT, 7, 12
        self.qp.to_rts(attr)

    def status(self, opcode, rkey, address, size):
        """Of the request's completion."""
        to = self.peer["qps"][0]
        rkey, address = to["rkey"] + rkey, to["address"] + address
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)])
        if opcode in (e.IBV_WR_ATOMIC_CMP_AND_SWP, e.IBV_WR_ATOMIC_FETCH_AND_ADD):
            wr.set_wr_atomic(rkey, address, 1, 2)
        else:
            wr.set_wr_rdma(rkey, address)
        self.qp.post_send(wr)
        return until(lambda: self.cq.poll(1)[1])[0].status

    def ask(self, request):
        self.arm()
        self.connect(PSN)
        first = self.status(*request)
        self.connect(PSN + (first == e.IBV_WC_SUCCESS))
        second = self.status(*RIGHT)
        self.arm()
        self.connect(PSN)
        return first, second, self.status(*RIGHT)


def main():
    control, own, gid_index = sys.argv[1:]
    requester = Requester(control, own, int(gid_index))
    print(json.dumps({name: requester.ask(request) for name, request in REQUESTS.items()}))


if __name__ == "__main__":
    main()
