// Formats that a policy allows only where they are advertised for the sender's prefix (bpf/lib/detector/policy.h).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import type { NotificationFormat } from '../../../src/model/notification.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';

const P = '2001:db8:1::/64';
const END_CON = address('2001:db8:c::1');
const ONLY = { markCeWithFastCnp: true, onlyAdvertised: true };

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(150_000);
});
afterAll(() => r.close());
beforeEach(() => {
  r.lacking();
  r.endCon(END_CON);
  r.replicationEndCons();
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 0x64]);
  r.configure({});
  r.port({ kMax: 100_000, kMin: 50_000 });
  r.policies(['::/0', ['long-haul-roce', 'fast-cnp', 'proxy'], ONLY]);
  r.clear();
});
const sent = (packet = data()): NotificationFormat[] => {
  r.send(frame(packet));
  return r.records().map(({ format }) => format);
};

test('the first of the order that is advertised is sent', () => {
  r.senders([P, PROXY6, ['fast-cnp', 'long-haul-icmpv6']]);
  expect([sent(), r.count('egress.format.not-advertised')]).toEqual([['fast-cnp'], 1]);
});

test('a prefix without a proxy has what is advertised for it', () => {
  r.senders([P, null, ['long-haul-roce']]);
  expect(sent()).toEqual(['long-haul-roce']);
});

test('a sender of which nothing is advertised is notified through its proxy', () => {
  r.senders([P, PROXY6]);
  expect([sent(), r.count('egress.format.not-advertised')]).toEqual([['proxy'], 2]);
});

test('what is advertised of a shorter prefix, or of IPv6 in general, says nothing', () => {
  r.senders(['2001:db8::/32', PROXY6, ['fast-cnp']], [P, null], ['::/0', null, ['long-haul-roce']]);
  expect([sent(), r.count('egress.no-format')]).toEqual([[], 1]);
});

test('the policy wins: what it does not order is not sent, and without the setting nothing is asked', () => {
  r.senders([P, null, ['long-haul-icmpv6']]);
  expect(sent()).toEqual([]);
  r.policies(['::/0', ['fast-cnp']]);
  r.clear();
  expect(sent()).toEqual(['fast-cnp']);
});

test('a host that has refused the format is not sent it, whatever is advertised', () => {
  r.senders([P, PROXY6, ['fast-cnp']]);
  r.lacking([H1, ['fast-cnp']]);
  expect(sent()).toEqual(['proxy']);
});

test('inside a tunnel the address may be a VPN’s: what is advertised says nothing', () => {
  r.senders([P, PROXY6, ['fast-cnp']]);
  expect([sent(ipv6([END_CON, address('2001:db8:a::2')], 41, data())), r.count('egress.format.tenant')]).toEqual([
    ['proxy'],
    2,
  ]);
});
