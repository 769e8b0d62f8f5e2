// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the maps of End.MT (draft RMC); src/kernel/dataplane/multicast.ts has the same. No maps.
//
// The agent writes destinations, routers, ports, groups, lists, branches and members. A list never changes: another
// composition is another list with other slots. The programs write states and records. The agent clears a slot's record
// before it publishes the list.
//
// A state's `current` word says which list is in use and from when on (the epoch). Every other word that programs write
// carries the low bits of its epoch as a label. A word with another label counts as unset, so a new epoch needs no
// clearing, and no answer of one tree is counted in another.
#ifndef CNPD_MULTICAST_LAYOUT_H
#define CNPD_MULTICAST_LAYOUT_H

#include "wire/address.h"

#define MULTICAST_GROUPS 4096
#define MULTICAST_LISTS 16384
#define MULTICAST_SLOTS 65536
// Branches of a list: one copy of a packet each.
#define MULTICAST_BRANCHES 64
#define MULTICAST_ROUTERS 16384
// States with a packet that was too big, between two looks of the agent.
#define MULTICAST_TOO_BIG 1024

enum multicast_kind { MULTICAST_EDGE = 1, MULTICAST_REPLICATION = 2, MULTICAST_PROXY = 3 };

// Value of multicast_destinations, by address: this router's SIDs, and the Proxy Addresses of groups.
struct multicast_destination {
	__u32 group; // of a Proxy Address: index in multicast_groups
	__u8 kind;   // enum multicast_kind
	__u8 reserved[3];
};

// Value of multicast_ports, by interface index.
struct multicast_port {
	__u8 is_core; // other routers are behind it: SIDs are reached only here
	__u8 reserved[3];
};

enum { MULTICAST_ROOT = 1, MULTICAST_KEEP_SOURCE = 2 };

// Value of multicast_groups, by index.
struct multicast_group {
	struct address proxy;
	struct address source;	    // S1; at the root, else 0
	struct address edge;	    // own End.MT SID, or 0
	struct address replication; // own replication SID, or 0
	__u32 designated_qpn;
	__u32 source_qpn; // 0: not known; at the root answers are then counted and dropped
	__u32 cnp_window_ns;
	__u32 copies_per_second; // 0: no limit
	__u32 copies_burst;
	__u8 flags; // MULTICAST_ROOT, MULTICAST_KEEP_SOURCE (copies keep S1 as their source)
	__u8 reserved[3];
};

// Code points, at index 0 of multicast_config.
struct multicast_config {
	__u8 end_mt_tlv;
	__u8 tree_tlv;
	__u8 fast_cnp_option;	   // option types, as in struct notice_config
	__u8 fast_cnp_ioam_option; // 0: none
	__u8 reserved[4];
};

enum multicast_role { MULTICAST_AS_EDGE = 0, MULTICAST_AS_BRANCHING = 1 };
#define MULTICAST_STATE(group, role) ((group) * 2 + (role))

// Key of multicast_list_ids; value: index in multicast_lists. Index 0 is no list.
struct multicast_list_key {
	__u64 digest; // as it is in the tree TLV, network order
	__u32 group;
	__u32 role; // enum multicast_role: the members digest for an edge, the tree digest for a branching node
};

// Value of multicast_lists, by index.
struct multicast_list {
	__u32 group;
	__u32 first; // slot of its first branch
	__u16 count;
	__u8 role;
	__u8 has_local; // the first branch is this router's own edge role
	__u32 parent; // index in multicast_routers from which packets may come; 0: this router is the root (or an edge)
};

// Value of multicast_branches, by slot.
struct multicast_branch {
	struct address address; // a receiver, or the SID of the child; 0 for the local branch
	__u32 qpn;		// of a receiver
	__u32 psn_delta;
	__u64 va_delta;
	__u32 r_key;
	__u8 has_write;
	__u8 excluded; // stalled, and taken out of the minimum by configuration
	__u8 reserved[2];
};

// Key of multicast_members; value: slot. Who may answer: a receiver of an edge's list, the child of a tree list.
struct multicast_member_key {
	struct address address;
	__u32 list;
	__u32 reserved; // 0
};

#define EPOCH_BITS 20
#define EPOCH_MASK 0xfffffu
#define LIST_BITS 22
#define ROUTER_BITS 22
// struct multicast_state.current: epoch, list, parent from the highest bit on. 0: no packet has come yet. The parent of
// an edge whose router replicates is that router itself.
#define CURRENT(epoch, list, parent) ((__u64)(epoch) << 44 | (__u64)(list) << 22 | (parent))
#define CURRENT_EPOCH(current) ((__u32)((current) >> 44))
#define CURRENT_LIST(current) ((__u32)((current) >> 22) & 0x3fffff)
#define CURRENT_PARENT(current) ((__u32)(current) & 0x3fffff)

// Every other word: label (low 10 bits of the epoch) in the highest bits, then SET, then its content.
#define LABEL_SHIFT 54
#define LABEL(epoch) ((__u64)((epoch) & 0x3ff) << LABEL_SHIFT)
#define WORD_SET (1ULL << 53)
#define WORD_PSN(word) ((__u32)(word) & 0xffffff)
// progress: next PSN in bits 0-23, MSN in 24-47, credits in 48-52
#define PROGRESS_MSN(word) ((__u32)((word) >> 24) & 0xffffff)
#define PROGRESS_CREDITS(word) ((__u32)((word) >> 48) & 0x1f)
// nak, nak_pending: ePSN in bits 0-23, AETH syndrome in 24-31; of nak, in bit 32: has gone up
#define NAK_SYNDROME(word) ((__u32)((word) >> 24) & 0xff)
#define NAK_SENT (1ULL << 32)

// Value of multicast_states, by MULTICAST_STATE. Written by programs only.
struct multicast_state {
	__u64 current;
	__u64 high;	   // label, SET, highest PSN forwarded + 1
	__u64 sent;	   // label, SET, next PSN of the last answer that went up, MSN and credits as in progress
	__u64 nak_pending; // label, SET, ePSN and syndrome of the NAK that went up and was not answered by a repetition
	__u64 repeat;	   // label, SET: a packet before `sent` came again
	__u64 window_ns;   // begin of the open CNP window; 0: none
	__u64 data_ns;	   // time of the last packet, by the coarse clock (progress.h)
	__u64 tokens;	   // of the limit of copies: time (ns) at which the bucket is full
	__u64 packets;	   // replicated
	__u64 answers;	   // gone up
	__u32 around;	   // of an edge: octets in front of the packet inside, as they arrived last
	__u32 all_joined;  // an edge's list whose receivers have all joined
	__u64 members;	   // of an edge: digests of the last packet's tree TLV, in network order
	__u64 tree;
};

// Value of multicast_too_big, by MULTICAST_STATE: a packet of the group was too big for a path from here, or for one
// further down. Written by programs; the agent takes it and deletes it.
struct multicast_too_big {
	__u64 members, tree; // digests of the packet's tree TLV, in network order
	__u32 epoch;
	__u32 mtu; // octets of a packet in the tree that would pass, outer header included; the smallest one seen
};

// Value of multicast_records, by slot. Written by programs; the agent clears it before the list is published.
struct multicast_record {
	__u64 progress; // label, SET, next PSN, MSN, credits
	__u64 nak;	// label, SET, ePSN, syndrome, SENT: live while ePSN is the next PSN of progress
	__u64 joined; // of a receiver: SET: has had a packet that begins a message, and gets all from there on. Without
		      // label: another epoch does not undo it. Copied from the list in use before
	__u64 cnps;   // in the open window
	__u64 heard_ns; // time of the last answer
	__u64 copies;
	__u64 change; // SET, what is the same in all copies for a receiver (rewrite.h): sum in bits 32-47, ICRC in 0-31
};

#endif
