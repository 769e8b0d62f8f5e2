// Every counter of the OSPF carriers, by its name, and what it means; each exists twice, under `ospfv2.` and `ospfv3.`.
// `<…>` stands for a code that is appended. counters.test.ts compares the table with the sources. Counting is `count`
// in speaker.ts.
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
  row('tx.retransmitted-description', 'Database Descriptions sent again because the neighbour did not answer'),
  row('tx.retransmitted-request', 'requests sent again because the requested LSAs did not come'),
  row('tx.failed.<errno>', 'packets that the packet socket refused; OSPF retransmits'),
  row('frame.<code>', 'Ethernet frames with OSPF in them and a malformed IP header'),
  row('packet.<code>', 'packets rejected: truncated, bad-checksum, bad-packet-length, lsa-overrun, …'),
  row(
    'packet.off-link',
    'packets that do not come from the other end of the link: they were routed here, or FRR has another address there',
  ),
  row('packet.area-mismatch', 'packets of another area'),
  row('packet.instance-mismatch', 'packets of another OSPFv3 instance'),
  row('packet.own-router-id', 'packets with our own router ID, or none: a loop, or FRR has the same router ID'),
  row('packet.no-neighbor', 'packets other than hellos from a router without a hello'),
  row('authentication.<reason>', 'packets dropped: missing, unknown-key, wrong digest'),
  row('authentication.not-configured', 'authenticated packets on a link without keys: dropped'),
  row('authentication.replayed', 'packets dropped because their sequence number is not newer'),
  row('interface.vanished', 'times that somebody else deleted the interface'),
  row('interface.create-failed', 'failed attempts to create the interface again'),
  row('hello.<setting>-mismatch', 'hellos refused because hello-interval, dead-interval or options differ'),
  row('neighbor.inactive', 'neighbours lost because no hello came within the dead interval'),
  row('neighbor.<event>', 'exchanges restarted: sequence-number-mismatch, bad-request'),
  row('neighbor.no-opaque', 'exchanges with a neighbour that accepts no opaque LSAs: it lacks "capability opaque"'),
  row('exchange.mtu-mismatch', "Database Descriptions refused: the neighbour's MTU is larger than ours"),
  row('exchange.duplicate', 'duplicate Database Descriptions'),
  row('exchange.backing-off', 'Database Descriptions ignored in the pause after exchanges that failed'),
  row('exchange.not-agreed', 'Database Descriptions ignored before master and slave agreed'),
  row(
    'exchange.too-many',
    'LSAs that the neighbour listed beyond the limit of the database: not requested, the adjacency comes up without them',
  ),
  row(
    'exchange.bad-shape',
    'LSAs that the neighbour listed with a length that their type cannot have: not requested, the adjacency comes up without them',
  ),
  row('request.not-exchanging', 'requests of a neighbour with which no exchange runs'),
  row('update.not-exchanging', 'updates of a neighbour with which no exchange runs'),
  row('acknowledgment.not-exchanging', 'acknowledgments of a neighbour with which no exchange runs'),
  row('acknowledgment.other-instance', 'acknowledgments of another instance than the one sent'),
  row('lsa.<code>', 'LSAs left out of an update: bad-checksum'),
  row(
    'lsa.bad-shape',
    'LSAs refused before they are stored: shorter than the fixed part of their type, or with lists that do not fill them; ospfd and ospf6d refuse them too',
  ),
  row('lsa.unknown-type', 'LSAs of a type without scope: discarded'),
  row('lsa.older-again', 'older instances received again within a second: not answered'),
  row(
    'lsa.too-soon',
    'LSAs received within MinLSArrival of the previous instance: not acknowledged, so that they come again',
  ),
  row('lsa.expired', "others' LSAs that nobody refreshed for an hour"),
  row('lsdb.full', 'LSAs refused because the database is full (40,000 LSAs or 16 MB per area); they come again'),
  row('own.issued', 'own LSAs issued, refreshes included'),
  row('own.withdrawn', 'own LSAs flushed'),
  row('own.outbid', 'own LSAs issued again because the network had a newer instance'),
  row(
    'own.contested',
    'own LSAs that were outbid three or more times within five minutes: another router has our router ID',
  ),
  row('own.sequence-wrap', 'own LSAs flushed because their sequence numbers are used up'),
  row(
    'learn.<reason>',
    "others' LSAs, or parts of them, that are ignored: malformed, bad-tlv, bad-mask, bad-container, unknown-route-type, misplaced-tlv, repeated-prefix, unusable-sid",
  ),
  row('learn.prefix-in-several-lsas', 'prefixes that a router lists in several LSAs: the lowest link-state ID counts'),
  row('originate.duplicate-prefix', 'prefixes declared with two proxies: the lower address is advertised'),
  row('originate.no-room', 'prefixes or SIDs that no LSA can hold'),
  row(
    'originate.proxy-of-other-family',
    'declared prefixes whose proxy has an address of the other family: not advertised',
  ),
  row('originate.router-address-left-out', 'router addresses beyond the one that OSPF can carry'),
  row('originate.unusable-sid', 'declared SIDs outside their locator: not advertised'),
  row('carry.carried', 'prefixes and SIDs advertised from one area to another'),
  row('carry.withdrawn', 'inter-area prefixes and SIDs withdrawn again'),
];
