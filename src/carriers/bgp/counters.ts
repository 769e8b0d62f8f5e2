// Every counter of the BGP carrier, by its name, and what it means. `<…>` stands for a code that is appended.
// counters.test.ts compares the table with the sources.
import type { CounterRow } from '../isis/counters.ts';

const row = (name: string, meaning: string): CounterRow => ({ name, meaning });

/** Names without `bgp.`. */
export const BGP_COUNTERS: readonly CounterRow[] = [
  row('session.connected', 'connections to gobgpd established'),
  row('session.lost', 'connections to gobgpd that were lost'),
  row(
    'nhc.<code>',
    'paths whose characteristics attribute is malformed, by what is wrong: ' +
      'bad-flags (not optional and transitive), truncated, bad-next-hop-length, no-characteristic, ' +
      'truncated-characteristic, characteristic-overrun; they count as paths without it',
  ),
  row(
    'characteristic.<code>',
    'characteristics that are ignored because their value is malformed: bad-length, not-unicast; ' +
      'of the private one truncated, unknown-version, bad-tlv-length, bad-locator-length',
  ),
  row(
    'learn.<status>',
    'paths whose characteristics are not used: next-hop-mismatch (written for another next hop than the route ' +
      'has), family-mismatch (for another address family), outside-domain (the neighbour, or an AS in the path, ' +
      'is not of the domain, or a border router has marked it), ' +
      'first-as-mismatch (the path does not begin with the AS of the neighbour in another AS that told of it)',
  ),
  row(
    'learn.link-local-next-hop',
    'paths whose characteristics are not used because their next hop is a link-local address, ' +
      'which is not one router alone; shown as next-hop-mismatch',
  ),
  row(
    'learn.private-misplaced',
    'private characteristics on another path than the host route of its own next hop: not used',
  ),
  row('learn.dropped', 'paths dropped because gobgpd did not report them again within the hold time'),
  row('own.added', 'own paths added to gobgpd'),
  row('own.withdrawn', 'own paths removed from gobgpd, those of an earlier run included'),
  row('own.put-back', 'own paths that were missing in gobgpd and were added again'),
  row('own.overwritten', 'own paths that another client of gobgpd replaced, and that were added again'),
  row(
    'own.dropped',
    'times that gobgpd did not have a path of ours some time after it had taken it without an error: ' +
      'its import policy, or no table of the family',
  ),
  row('own.look-failed', 'times that gobgpd, asked whether it has paths of ours, did not answer: it is asked again'),
  row(
    'own.disputed',
    'times that paths of ours were changed back only after a pause, ' +
      'because somebody else at the same gobgpd changes them again and again',
  ),
  row('own.refused', 'times that gobgpd refused changes of own paths'),
  row('originate.duplicate-prefix', 'prefixes declared with two proxies: the lower address is advertised'),
  row(
    'originate.no-next-hop',
    'prefixes or SIDs that are not advertised because no next hop of their family is configured',
  ),
  row('originate.unusable-proxy', 'declared prefixes whose proxy has an address that cannot be one'),
  row('originate.unusable-sid', 'declared SIDs outside their locator: not advertised'),
  row('originate.no-room', 'SIDs beyond those that a path can hold'),
  row(
    'originate.router-address-left-out',
    'addresses of the STAMP reflector that are not a BGP next hop: not advertised',
  ),
];
