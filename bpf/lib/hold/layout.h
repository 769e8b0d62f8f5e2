// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the maps of holds; src/kernel/dataplane/holds.ts has the same. No maps.
#ifndef CNPD_HOLD_LAYOUT_H
#define CNPD_HOLD_LAYOUT_H

#include "wire/address.h"

// What is held. FLOW: a connection of a sender that cannot obey (LHCNP §5.6), at all ports. The others are what a
// neighbor has asked to pause (FCN §4.1.2), at one port: SERVICE all packets with this outermost header, PRIORITY all
// of this priority, 0 to 7, TUPLE the flow with these addresses and UDP ports.
enum hold_kind { HOLD_FLOW = 1, HOLD_SERVICE = 2, HOLD_PRIORITY = 3, HOLD_TUPLE = 4 };
#define HOLD_KINDS 5

struct hold_key {
	struct address source;
	struct address destination;
	__u32 id;      // FLOW: the destination Queue Pair; PRIORITY: it; TUPLE: source port << 16 | destination port
	__u32 ifindex; // of the port; FLOW: 0
	__u8 kind;
	__u8 protocol; // SERVICE: what follows the outermost header; TUPLE: UDP
	__u8 reserved[6];
};

enum hold_phase {
	HOLD_HELD = 1,	  // packets go into the class
	HOLD_LEAVING = 2, // they do until the class is empty
	HOLD_BEHIND = 3,  // it is held no longer, but others of it wait for their departure times
};

// Written by the agent alone, which may write all of it at any time, except `responses`.
struct hold {
	__u64 until_ns; // CLOCK_MONOTONIC: from then on the hold is ignored, so that none outlives a dead agent;
			// BEHIND: when the last of what waits has departed
	__u64 drained;	// packets of this hold that the agent has seen leave its class, dropped ones included
	__u16 minor;	// of the class, the same at all ports
	__u8 phase;	// enum hold_phase
	__u8 full;	// packets that enter the class are reported (flow-control/report.h)
	__u8 responses; // BEHIND: as of the record, which may be another flow's by now
	__u8 reserved[3];
};

// Written by the program alone while the hold exists. One a class, by minor number less HOLD_FIRST_MINOR.
struct hold_record {
	__u64 entered;	 // packets put into the class, or given a departure time
	__u64 last_seen; // CLOCK_MONOTONIC: the latest of them
	__u32 longest;	 // bytes of the longest frame, as the class counts it
	__u8 released;	 // the class was found empty while leaving; no packet enters it again
	__u8 responses;	 // READ responses have entered: answers must not overtake them
	__u8 unheld;	 // the latest packet has gone straight: its port has no classes
	__u8 classed;	 // some have entered a class of an HTB
	__u64 stamped;	 // of those that have entered, those given a departure time
	__u64 next;	 // CLOCK_MONOTONIC: when the packet after the last of them may depart
};

// How fast what is held departs where an fq keeps departure times (hold/edt.h). One a class, as hold_record. Written by
// the agent; the source's program shortens what the agent is about to change (source/obey.h).
struct hold_pace {
	__u64 rate;	// bytes per second; 0: none is set
	__u64 told;	// the rate that the agent has set last
	__u64 least;	// the source's program goes no lower
	__u64 earliest; // CLOCK_MONOTONIC: nothing departs before, the end of a pause
	__u64 since;	// CLOCK_MONOTONIC: waiting counts from then on: from the end of a pause, also of one that was
			// ended, or behind what waits at a former, lower rate
	__u64 ahead;	// ns after that: a packet that would depart later is dropped
	__u64 frame;	// ns that each frame takes besides its length: what is stopped sends a frame now and then
};

#define HOLD_FIRST_MINOR 0x1000
#define HOLD_SLOTS 20480

// A port, by interface index. Written by the agent alone.
struct hold_port {
	__u32 handle;  // of its HTB: the major number in the upper 16 bits; 0: nothing is held; or HOLD_EDT
	__u32 above;   // bytes in its queue above which packets are reported, held ones not counted; 0: not watched
	__u64 held;    // bytes that were in classes of traffic when the agent looked last
	__u64 entered; // bytes that had entered them by then (hold_port_bytes), or earlier
};

// ns that a packet may wait for others, whatever their bytes: what waits obeys no later instruction.
#define HOLD_LONGEST_WAIT_NS 100000000

// No packet gets a time further ahead: a pause, what waits behind it, as much again, and one long frame at the least
// rate.
#define HOLD_LONGEST_DEPARTURE_NS 400000000

// No handle: the port's fq keeps departure times.
#define HOLD_EDT 1

// One entry: how many holds of each kind there are.
struct hold_state {
	__u32 holds[HOLD_KINDS];
};

// One bit for each value of the low 16 bits of a Queue Pair number, set if a held flow has it. Most packets are known
// by it not to be held.
#define HOLD_FILTER_WORDS 1024

#endif
