// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy's rows of the counter table (counters.h): indexes 128 to 255. Owned by the proxy program.
#ifndef CNPD_COUNTERS_PROXY_H
#define CNPD_COUNTERS_PROXY_H

#define COUNTERS_PROXY(X)

#endif
