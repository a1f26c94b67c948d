// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/traffic/streams/udp_stream/udp_stream.h"
#include "userspace/traffic/streams/udp_stream/udp_stream_uring.h"

#define BUFFERS		(2 * UDP_BATCH)	/* the kernel fills some while others are read. A power of two */
#define GROUP		0		/* of buffers: there is one only */

#define RECEIVE		1		/* user data of the multishot request */

struct uring {
	struct io_uring ring;
	int fd;
	bool armed;			/* the kernel has the multishot request */
	struct msghdr layout;		/* of each buffer: the room for the sender's address and control messages */
	struct io_uring_buf_ring *free;	/* buffers that the kernel may fill */
	size_t buffer_bytes;
	char *buffers;
	struct iovec iov[UDP_BATCH];
	unsigned int taken, number[UDP_BATCH];	/* of the buffers that the caller has */
};

static void refused(int error)
{
	errno = -error;
	err(1, "--io-uring: io_uring_setup (it needs Linux 6.1, and sysctl kernel.io_uring_disabled=0)");
}

/*
 * The kernel does a request's work in this thread while it waits for completions (DEFER_TASKRUN), so that packets do not
 * interrupt it, and its CPU time is this process's.
 */
static struct uring *new_ring(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
		.cq_entries = 2 * BUFFERS,	/* room for the answers of all buffers, and the end of the request */
	};
	struct uring *u = calloc(1, sizeof(*u));
	int error;

	if (!u)
		err(1, "no memory");
	error = io_uring_queue_init_params(UDP_BATCH, &u->ring, &params);
	if (error)
		refused(error);
	return u;
}

struct uring *uring_sender(void)
{
	return new_ring();
}

static void give_buffer(struct uring *u, unsigned int number)
{
	io_uring_buf_ring_add(u->free, u->buffers + number * u->buffer_bytes, u->buffer_bytes, number,
			      io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(u->free, 1);
}

struct uring *uring_receiver(int fd, size_t max_message, size_t max_control)
{
	struct io_uring_buf_reg registration = { .ring_entries = BUFFERS, .bgid = GROUP };
	struct uring *u = new_ring();
	int error;

	u->fd = fd;
	u->layout.msg_namelen = sizeof(struct sockaddr_storage);
	u->layout.msg_controllen = max_control;
	u->buffer_bytes = sizeof(struct io_uring_recvmsg_out) + u->layout.msg_namelen + max_control + max_message;
	u->buffers = malloc(BUFFERS * u->buffer_bytes);
	if (!u->buffers || posix_memalign((void **)&u->free, 4096, BUFFERS * sizeof(struct io_uring_buf)))
		err(1, "no memory");
	io_uring_buf_ring_init(u->free);
	registration.ring_addr = (uintptr_t)u->free;
	error = io_uring_register_buf_ring(&u->ring, &registration, 0);
	if (error)
		refused(error);
	for (unsigned int i = 0; i < BUFFERS; i++)
		give_buffer(u, i);
	return u;
}

/* The kernel ends a multishot request when it finds no buffer, and now and then for reasons of its own. */
static void arm(struct uring *u)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	io_uring_prep_recvmsg_multishot(sqe, u->fd, &u->layout, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	io_uring_sqe_set_data64(sqe, RECEIVE);
	u->armed = true;
}

/* Returns 0, or a negative error. */
static int take_answer(struct uring *u, const struct io_uring_cqe *cqe, struct mmsghdr *message)
{
	unsigned int number = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
	struct io_uring_recvmsg_out *out;

	if (!(cqe->flags & IORING_CQE_F_MORE))
		u->armed = false;
	if (cqe->res < 0)
		return cqe->res == -ENOBUFS ? 0 : cqe->res;
	u->number[u->taken] = number;
	out = io_uring_recvmsg_validate(u->buffers + number * u->buffer_bytes, cqe->res, &u->layout);
	if (!out)
		return -EBADMSG;
	u->iov[u->taken] = (struct iovec){ io_uring_recvmsg_payload(out, &u->layout), out->payloadlen };
	*message = (struct mmsghdr){
		.msg_hdr = {
			.msg_name = io_uring_recvmsg_name(out), .msg_namelen = out->namelen,
			.msg_iov = &u->iov[u->taken], .msg_iovlen = 1,
			.msg_control = io_uring_recvmsg_cmsg_firsthdr(out, &u->layout), .msg_controllen = out->controllen,
		},
		.msg_len = out->payloadlen,
	};
	u->taken++;
	return 0;
}

int uring_recvmmsg(struct uring *u, struct mmsghdr *message, unsigned int wait_us)
{
	struct __kernel_timespec wait = { .tv_nsec = wait_us * 1000ll };
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;
	int error;

	while (u->taken)
		give_buffer(u, u->number[--u->taken]);
	if (!u->armed)
		arm(u);
	error = io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &wait, NULL);
	if (error == -ETIME)
		error = -EAGAIN;
	if (error > 0)
		error = 0;
	io_uring_for_each_cqe(&u->ring, head, cqe) {
		if (error || u->taken == UDP_BATCH)
			break;
		error = take_answer(u, cqe, &message[u->taken]);
		seen++;
	}
	io_uring_cq_advance(&u->ring, seen);
	errno = error ? -error : EAGAIN;
	return u->taken ? (int)u->taken : -1;
}

/* Each request is linked to the next, which begins when it has ended: so a full socket buffer does not reorder them. */
static void prepare(struct uring *u, int fd, struct mmsghdr *message, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

		io_uring_prep_sendmsg(sqe, fd, &message[i].msg_hdr, 0);
		io_uring_sqe_set_data64(sqe, i);
		if (i + 1 < n)
			sqe->flags |= IOSQE_IO_LINK;
	}
}

int uring_sendmmsg(struct uring *u, int fd, struct mmsghdr *message, unsigned int n)
{
	struct io_uring_cqe *cqe;
	unsigned int sent = n, seen = 0;
	int failed = 0;

	prepare(u, fd, message, n);
	while (seen < n) {
		int error = io_uring_submit_and_wait(&u->ring, n - seen);
		unsigned int head, here = 0;

		if (error < 0 && error != -EINTR)
			errx(1, "io_uring_enter: %s", strerror(-error));
		io_uring_for_each_cqe(&u->ring, head, cqe) {
			/* those behind the first that failed end with ECANCELED */
			if (cqe->res < 0 && cqe->user_data < sent) {
				sent = cqe->user_data;
				failed = -cqe->res;
			}
			here++;
		}
		io_uring_cq_advance(&u->ring, here);
		seen += here;
	}
	errno = failed;
	return sent ? (int)sent : -1;
}

/* The request holds the socket. The kernel would end it some time after this process. Until then the port is in use. */
static void disarm(struct uring *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen;
	int error = 0;

	io_uring_prep_cancel64(io_uring_get_sqe(&u->ring), RECEIVE, 0);
	while (u->armed && (error >= 0 || error == -EINTR)) {
		error = io_uring_submit_and_wait(&u->ring, 1);
		seen = 0;
		io_uring_for_each_cqe(&u->ring, head, cqe) {
			if (cqe->user_data == RECEIVE && !(cqe->flags & IORING_CQE_F_MORE))
				u->armed = false;
			seen++;
		}
		io_uring_cq_advance(&u->ring, seen);
	}
}

void uring_free(struct uring *u)
{
	if (!u)
		return;
	if (u->armed)
		disarm(u);
	io_uring_queue_exit(&u->ring);
	free(u->buffers);
	free(u->free);
	free(u);
}
