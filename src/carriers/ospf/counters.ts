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
  row('tx.retransmitted-request', 'requests sent again because what was asked for did not come'),
  row('tx.failed.<errno>', 'packets that the packet socket refused; OSPF retransmits'),
  row('frame.<code>', 'Ethernet frames with OSPF in them and a malformed IP header'),
  row('packet.<code>', 'packets rejected: truncated, bad-checksum, bad-packet-length, lsa-overrun, …'),
  row(
    'packet.off-link',
    'packets that do not come from the other end of the link: somebody has them routed here, or FRR has another address there',
  ),
  row('packet.area-mismatch', 'packets of another area'),
  row('packet.instance-mismatch', 'packets of another OSPFv3 instance'),
  row('packet.own-router-id', 'packets with our own router ID, or none: a loop, or FRR has the same router ID'),
  row('packet.no-neighbor', 'packets other than hellos of a router from which no hello came'),
  row('authentication.<reason>', 'packets dropped: missing, unknown-key, wrong digest'),
  row('authentication.not-configured', 'authenticated packets on a link without keys: dropped'),
  row('authentication.replayed', 'packets dropped because their sequence number was there before'),
  row('interface.vanished', 'times the interface was deleted by somebody else'),
  row('interface.create-failed', 'failed attempts to create the interface again'),
  row('hello.<setting>-mismatch', 'hellos refused because hello-interval, dead-interval or options differ'),
  row('neighbor.inactive', 'neighbours lost because no hello came within the dead interval'),
  row('neighbor.<event>', 'exchanges begun anew: sequence-number-mismatch, bad-request'),
  row('neighbor.no-opaque', 'exchanges with a neighbour that takes no opaque LSAs: it lacks "capability opaque"'),
  row('exchange.mtu-mismatch', "Database Descriptions refused: the neighbour's MTU is larger than ours"),
  row('exchange.duplicate', 'Database Descriptions that came again'),
  row('exchange.backing-off', 'Database Descriptions ignored in the pause after exchanges that failed'),
  row('exchange.not-agreed', 'Database Descriptions ignored before master and slave agreed'),
  row(
    'exchange.too-many',
    'LSAs that the neighbour listed beyond what the database holds: not asked for, the adjacency comes up without them',
  ),
  row(
    'exchange.bad-shape',
    'LSAs that the neighbour listed with a length that their type cannot have: not asked for, the adjacency comes up without them',
  ),
  row('request.not-exchanging', 'requests of a neighbour with which no exchange runs'),
  row('update.not-exchanging', 'updates of a neighbour with which no exchange runs'),
  row('acknowledgment.not-exchanging', 'acknowledgments of a neighbour with which no exchange runs'),
  row('acknowledgment.other-instance', 'acknowledgments of another instance than was sent'),
  row('lsa.<code>', 'LSAs left out of an update: bad-checksum'),
  row(
    'lsa.bad-shape',
    'LSAs refused before they are stored: shorter than the fixed part of their type, or with lists that do not fill them; ospfd and ospf6d refuse them too',
  ),
  row('lsa.unknown-type', 'LSAs of a type without scope: discarded'),
  row('lsa.older-again', 'older instances that came again within a second: not answered'),
  row(
    'lsa.too-soon',
    'LSAs that came within MinLSArrival of the instance before: not acknowledged, so that they come again',
  ),
  row('lsa.expired', "others' LSAs that nobody refreshed for an hour"),
  row('lsdb.full', 'LSAs refused because the database holds its limit, 40,000 LSAs or 16 MB an area; they come again'),
  row('own.issued', 'LSAs of ours issued, refreshes included'),
  row('own.withdrawn', 'LSAs of ours flushed'),
  row('own.outbid', 'LSAs of ours issued anew because the network had a newer instance'),
  row(
    'own.contested',
    'LSAs of ours that were outbid a third time or oftener within five minutes: another router has our router ID',
  ),
  row('own.sequence-wrap', 'LSAs of ours flushed because their sequence numbers are used up'),
  row(
    'learn.<reason>',
    "others' LSAs, or parts of them, that are ignored: malformed, bad-tlv, bad-mask, bad-container, unknown-route-type, misplaced-tlv, repeated-prefix, unusable-sid",
  ),
  row('learn.prefix-in-several-lsas', 'prefixes that a router lists in several LSAs: the lowest link-state ID counts'),
  row('originate.duplicate-prefix', 'prefixes declared with two proxies: the lower address is advertised'),
  row('originate.no-room', 'prefixes or SIDs that no LSA has room for'),
  row(
    'originate.proxy-of-other-family',
    'declared prefixes whose proxy has an address of the other family: not advertised',
  ),
  row('originate.router-address-left-out', 'router addresses beyond the one that OSPF has room for'),
  row('originate.unusable-sid', 'declared SIDs outside their locator: not advertised'),
  row('carry.carried', 'prefixes and SIDs taken from one area to another'),
  row('carry.withdrawn', 'carried prefixes and SIDs withdrawn again'),
];
