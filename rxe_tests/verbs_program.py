#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
QPs that do nothing, for verbs_qps.test:

    verbs_program.py DEVICE COUNT

makes COUNT QPs of RC, brings them to INIT, asks for what the kernel refuses, and prints a line of JSON. On SIGUSR1 it destroys each
second QP. Then it waits.
"""
import json
import signal
import sys

from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import IBV_ACCESS_REMOTE_WRITE, IBV_QP_STATE, IBV_QPS_RTS, IBV_QPT_RC
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr

MAX_SEND_WR = 4


def refused(qp):
    """INIT does not lead to RTS. Returns the error's number."""
    try:
        qp.modify(QPAttr(qp_state=IBV_QPS_RTS), IBV_QP_STATE)
    except PyverbsRDMAError as e:
        return e.error_code
    return 0


def xrc(context):
    """Whether the device has XRC, as libibverbs tells (IBV_DEVICE_XRC)."""
    try:
        return bool(context.query_device().device_cap_flags & 1 << 20)
    except PyverbsError:
        return False


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    context = Context(name=sys.argv[1])
    pd, cq = PD(context), CQ(context, 16)
    init = QPInitAttr(qp_type=IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=MAX_SEND_WR, max_recv_wr=4), sq_sig_all=1)
    qps = [QP(pd, init) for _ in range(int(sys.argv[2]))]
    attributes = QPAttr(port_num=1)
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE
    for qp in qps:
        qp.to_init(attributes)
    print(json.dumps({"qpns": [qp.qp_num for qp in qps], "max_send_wr": MAX_SEND_WR, "refused": refused(qps[0]), "xrc": xrc(context)}), flush=True)
    signal.sigwait({signal.SIGUSR1})
    for qp in qps[::2]:
        qp.close()
    print("half", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
