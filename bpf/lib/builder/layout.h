// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The agent's configuration of notices to the sender itself: code points, and the extension objects of a Long-haul CNP
// in wire format except the time. Loopback addresses are in egress_config. src/kernel/dataplane/notice-config.ts has
// the same layout. No maps.
#ifndef CNPD_BUILDER_LAYOUT_H
#define CNPD_BUILDER_LAYOUT_H

#include "kernel.h"

// Extension Header, timestamp 12 bytes, device identifier up to 68, path identifier 8.
#define NOTICE_OBJECTS_MAX 96
// The Extension Header's checksum, and where the timestamp's eight bytes are: it is the first object.
#define NOTICE_OBJECTS_CHECKSUM 2
#define NOTICE_OBJECTS_TIME 8

// One entry. All zero: no notice but the one to a proxy is built.
struct notice_config {
	__u8 fast_cnp_option;	   // option type; 0: no Fast CNP
	__u8 fast_cnp_ioam_option; // option type with IOAM trace data; 0: never used
	__u8 icrc_skips_options;   // decision B2: the ICRC is that of the packet without its Destination Options header
	__u8 long_haul_type;	   // ICMPv6 type; 0: no Long-haul CNP
	__u8 pad_to_cnp;	   // the RoCEv2 form without objects is as long as a CNP
	__u8 has_timestamp;
	__u8 objects_length; // multiple of 4; 0: none
	__u8 reserved;
	__u64 ntp_offset_ns; // NTP time (since 1900) less CLOCK_MONOTONIC
	// Extension Header and objects (LHCNP §6.1.1); its checksum is right for a timestamp of 0.
	__u32 objects[NOTICE_OBJECTS_MAX / 4];
};

#endif
