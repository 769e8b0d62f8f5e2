import { sendersOf } from '../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { Intent } from '../intent/intent.ts';
import { type IpAddress, address, formatAddress } from '../model/address.ts';
import type { CarrierName } from '../model/advertisement.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import { understood } from '../model/understood.ts';
import { advertisedByOthers, advertisedIn, originated, sendersWithoutForm } from './origination.ts';

const [V4, V6] = [address('192.0.2.1'), address('2001:db8::1')];
const SENDERS = ['198.51.100.0/24', '2001:db8:1::/64', '2001:db8:2::/64'].map((text) => ({
  prefix: prefix(text),
  format: 'standard-cnp',
}));
const intent = (addresses: object, carriers: object = {}): Intent =>
  ({ router: {}, proxy: { ...addresses, senders: SENDERS }, ...carriers }) as unknown as Intent;
const BOTH = { address: V6, otherAddress: V4 };

describe('a proxy with an address of each family', () => {
  const advertised = (addresses: object): string[] =>
    sendersOf(originated(intent(addresses))).map((p) => `${formatPrefix(p.prefix)} ${formatAddress(p.proxy!)}`);

  test.each([[BOTH], [{ address: V4, otherAddress: V6 }]])(
    'PNC-5-a: each sender prefix has the address of its own family, in either order',
    (addresses) => {
      expect(advertised(addresses)).toEqual([
        '198.51.100.0/24 192.0.2.1',
        '2001:db8:1::/64 2001:db8::1',
        '2001:db8:2::/64 2001:db8::1',
      ]);
    },
  );

  test('with one address every prefix has that one', () => {
    expect(advertised({ address: V4 })).toEqual([
      '198.51.100.0/24 192.0.2.1',
      '2001:db8:1::/64 192.0.2.1',
      '2001:db8:2::/64 192.0.2.1',
    ]);
  });
});

describe('which carriers can advertise a prefix', () => {
  const ALL = { isis: {}, ospfv2: {}, ospfv3: {}, bgp: { nextHop4: V4 } };

  const V4_SENDERS = { prefix: prefix('198.51.100.0/24'), format: 'standard-cnp' } as const;
  const V6_SENDERS = { prefix: prefix('2001:db8:1::/64'), format: 'standard-cnp' } as const;

  test('OSPF needs a proxy address of its own family, BGP a next hop of the prefix’s family, IS-IS nothing', () => {
    const carried = (proxy: IpAddress) =>
      [V4_SENDERS, V6_SENDERS].map((senders) => advertisedIn(intent({}, ALL), proxy, [senders]));
    expect(carried(V4)).toEqual([['bgp', 'isis', 'ospfv2'], ['isis']]);
    expect(carried(V6)).toEqual([
      ['bgp', 'isis'],
      ['isis', 'ospfv3'],
    ]);
  });

  const excused = (asked: Intent, name: CarrierName): number => advertisedByOthers(asked, originated(asked), name);

  test('a prefix that one carrier cannot advertise is no problem if another does', () => {
    const [v4only, v6only] = [{ address: V4 }, { address: V6 }];
    expect(excused(intent(v4only, { ospfv3: {}, isis: {} }), 'ospfv3')).toBe(2);
    expect(excused(intent(v4only, { ospfv3: {} }), 'ospfv3')).toBe(0);
    expect(excused(intent(v6only, { ospfv2: {}, bgp: { nextHop4: V4 } }), 'ospfv2')).toBe(1);
    expect(excused(intent(BOTH, { ospfv3: {}, bgp: { nextHop4: V4 } }), 'bgp')).toBe(2);
    expect(excused(intent(BOTH, ALL), 'isis')).toBe(0);
  });

  describe('about whose senders nothing is known but what they understand', () => {
    const claims = (carriers: object): Intent => {
      const senders = ['198.51.100.0/24', '2001:db8:1::/64'].map((text) => ({
        ...{ prefix: prefix(text), action: 'convert', supports: understood(['long-haul-roce']) },
      }));
      return { router: {}, source: { senders, advertise: true }, ...carriers } as unknown as Intent;
    };

    test('OSPF needs no proxy for that, BGP a path for the prefix', () => {
      expect(excused(claims({ isis: {}, bgp: { nextHop6: V6 } }), 'bgp')).toBe(1);
      expect(excused(claims({ ospfv2: {}, bgp: { nextHop6: V6 } }), 'bgp')).toBe(1);
      expect(excused(claims({ ospfv3: {}, bgp: { nextHop6: V6 } }), 'bgp')).toBe(0);
      expect(excused(claims({ isis: {}, bgp: { nextHop6: V6, nextHop4: V4, advertise: 'proxy-host' } }), 'bgp')).toBe(
        2,
      );
      expect(excused(claims({ isis: {}, ospfv2: {}, ospfv3: {} }), 'ospfv2')).toBe(0);
    });

    test('the carriers that are declared may have no form for a family', () => {
      const without = (carriers: object): string[] =>
        sendersWithoutForm(claims(carriers)).map((entry) => formatPrefix(entry.prefix));
      expect(without({ ospfv3: {} })).toEqual(['198.51.100.0/24']);
      expect(without({ ospfv2: {} })).toEqual(['2001:db8:1::/64']);
      expect(without({ ospfv2: {}, ospfv3: {} })).toEqual([]);
      expect(without({ ospfv2: {}, isis: {} })).toEqual([]);
    });
  });
});

describe('SIDs of a router that takes part in groups', () => {
  const srv6 = {
    'end-mt': '{ locator: 2001:db8:e::/48 }',
    replication: '{ locator: 2001:db8:e::/48, sid: 2001:db8:e::2 }',
  };
  const advertised = (keys: readonly (keyof typeof srv6)[], refusedSids?: ReadonlySet<string>): string[] => {
    const sids = keys.map((key) => `${key}: ${srv6[key]}`).join(', ');
    return originated(load(`${ROUTER}srv6: { core-ports: [eth1], ${sids} }\n`), refusedSids && { refusedSids }).flatMap(
      (one) =>
        one.kind === 'sid' ? [`${formatAddress(one.sid)} ${one.behavior} in ${formatPrefix(one.locator)}`] : [],
    );
  };
  const [EDGE, REPLICATION] = [
    `2001:db8:e::c1:0:0 ${0x8001} in 2001:db8:e::/48`,
    `2001:db8:e::2 ${0x8003} in 2001:db8:e::/48`,
  ];

  test('are advertised with their own behaviors: End.MT of an edge, the replication SID of a router that copies', () => {
    expect(advertised(['end-mt'])).toEqual([EDGE]);
    expect(advertised(['replication'])).toEqual([REPLICATION]);
    expect(advertised(['end-mt', 'replication'])).toEqual([EDGE, REPLICATION]);
  });

  test('are not advertised where the kernel has refused them: packets to them would be lost', () => {
    expect(advertised(['end-mt', 'replication'], new Set(['2001:db8:e::2']))).toEqual([EDGE]);
  });
});
