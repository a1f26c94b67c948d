/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recvmmsg(2) and sendmmsg(2) of a UDP socket by io_uring (--io-uring). The receiver's one request is answered for every
 * datagram that comes (multishot recvmsg, buffers that the kernel chooses). The sender hands over all entries by one system
 * call.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_UDP_STREAM_UDP_STREAM_URING_H
#define USERSPACE_TRAFFIC_STREAMS_UDP_STREAM_UDP_STREAM_URING_H

#include <sys/socket.h>

struct uring;

/*
 * Rings, of a receiver for that socket. Where the kernel does not let us have one, they print one line and exit with status 1.
 * max_message, max_control: bytes of the largest datagram and of its control messages.
 */
struct uring *uring_receiver(int fd, size_t max_message, size_t max_control);
struct uring *uring_sender(void);

/*
 * Takes up to UDP_BATCH datagrams and waits up to wait_us for the first. Fills in message[], each with its length and with
 * pointers into the ring's buffers, which are valid until the next call. Returns how many; -1 with errno on error (EAGAIN: none
 * came).
 */
int uring_recvmmsg(struct uring *u, struct mmsghdr *message, unsigned int wait_us);

/*
 * Sends message[0] to message[n - 1] in this order, and waits until the kernel has taken them. n: up to UDP_BATCH. Returns how
 * many left before the first error; -1 with errno if the first was not sent.
 */
int uring_sendmmsg(struct uring *u, int fd, struct mmsghdr *message, unsigned int n);

void uring_free(struct uring *u);

#endif
