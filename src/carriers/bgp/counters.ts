// Every counter of the BGP carrier: its name and meaning. `<…>` is a placeholder for a code that is appended.
// counters.test.ts compares the table with the sources.
import type { CounterRow } from '../isis/counters.ts';

const row = (name: string, meaning: string): CounterRow => ({ name, meaning });

/** Names without `bgp.`. */
export const BGP_COUNTERS: readonly CounterRow[] = [
  row('session.connected', 'connections to gobgpd established'),
  row('session.lost', 'connections to gobgpd lost'),
  row(
    'nhc.<code>',
    'paths whose characteristics attribute is malformed, by error: ' +
      'bad-flags (not optional and transitive), truncated, bad-next-hop-length, no-characteristic, ' +
      'truncated-characteristic, characteristic-overrun; they are treated as paths without it',
  ),
  row(
    'characteristic.<code>',
    'characteristics ignored because their value is malformed: bad-length, not-unicast; ' +
      'in the private one also truncated, unknown-version, bad-tlv-length, bad-locator-length, ' +
      'unusable-group-member',
  ),
  row(
    'learn.<status>',
    "paths whose characteristics are not used. next-hop-mismatch: written for a next hop other than the route's. " +
      'family-mismatch: for another address family. outside-domain: the neighbor, or an AS in the path, ' +
      'is outside the domain, or a border router has marked the path. ' +
      'first-as-mismatch: the path comes from an eBGP neighbor and does not begin with its AS',
  ),
  row(
    'learn.link-local-next-hop',
    'paths whose characteristics are not used because their next hop is a link-local address, ' +
      'which does not identify one router; shown as next-hop-mismatch',
  ),
  row(
    'learn.private-misplaced',
    "private characteristics not used because their path is not the host route of the path's own next hop",
  ),
  row('learn.dropped', 'paths dropped because gobgpd did not report them again within the hold time'),
  row('own.added', 'own paths added to gobgpd'),
  row('own.withdrawn', 'own paths removed from gobgpd, including those of an earlier run'),
  row('own.put-back', 'own paths added again because they were missing in gobgpd'),
  row('own.overwritten', 'own paths added again because another client of gobgpd replaced them'),
  row(
    'own.dropped',
    'own paths missing in gobgpd some time after it had accepted them without an error: ' +
      'its import policy rejects them, or it has no table of their family',
  ),
  row('own.look-failed', 'look-ups of own paths that gobgpd did not answer; they are repeated'),
  row(
    'own.disputed',
    'times that own paths were restored only after a pause, ' +
      'because another client of the same gobgpd changes them repeatedly',
  ),
  row('own.refused', 'times that gobgpd refused changes of own paths'),
  row('originate.duplicate-prefix', 'prefixes declared with two proxies: the lower address is advertised'),
  row('originate.no-next-hop', 'prefixes or SIDs not advertised because no next hop of their family is configured'),
  row(
    'originate.unusable-proxy',
    'declared prefixes not advertised because their proxy address is not a unicast host address',
  ),
  row('originate.unusable-sid', 'declared SIDs not advertised because they are outside their locator'),
  row('originate.unusable-group-member', 'declared group members not advertised because no packet could reach them'),
  row('originate.supports-without-path', 'senders about which nothing is advertised: bgp.advertise is proxy-host'),
  row('originate.no-room', 'SIDs or group members not advertised because their path is full'),
  row(
    'originate.router-address-left-out',
    'addresses of the STAMP reflector not advertised because they are not a BGP next hop',
  ),
];
