// E1: whose addresses a packet has, in numbers.
import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { endConTenants, planTenants, portTenants, tenantOfSid, tenantOfTable } from './tenants.ts';
import { FACTS, intentOf } from './fixture.ts';
import { planSrv6 } from './end-con.ts';

const SRV6 = 'srv6: { core-ports: [wan], end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48 }, { sid: 2001:db8:c::7, locator: 2001:db8:c::/48, table: 100, interfaces: [eth3] }] }\n';
const learned = (...sids: string[]) => ({ routers: { endConSids: () => sids.map((sid) => ({ sid: address(sid) })) } });
const rows = (intent: string, ...sids: string[]) => endConTenants(intentOf(intent), learned(...sids)).map(({ id, tenant }) => [id, tenant]);

test('E1: a table is its own number, main is 0; a SID without a look-up, or a table beyond 31 bits, is nobody’s', () => {
  expect([254, 0, 100, 0x7fff_ffff, 0x8000_0000, null].map(tenantOfTable)).toEqual([0, 0, 100, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff]);
});

test('E1: own SIDs have the number of their table, others one of their own, the same in every run', () => {
  const other = tenantOfSid(address('2001:db8:d::1'));
  expect(rows(SRV6, '2001:db8:c::1', '2001:db8:d::1')).toEqual([['2001:db8:c::1', 0], ['2001:db8:c::7', 100], ['2001:db8:d::1', other]]);
  expect(other).toBeGreaterThanOrEqual(0x8000_0000);
});

test('E1: two SIDs with one number are both unknown', () => {
  const seen = new Map<number, string>();
  let pair: readonly [string, string] | undefined;
  let state = 1;
  const word = (): string => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16).toString(16);
  while (!pair) {
    const sid = `2001:db8:${word()}:${word()}::${word()}`;
    const tenant = tenantOfSid(address(sid));
    const before = seen.get(tenant);
    if (before && before !== sid) pair = [before, sid];
    seen.set(tenant, sid);
  }
  expect(rows('', ...pair, '2001:db8:d::1').map(([, tenant]) => tenant)).toEqual([0xffff_ffff, 0xffff_ffff, tenantOfSid(address('2001:db8:d::1'))]);
});

test('E1: a router that knows of nothing but its main table has one address space', () => {
  const { srv6 } = planSrv6(intentOf(SRV6.replace(/, \{ sid: 2001:db8:c::7.*?\}/, '')), FACTS);
  expect(planTenants(endConTenants(intentOf(SRV6.replace(/, \{ sid: 2001:db8:c::7.*?\}/, '')), {}), srv6)).toMatchObject({ known: false, ports: [] });
});

test('E1: a port of a table is of its tenant, and so is what leaves there', () => {
  const { srv6 } = planSrv6(intentOf(SRV6), FACTS);
  const plan = planTenants(endConTenants(intentOf(SRV6), {}), srv6);
  const ifindex = FACTS.links.find(({ name }) => name === 'eth3')!.ifindex;
  expect(plan).toMatchObject({ known: true, ports: [{ ingressIfindex: ifindex, sender: null, tenant: 100 }] });
  expect([...portTenants(plan)]).toEqual([[ifindex, 100]]);
});
