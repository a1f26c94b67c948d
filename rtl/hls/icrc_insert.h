/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICRC_INSERT_H
#define ICRC_INSERT_H

#include <ap_axi_sdata.h>
#include <hls_stream.h>

#ifndef DATA_BYTES
#define DATA_BYTES 8 /* a word: 8, 16, 32 or 64 */
#endif

typedef ap_axiu<8 * DATA_BYTES, 0, 0, 0> axis_word;

/* Takes a word of a frame, if there is one. Behind the last one, the frame leaves, with its ICRC. */
void icrc_insert(hls::stream<axis_word> &in, hls::stream<axis_word> &out);

#endif
