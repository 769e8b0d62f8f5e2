// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the agent asks the program `egress_resume` before it tells a sender to resume, and what the program answers.
// src/kernel/dataplane/flows.ts mirrors the layout.
#ifndef CNPD_DETECTOR_RESUME_H
#define CNPD_DETECTOR_RESUME_H

#include "detector/flows.h"

// Behind an Ethernet header that nobody reads.
struct resume_claim {
	struct flow_key key;
	__u32 ifindex;
};

enum resume_answer { RESUME_GRANTED, RESUME_FLOW_WAITS, RESUME_PORT_WAITS, RESUME_UNKNOWN_PORT };

#endif
