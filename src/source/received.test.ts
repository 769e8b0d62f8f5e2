import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { SourceNotification } from '../model/source.ts';
import { ReceivedNotifications } from './received.ts';

const PREFIXES = ['2001:db8::/32', '2001:db8:1::/48', '10.0.0.0/8'].map(prefix);
const from = (sender: string, at = 0): SourceNotification => ({
  atNs: BigInt(at),
  format: 'fast-cnp',
  action: 'convert',
  node: address('2001:db8:ffff::1'),
  flow: { sender: address(sender), receiver: address('2001:db8:2::1'), receiverQpn: 1 },
  senderQpn: 2,
  ifindex: 3,
  instruction: null,
  metric: null,
  trace: null,
});

test('each notification counts for the longest declared prefix of its sender, which remembers the last', () => {
  const received = new ReceivedNotifications();
  received.configure(PREFIXES);
  for (const sender of ['2001:db8:1::1', '2001:db8:9::1', '2001:db8:1::2', '10.1.2.3', '192.0.2.1'])
    received.add(from(sender));
  const counts = PREFIXES.map((declared) => received.of(declared));
  expect(counts.map(({ count }) => count)).toEqual([1, 2, 1]);
  expect(counts[1]!.last!.flow.sender).toEqual(address('2001:db8:1::2'));
  expect([...received.latest()].map(({ sequence }) => sequence)).toEqual([5, 4, 3, 2, 1]);
});

test('a prefix that stays declared keeps its count, one that went and came begins anew', () => {
  const received = new ReceivedNotifications();
  received.configure(PREFIXES);
  for (const sender of ['2001:db8:1::1', '10.1.2.3']) received.add(from(sender));
  received.configure(PREFIXES.slice(0, 2));
  received.configure(PREFIXES);
  expect(PREFIXES.map((declared) => received.of(declared).count)).toEqual([0, 1, 0]);
});

test('what comes before a prefix is declared is listed, and counts for none', () => {
  const received = new ReceivedNotifications();
  received.add(from('2001:db8:1::1', 7));
  expect([...received.latest()]).toEqual([{ sequence: 1, value: from('2001:db8:1::1', 7) }]);
  expect(received.of(PREFIXES[0]!)).toEqual({ count: 0, last: undefined });
});
