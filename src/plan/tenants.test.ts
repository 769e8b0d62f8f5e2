// E1: whose addresses a packet has, in numbers.
import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import { address } from '../model/address.ts';
import { endConTenants, planTenants, portTenant, tenantOfSid, tenantOfTable } from './tenants.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { planSrv6 } from './srv6.ts';
import { plan } from './plan.ts';

const SRV6 =
  'srv6: { core-ports: [wan], end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48 }, ' +
  '{ sid: 2001:db8:c::7, locator: 2001:db8:c::/48, table: 100, interfaces: [eth3] }] }\n';
const learned = (...sids: string[]) => ({ routers: { sidsOf: () => sids.map((sid) => ({ sid: address(sid) })) } });
const rows = (intent: string, ...sids: string[]) =>
  endConTenants(intentOf(intent), learned(...sids)).map(({ id, tenant }) => [id, tenant]);

test('E1: the tenant of a table is its number, of main 0; without a lookup, or beyond 31 bits, it is unknown', () => {
  expect([254, 0, 100, 0x7fff_ffff, 0x8000_0000, null].map(tenantOfTable)).toEqual([
    0, 0, 100, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff,
  ]);
});

test('E1: own SIDs have the number of their table, others a distinct one, the same in every run', () => {
  const other = tenantOfSid(address('2001:db8:d::1'));
  expect(rows(SRV6, '2001:db8:c::1', '2001:db8:d::1')).toEqual([
    ['2001:db8:c::1', 0],
    ['2001:db8:c::7', 100],
    ['2001:db8:d::1', other],
  ]);
  expect(other).toBeGreaterThanOrEqual(0x8000_0000);
});

test('E1: two SIDs with the same number are both unknown', () => {
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
  expect(rows('', ...pair, '2001:db8:d::1').map(([, tenant]) => tenant)).toEqual([
    0xffff_ffff,
    0xffff_ffff,
    tenantOfSid(address('2001:db8:d::1')),
  ]);
});

/** Of a router to which the network has advertised nothing. */
const ownTenants = (intent: Intent) => {
  const { srv6, tunnelSources = [] } = planSrv6(intent, FACTS, false);
  return planTenants(endConTenants(intent, {}), srv6?.decapsulation ?? [], tunnelSources);
};

test('E1: a router with only the main table has one address space', () => {
  expect(ownTenants(intentOf(SRV6.replace(/, \{ sid: 2001:db8:c::7.*?\}/, '')))).toMatchObject({
    known: false,
    ports: [],
  });
});

test('E1: a port of a table has its tenant, also for packets that leave there', () => {
  const plan = ownTenants(intentOf(SRV6));
  const ifindex = FACTS.links.find(({ name }) => name === 'eth3')!.ifindex;
  expect(plan).toMatchObject({
    known: true,
    ports: [
      { ingressIfindex: 0, tenant: 0 },
      { ingressIfindex: ifindex, sender: null, tenant: 100 },
    ],
  });
  expect({ own: portTenant(plan, ifindex), next: portTenant(plan, ifindex + 1) }).toEqual({ own: 100, next: 0 });
});

describe('E1: a port with packets of several tenants has an unknown tenant, not that of the main table', () => {
  const UNKNOWN = 0xffff_ffff;
  const [eth1, eth3] = ['eth1', 'eth3'].map((port) => FACTS.links.find(({ name }) => name === port)!.ifindex) as [
    number,
    number,
  ];
  const SID = {
    main: 'sid: 2001:db8:c::1, locator: 2001:db8:c::/48',
    red: 'sid: 2001:db8:c::7, locator: 2001:db8:c::/48, table: 100',
    blue: 'sid: 2001:db8:c::8, locator: 2001:db8:c::/48, table: 200',
  };
  const planned = (...rows: string[]) => {
    const intent = intentOf(`srv6: { core-ports: [wan], end-con: [${rows.map((row) => `{ ${row} }`).join(', ')}] }\n`);
    return ownTenants(intent);
  };
  const SENDERS = 'senders: [2001:db8:5::/64]';
  test.each([
    ['a SID for any interface', [SID.red], UNKNOWN, UNKNOWN],
    ['a SID for some senders of any interface', [`${SID.red}, ${SENDERS}`], UNKNOWN, UNKNOWN],
    ['a SID for some senders of the port', [`${SID.red}, interfaces: [eth3], ${SENDERS}`], 0, UNKNOWN],
    [
      'two SIDs at the port, one for some senders',
      [`${SID.red}, interfaces: [eth3]`, `${SID.blue}, interfaces: [eth3], ${SENDERS}`],
      0,
      UNKNOWN,
    ],
    [
      'the main table’s, for some senders of a tenant’s port',
      [`${SID.red}, interfaces: [eth3]`, `${SID.main}, interfaces: [eth3], ${SENDERS}`],
      0,
      UNKNOWN,
    ],
    ['a SID for the port in front of one for any', [SID.red, `${SID.blue}, interfaces: [eth3]`], UNKNOWN, 200],
    [
      'the main table’s SID for the port in front of one for any',
      [SID.red, `${SID.main}, interfaces: [eth3]`],
      UNKNOWN,
      0,
    ],
    [
      'the main table’s SID for some senders, and nothing else',
      [`${SID.main}, interfaces: [eth3], ${SENDERS}`, `${SID.blue}, interfaces: [eth1]`],
      200,
      0,
    ],
  ])('%s', (_, rows, atEth1, atEth3) => {
    const plan = planned(...rows);
    expect({ eth1: portTenant(plan, eth1), eth3: portTenant(plan, eth3) }).toEqual({ eth1: atEth1, eth3: atEth3 });
  });

  test('the learning program gets rows of the main table, before those for any interface', () => {
    const rows = planned(SID.red, `${SID.main}, interfaces: [eth3]`).ports.map(({ ingressIfindex, tenant }) => [
      ingressIfindex,
      tenant,
    ]);
    expect(rows).toEqual([
      [0, 100],
      [eth3, 0],
    ]);
  });

  test('the program at that port gets that tenant', () => {
    const tenantAt = (interfaces: string): unknown => {
      const intent = intentOf(
        'ports: [{ interface: wan, k-max: 20kB }]\n' +
          `srv6: { core-ports: [wan], end-con: [{ ${SID.red}${interfaces} }] }\n`,
      );
      return plan(intent, learnedTable(), FACTS).ports.map(({ tenant }) => tenant);
    };
    expect({
      byDefault: tenantAt(''),
      wan: tenantAt(', interfaces: [wan]'),
      eth3: tenantAt(', interfaces: [eth3]'),
    }).toEqual({ byDefault: [UNKNOWN], wan: [100], eth3: [undefined] });
  });
});
