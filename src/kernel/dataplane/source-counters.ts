// The counters of the source (bpf/lib/source/counter-rows.h), part of the table in counters.ts.

const row = (
  index: number,
  name: string,
  meaning: string,
): { readonly index: number; readonly name: string; readonly meaning: string } => ({ index, name, meaning });

export const SOURCE_COUNTERS = [
  row(384, 'source.received', 'notifications for declared senders'),
  row(385, 'source.passed', 'notifications passed to the sender as they are'),
  row(386, 'source.converted', 'notifications turned into a standard CNP for the sender'),
  row(387, 'source.enforced', 'notifications that cnpd obeys in place of the sender'),
  row(388, 'source.resume', 'Resumes that were not converted: a CNP only slows down'),
  row(
    389,
    'source.not-allowed',
    'notifications from a source outside the allow-list, or from a tunnel outside it, dropped',
  ),
  row(
    390,
    'source.wrong-port',
    'notifications dropped on a port to which the route back to their source does not lead',
  ),
  row(
    391,
    'source.not-built-here',
    'notifications on the loopback interface that this router has not built, dropped: a local user sent them',
  ),
  row(
    392,
    'source.evasive',
    'notifications dropped that are fragments, or behind other extension headers than a notification has',
  ),
  row(393, 'source.too-long', 'notifications longer than 512 bytes, dropped'),
  row(394, 'source.malformed', 'notifications dropped whose lengths, options, code or fixed BTH fields are wrong'),
  row(
    395,
    'source.bad-checksum',
    'notifications dropped with a wrong ICMPv6, IPv4 or extension checksum, or a wrong ICRC',
  ),
  row(396, 'source.contradictory', 'Long-haul CNPs dropped whose instruction contradicts itself (LHCNP-9-h)'),
  row(397, 'source.bad-objects', 'Long-haul CNPs dropped whose extension objects are malformed, or more than 16'),
  row(
    398,
    'source.qp-unknown',
    'notifications about a Queue Pair that no known connection of the sender has, dropped (LHCNP-5.6-a)',
  ),
  row(399, 'source.qp-doubtful', 'notifications about a connection whose requests remain unanswered, dropped'),
  row(400, 'source.flow-limited', "notifications within the flow's interval, not converted"),
  row(401, 'source.rate-limited', 'notifications refused by the token bucket, dropped'),
  row(402, 'source.failed', 'notifications that the kernel could not resize or rewrite, dropped'),
  row(403, 'source.record-lost', 'records of notifications lost because the agent did not read them in time'),
  row(404, 'source.peer', 'of the notifications obeyed, standard CNPs of the receiver'),
  row(
    405,
    'source.peer-unknown',
    'standard CNPs to a sender that cnpd acts for, not from the receiver of a known connection; passed',
  ),
  row(
    406,
    'source.not-held',
    'notifications to a sender that cnpd acts for, about a flow that could not be held; left to the host',
  ),
  row(407, 'source.obeyed', 'of the notifications enforced, Pauses and Rate Reduces that held the next packet already'),
];
