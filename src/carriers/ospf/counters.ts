// Every counter of the OSPF carriers: its name and meaning. Each exists twice, under `ospfv2.` and `ospfv3.`. `<…>` is
// a placeholder for a code that is appended. counters.test.ts compares the table with the sources. `count` in
// speaker.ts counts.
import type { CounterRow } from '../isis/counters.ts';

const row = (name: string, meaning: string): CounterRow => ({ name, meaning });

/** Names without the carrier's prefix. */
export const OSPF_COUNTERS: readonly CounterRow[] = [
  row(
    'rx.<packet>',
    'packets received and decoded, by kind: hello, database-description, link-state-request, link-state-update, link-state-acknowledgment',
  ),
  row('rx.queue-full', 'packets dropped because they arrive faster than they are handled'),
  row('rx.failed.<errno>', 'receive errors of the packet socket'),
  row('tx.<packet>', 'packets sent, by kind, retransmissions included'),
  row('tx.retransmitted-description', 'Database Descriptions sent again because the neighbor did not answer'),
  row('tx.retransmitted-request', 'requests sent again because the requested LSAs did not arrive'),
  row('tx.failed.<errno>', 'packets that the packet socket refused; OSPF retransmits'),
  row('frame.<code>', 'Ethernet frames with OSPF in them and a malformed IP header'),
  row('packet.<code>', 'packets rejected: truncated, bad-checksum, bad-packet-length, lsa-overrun, …'),
  row(
    'packet.off-link',
    'packets dropped because they do not come from the other end of the link: they were routed here, or FRR has another address there',
  ),
  row('packet.area-mismatch', 'packets of another area'),
  row('packet.instance-mismatch', 'packets of another OSPFv3 instance'),
  row('packet.own-router-id', 'packets with our own router ID, or none: a loop, or FRR has the same router ID'),
  row('packet.no-neighbor', 'packets other than hellos from a router that has sent no hello'),
  row('authentication.<reason>', 'packets dropped: missing, unknown-key, wrong digest'),
  row('authentication.not-configured', 'authenticated packets dropped on a link without keys'),
  row('authentication.replayed', 'packets dropped because their sequence number is not newer'),
  row('interface.vanished', 'deletions of the interface by another program'),
  row('interface.create-failed', 'failed attempts to create the interface again'),
  row('hello.<setting>-mismatch', 'hellos refused because hello-interval, dead-interval or options differ'),
  row('neighbor.inactive', 'neighbors lost because no hello arrived within the dead interval'),
  row('neighbor.<event>', 'exchanges restarted: sequence-number-mismatch, bad-request'),
  row('neighbor.no-opaque', 'exchanges with a neighbor that accepts no opaque LSAs: it lacks "capability opaque"'),
  row('exchange.mtu-mismatch', "Database Descriptions refused: the neighbor's MTU is larger than ours"),
  row('exchange.duplicate', 'duplicate Database Descriptions'),
  row('exchange.abandoned', 'exchanges restarted because the master sent nothing for RouterDeadInterval'),
  row('exchange.backing-off', 'Database Descriptions ignored in the pause after exchanges that failed'),
  row('exchange.not-agreed', 'Database Descriptions ignored before master and slave agreed'),
  row('exchange.too-many', 'LSAs not requested because the database is full; the adjacency comes up without them'),
  row(
    'exchange.bad-shape',
    'LSAs not requested because the neighbor lists them with a length that is invalid for their type; the adjacency comes up without them',
  ),
  row('request.not-exchanging', 'requests from a neighbor that is not in Exchange or later'),
  row('update.not-exchanging', 'updates from a neighbor that is not in Exchange or later'),
  row('acknowledgment.not-exchanging', 'acknowledgments from a neighbor that is not in Exchange or later'),
  row('acknowledgment.other-instance', 'acknowledgments of an instance other than the one sent'),
  row('lsa.<code>', 'LSAs of an update skipped: bad-checksum'),
  row(
    'lsa.bad-shape',
    'LSAs refused before they are stored: shorter than the fixed part of their type, or with lists that do not fill them; ospfd and ospf6d refuse them as well',
  ),
  row('lsa.unknown-type', 'LSAs of a type without scope: discarded'),
  row('lsa.older-again', 'older instances received again within a second: not answered'),
  row(
    'lsa.too-soon',
    'LSAs received within MinLSArrival of the previous instance: not acknowledged, so that the neighbor sends them again',
  ),
  row('lsa.expired', "other routers' LSAs that were not refreshed for an hour"),
  row(
    'lsdb.full',
    'LSAs refused because the database is full (40,000 LSAs or 16 MB per area); the neighbor sends them again',
  ),
  row('own.issued', 'own LSAs issued, refreshes included'),
  row('own.withdrawn', 'own LSAs flushed'),
  row('own.outbid', 'own LSAs issued again because the network had a newer instance'),
  row('own.contested', 'own LSAs outbid three or more times within five minutes: another router has our router ID'),
  row('own.sequence-wrap', 'own LSAs flushed because their sequence numbers are exhausted'),
  row(
    'learn.<reason>',
    "other routers' LSAs, or parts of them, that are ignored: malformed, bad-tlv, bad-mask, bad-container, " +
      'unknown-route-type, misplaced-tlv, repeated-prefix, bad-supports, unusable-sid, unusable-group-member',
  ),
  row('learn.prefix-in-several-lsas', 'prefixes that a router lists in several LSAs: the lowest link-state ID counts'),
  row('originate.duplicate-prefix', 'prefixes declared with two proxies: the lower address is advertised'),
  row('originate.no-room', 'prefixes, SIDs or group members not advertised because they fit into no LSA'),
  row(
    'originate.proxy-of-other-family',
    'declared prefixes whose proxy is not advertised because its address is of the other family',
  ),
  row('originate.router-address-left-out', 'router addresses not advertised because OSPF advertises only one'),
  row('originate.unusable-sid', 'declared SIDs not advertised because they are outside their locator'),
  row('originate.unusable-group-member', 'declared group members not advertised because no packet could reach them'),
  row('carry.carried', 'prefixes and SIDs advertised from one area to another'),
  row('carry.withdrawn', 'inter-area prefixes and SIDs withdrawn'),
];
