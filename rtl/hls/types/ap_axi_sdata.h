/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stand-in for a header of Vitis HLS (ap_int.h): the words of an AXI-Stream. */
#ifndef AP_AXI_SDATA_H
#define AP_AXI_SDATA_H

#include "ap_int.h"

template <int D, int U, int TI, int TD> struct ap_axiu {
	ap_uint<D> data;
	ap_uint<(D + 7) / 8> keep, strb;
	ap_uint<U ? U : 1> user;
	ap_uint<1> last;
	ap_uint<TI ? TI : 1> id;
	ap_uint<TD ? TD : 1> dest;
};

#endif
