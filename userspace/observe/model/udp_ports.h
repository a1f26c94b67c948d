/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the text of --udp: ports, and the formats of their datagrams. */
#ifndef USERSPACE_OBSERVE_MODEL_UDP_PORTS_H
#define USERSPACE_OBSERVE_MODEL_UDP_PORTS_H

#include "roce/packet/udp.h"

#define UDP_MISTAKE 160

/*
 * Adds the ports of "PORT[,FORMAT][,KEY=VALUE]...[,PORT...]". false: the text is wrong, and `mistake` says why; *ports is
 * unchanged then.
 */
bool udp_ports_add(struct roce_ports *ports, const char *text, char mistake[UDP_MISTAKE]);

/* The formats that have a name. */
struct udp_named {
	const char *name, *words;
	struct roce_udp_format format;
};
extern const struct udp_named udp_named[];
extern const size_t udp_named_count;

/* The format of a port. NULL: it is none of them. */
const struct roce_udp_format *udp_ports_find(const struct roce_ports *ports, __u16 port);

/* The words of --udp behind the port: "vdif,frames=25000", "seq=64:32:le,step=2048,stream=0:16". */
struct udp_format_text {
	char text[128];
};
struct udp_format_text udp_format_text(const struct roce_udp_format *f);

/* The format that is called so in udp_named[], whatever its step and frames. NULL: it has no name. */
const struct udp_named *udp_format_named(const struct roce_udp_format *f);

#endif
