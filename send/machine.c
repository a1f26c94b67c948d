// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "send/machine.h"
#include "userspace/address.h"

static bool is_link_local(const __u8 address[16])
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

/* false: another family than `to`, or another scope. */
static bool take_address(const struct sockaddr *from, const __u8 to[16], __u8 address[16])
{
	if (from->sa_family == AF_INET && address_is_ipv4(to)) {
		memcpy(address, address_ipv4_prefix, sizeof(address_ipv4_prefix));
		memcpy(address + sizeof(address_ipv4_prefix), &((const struct sockaddr_in *)from)->sin_addr, 4);
		return true;
	}
	if (from->sa_family == AF_INET6 && !address_is_ipv4(to)) {
		const __u8 *own = ((const struct sockaddr_in6 *)from)->sin6_addr.s6_addr;

		if (is_link_local(own) == is_link_local(to)) {
			memcpy(address, own, 16);
			return true;
		}
	}
	return false;
}

bool machine_address(const char *interface, const __u8 to[16], __u8 address[16])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next)
		if (a->ifa_addr && !strcmp(a->ifa_name, interface))
			found = take_address(a->ifa_addr, to, address);
	freeifaddrs(all);
	return found;
}

bool machine_mac(const char *interface, __u8 mac[6])
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		const struct sockaddr_ll *link = (const struct sockaddr_ll *)a->ifa_addr;

		if (!link || link->sll_family != AF_PACKET || link->sll_halen != 6 || strcmp(a->ifa_name, interface))
			continue;
		memcpy(mac, link->sll_addr, 6);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

bool machine_neighbour(const char *interface, const __u8 address[16], __u8 mac[6])
{
	char line[256], wanted[INET_ADDRSTRLEN], ip[64], device[64];
	bool found = false;
	unsigned int flags;
	FILE *f;

	if (!address_is_ipv4(address))
		return false;
	inet_ntop(AF_INET, address + sizeof(address_ipv4_prefix), wanted, sizeof(wanted));
	f = fopen("/proc/net/arp", "r");
	/* IP address, HW type, flags, HW address, mask, device */
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %*s 0x%x %hhx:%hhx:%hhx:%hhx:%hhx:%hhx %*s %63s", ip, &flags, mac, mac + 1,
			       mac + 2, mac + 3, mac + 4, mac + 5, device) == 9 &&
			flags & ATF_COM && !strcmp(ip, wanted) && !strcmp(device, interface);
	if (f)
		fclose(f);
	return found;
}
