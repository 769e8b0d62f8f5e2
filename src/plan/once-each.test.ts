import { expect, test } from 'vitest';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { onceEach } from './once-each.ts';
import { plan } from './plan.ts';

test('is made once for each declaration, also where nothing comes of it', () => {
  let made = 0;
  const first = onceEach(([one]: readonly string[]) => (made++, one));
  const [some, none] = [['a'], []];
  expect([first(some), first(none), first(some), first(none), made]).toEqual(['a', undefined, 'a', undefined, 2]);
});

test('plans of one intent have the same lists of declared senders', () => {
  const table = learnedTable();
  const learned = { routers: table.routers, senders: table.senders, sizes: () => table.sizes() };
  const intent = intentOf(`
ports: [{ interface: wan, k-min: 50kB, k-max: 100kB }]
notifications: { senders: [{ prefix: 2001:db8:1::/64, supports: [long-haul-roce], order: [long-haul-roce] }] }
source:
  accept-from: [2001:db8:ffff::/48]
  senders: [{ prefix: 2001:db8:2::/64, action: convert }]
proxy:
  address: 2001:db8:ffff::1
  accept-from: [2001:db8:ffff::/48]
  senders: [{ prefix: 2001:db8:3::/64, format: standard-cnp }]
`);
  const lists = () => {
    const { senderPolicies, source, proxy } = plan(intent, learned, FACTS);
    return { senderPolicies, source: source!.senders, proxy: proxy!.senders };
  };
  const [one, other] = [lists(), lists()];
  expect(one.senderPolicies).toHaveLength(1);
  for (const name of ['senderPolicies', 'source', 'proxy'] as const) expect(one[name]).toBe(other[name]);
});

test('so do those whose Queue Pairs are learned', () => {
  const table = learnedTable();
  const learned = { routers: table.routers, senders: table.senders, sizes: () => table.sizes() };
  const intent = intentOf(`
source:
  accept-from: [2001:db8:ffff::/48]
  senders: [{ prefix: 2001:db8:2::/64, action: convert }]
`);
  const senders = () => plan(intent, learned, FACTS).queuePairs!.senders;
  expect(senders()).toBe(senders());
  expect(senders()).toHaveLength(1);
});
