// What cnpd reads in the LSAs of others, one body at a time (RFC 2328 §12.4; RFC 5340 §4.4.3; RFC 7684; RFC 9513), and
// what it leaves out with a warning.
import { describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../../model/address.ts';
import { origination } from '../../model/advertisement.fixture.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import type { LsaBody, PrefixSubTlv, RouterLinkV2 } from '../../packet/ospf/lsa/types.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import { encodeSidContainer } from '../../packet/sid-container.ts';
import { type AnyVersion, ContentAgent, END_CON, contentConfig, encoded } from './content.fixture.ts';
import { KINDS, type ReadByKind, readByKind } from './kinds/reading.fixture.ts';
import { usableSid } from './kinds/sid.ts';
import type { OwnLsa } from './version.ts';

const SELF = 0x02020202;
const HUB = 0x0a0a0a0a;

function read(version: AnyVersion, type: number, lsId: number, body: LsaBody): ReadByKind {
  const { key, lsa } = encoded(version, SELF, { type, lsId, body });
  return readByKind(version, { ...key, raw: lsa.raw });
}

const prefixes = (one: ReadByKind): string[] => one.prefixes.map((entry) => formatPrefix(entry.prefix));

describe('OSPFv2, a Router-LSA', () => {
  const link = (type: number, linkId: number, linkData: number): RouterLinkV2 => ({
    ...{ type, linkId, linkData, metric: 7, tosMetrics: new Uint8Array() },
  });
  const router = (...links: RouterLinkV2[]): ReadByKind => read(2, 1, SELF, { kind: 'router-v2', flags: 0, links });

  test('leads to routers, over virtual links too, and to transit networks; its stubs are prefixes', () => {
    const { topology, prefixes: stubs } = router(
      link(1, HUB, 0),
      link(4, HUB + 1, 0),
      link(2, 0x0a630001, 0),
      link(3, 0x0a010000, 0xffff0000),
    );
    expect(topology.node).toEqual({
      name: `r${SELF}`,
      links: [`r${HUB}`, `r${HUB + 1}`, `n${0x0a630001}`].map((to) => ({ to, cost: 7 })),
      transit: true,
      stub: false,
    });
    expect(stubs).toMatchObject([
      { prefix: prefix('10.1.0.0/16'), pnc: false, metric: 7, route: 'intra-area', node: false, attached: false },
    ]);
    expect(topology).not.toHaveProperty('hostAddress');
  });

  test('a stub whose mask has holes is left out', () => {
    const one = router(link(3, 0x0a010000, 0xff00ff00), link(3, 0x0a020000, 0xffff0000));
    expect({ prefixes: prefixes(one), warnings: one.warnings }).toEqual({
      prefixes: ['10.2.0.0/16'],
      warnings: ['bad-mask'],
    });
  });

  test.each<[string, number, number, number, boolean]>([
    ['a host route to its router ID', SELF, SELF, 0xffffffff, true],
    ['a host route to something else', SELF, HUB, 0xffffffff, false],
    ['a network of its router ID', SELF, SELF, 0xfffffffe, false],
    ['a mask with holes at its router ID', SELF, SELF, 0xff00ffff, false],
  ])('D6: %s', (_what, _self, linkId, mask, isAddress) => {
    const { hostAddress } = router(link(3, linkId, mask)).topology;
    expect(hostAddress && formatAddress(hostAddress)).toBe(isAddress ? '2.2.2.2' : undefined);
  });
});

describe('OSPFv2, other bodies', () => {
  test('a Network-LSA is a prefix, and leads to the routers that are attached', () => {
    const one = read(2, 2, 0x0a630001, { kind: 'network-v2', mask: 0xffffff00, attachedRouters: [SELF, HUB] });
    expect({ prefixes: prefixes(one), warnings: one.warnings }).toEqual({ prefixes: ['10.99.0.0/24'], warnings: [] });
    const links = [`r${SELF}`, `r${HUB}`].map((to) => ({ to, cost: 0 }));
    expect(one.topology.node).toEqual({ name: `n${0x0a630001}`, links, transit: true });
  });

  test('one whose mask has holes leads there all the same', () => {
    const one = read(2, 2, 0x0a630001, { kind: 'network-v2', mask: 0xff00ff00, attachedRouters: [HUB] });
    expect({ prefixes: prefixes(one), warnings: one.warnings, links: one.topology.node?.links }).toEqual({
      prefixes: [],
      warnings: ['bad-mask'],
      links: [{ to: `r${HUB}`, cost: 0 }],
    });
  });

  const extended = (type: number, routeType: number, flags: number): ReadByKind => {
    const tlv = { kind: 'extended-prefix' as const, routeType, flags, prefix: prefix('10.1.0.0/24'), subTlvs: [] };
    return read(2, type, opaqueLsId(7, 1), { kind: 'extended-prefix-lsa', tlvs: [tlv] });
  };

  test.each<[number, string | undefined]>([
    [0, 'unspecified'],
    [1, 'intra-area'],
    [3, 'inter-area'],
    [5, 'external'],
    [7, 'external'],
    [2, undefined],
  ])('RFC 7684 §2.1: route type %i', (routeType, route) => {
    const { prefixes: read, warnings } = extended(10, routeType, 0);
    expect(read.map((entry) => entry.route)).toEqual(route === undefined ? [] : [route]);
    expect(warnings).toEqual(route === undefined ? ['unknown-route-type'] : []);
  });

  test('an Extended Prefix LSA of AS scope is of no area', () => {
    // cnpd never encodes one: it would end an ospfd with `mpls-te on`.
    const lsa = encoded(2, SELF, {
      ...{ type: 10, lsId: opaqueLsId(7, 1) },
      body: {
        kind: 'extended-prefix-lsa',
        tlvs: [{ kind: 'extended-prefix', routeType: 1, flags: 0, prefix: prefix('10.1.0.0/24'), subTlvs: [] }],
      },
    });
    const { prefixes: read } = readByKind(2, { ...lsa.key, type: 11, raw: lsa.lsa.raw });
    expect(read.map(({ route }) => route)).toEqual(['external']);
  });

  test('RFC 7684 §2.1: the A-flag and the N-flag', () => {
    const flags = [0, 0x80, 0x40, 0xc0].map((value) => extended(10, 1, value).prefixes[0]!);
    expect(flags.map(({ attached, node }) => [attached, node])).toEqual([
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ]);
  });

  const sid = (text: string, locator = '2001:db8:c::/48', behavior = END_CON) => ({
    ...{ tlv: 'sid' as const, sid: address(text), locator: prefix(locator), behavior },
  });
  const container = (lsId: number, ...sids: ReturnType<typeof sid>[]): ReadByKind =>
    read(2, 10, opaqueLsId(240, lsId), { kind: 'private', container: encodeSidContainer(sids) });

  test('FCN-4.2.2-a: SIDs of the private LSA, intra-area below the numbers of what is copied, inter-area from there', () => {
    const routes = [0, 0x7fffff, 0x800000, 0x800001].map(
      (lsId) => container(lsId, sid('2001:db8:c::1')).sids[0]!.route,
    );
    expect(routes).toEqual(['intra-area', 'intra-area', 'inter-area', 'inter-area']);
  });

  test('a SID that no router can use is left out with one warning; of another behavior, without', () => {
    const { sids, warnings } = container(
      0,
      sid('2001:db8:c::1'),
      sid('ff05::1', 'ff05::/16'),
      sid('2001:db8:c::2', undefined, 1),
    );
    expect(sids.map((one) => formatAddress(one.sid))).toEqual(['2001:db8:c::1']);
    expect(warnings).toEqual(['unusable-sid']);
    expect(container(0, sid('2001:db8:c::1')).warnings).toEqual([]);
  });

  test('a container that cannot be read has no content', () => {
    const one = read(2, 10, opaqueLsId(240, 0), { kind: 'private', container: Uint8Array.of(9, 9, 9, 9) });
    expect({ sids: one.sids, warnings: one.warnings }).toEqual({ sids: [], warnings: ['bad-container'] });
  });
});

const UNKNOWN_TLV = { kind: 'unknown' as const, type: 77, value: Uint8Array.of(1, 2, 3, 4) };

describe('OSPFv3', () => {
  test('a Router-LSA leads to routers and to transit networks, and is transit by its R-bit', () => {
    const link = (type: number, neighborRouterId: number) => ({
      ...{ type, metric: 1, interfaceId: 1, neighborInterfaceId: 5, neighborRouterId },
    });
    const links = [link(1, HUB), link(2, HUB + 1), link(3, HUB + 2), link(4, HUB + 3)];
    const { node } = read(3, 0x2001, 0, { kind: 'router-v3', flags: 0, options: 0x13, links }).topology;
    const network = read(3, 0x2002, 5, { kind: 'network-v3', options: 0x13, attachedRouters: [HUB, SELF] }).topology
      .node!;
    expect(node!.links).toHaveLength(3);
    expect(node!.links.filter(({ to }) => to.startsWith('r'))).toEqual([
      { to: `r${HUB}`, cost: 1 },
      { to: `r${HUB + 3}`, cost: 1 },
    ]);
    expect({ links: network.links, networkTransit: network.transit, nodeTransit: node!.transit }).toEqual({
      links: [
        { to: `r${HUB}`, cost: 0 },
        { to: `r${SELF}`, cost: 0 },
      ],
      networkTransit: true,
      nodeTransit: true,
    });
    expect(read(3, 0x2001, 0, { kind: 'router-v3', flags: 0, options: 3, links }).topology.node!.transit).toBe(false);
  });

  test('extended LSAs (RFC 8362) say the same of routers and networks, in TLVs', () => {
    const link = { metric: 7, interfaceId: 1, neighborInterfaceId: 5 };
    const tlv = (type: number, neighborRouterId: number) => ({
      ...{ kind: 'router-link-tlv' as const, ...link, type, neighborRouterId, subTlvs: Uint8Array.of(0, 9, 0, 0) },
    });
    const plain = [1, 2, 3, 4].map((type) => ({ ...link, type, neighborRouterId: HUB + type }));
    const tlvs = [...plain.map(({ type, neighborRouterId }) => tlv(type, neighborRouterId)), UNKNOWN_TLV];
    for (const options of [0x13, 3])
      expect(read(3, 0xa021, 0, { kind: 'e-router', flags: 0, options, tlvs }).topology.node).toEqual(
        read(3, 0x2001, 0, { kind: 'router-v3', flags: 0, options, links: plain }).topology.node,
      );
    const attached = [{ kind: 'attached-routers-tlv' as const, routers: [HUB, SELF] }, UNKNOWN_TLV];
    expect(read(3, 0xa022, 5, { kind: 'e-network', options: 0x13, tlvs: attached }).topology.node).toEqual(
      read(3, 0x2002, 5, { kind: 'network-v3', options: 0x13, attachedRouters: [HUB, SELF] }).topology.node,
    );
  });

  test.each<[string, string, number, string | undefined]>([
    ['a host prefix with the LA-bit', '2001:db8::7/128', 2, '2001:db8::7'],
    ['a host prefix without it', '2001:db8::7/128', 0, undefined],
    ['a network with it', '2001:db8::/64', 2, undefined],
    ['a multicast address with it', 'ff05::7/128', 2, undefined],
    ['one with the NU-bit', '2001:db8::7/128', 3, undefined],
  ])('D6: %s', (_what, text, options, expected) => {
    const referenced = { type: 0x2001, lsId: 0, advertisingRouter: SELF };
    const body = {
      kind: 'intra-area-prefix',
      referenced,
      prefixes: [{ prefix: prefix(text), options, metric: 3 }],
    } as const;
    const { hostAddress } = read(3, 0x2009, 1, body).topology;
    expect(hostAddress && formatAddress(hostAddress)).toBe(expected);
  });

  const tlv = (kind: 'inter-area-prefix-tlv' | 'external-prefix-tlv' | 'intra-area-prefix-tlv', prefixOptions = 0) => ({
    ...{ kind, flags: 0, metric: 5, prefixOptions, prefix: prefix('2001:db8:1::/48'), subTlvs: [] as PrefixSubTlv[] },
  });

  test('RFC 8362 §3: of the prefix TLVs each extended LSA has its own; another is misplaced', () => {
    const referenced = { type: 0x2001, lsId: 0, advertisingRouter: SELF };
    const tlvs = [tlv('inter-area-prefix-tlv', 0x20), tlv('external-prefix-tlv'), tlv('intra-area-prefix-tlv')];
    const all = [
      read(3, 0xa023, 1, { kind: 'e-inter-area-prefix', tlvs }),
      read(3, 0xc025, 1, { kind: 'e-as-external', tlvs }),
      read(3, 0xa029, 1, { kind: 'e-intra-area-prefix', referenced, tlvs }),
    ];
    expect(all.map(({ prefixes: read }) => read.map(({ route, node, attached }) => [route, node, attached]))).toEqual([
      [['inter-area', true, false]],
      [['external', false, false]],
      [['intra-area', false, false]],
    ]);
    for (const { warnings } of all) expect(warnings).toEqual(['misplaced-tlv', 'misplaced-tlv']);
  });

  const sids = (type: number, routeType: number, ...texts: string[]): ReadByKind => {
    const endSids = texts.map((text) => ({
      ...{ kind: 'end-sid' as const, flags: 0, behavior: END_CON, sid: address(text), subTlvs: [] },
    }));
    const unknown = { kind: 'unknown' as const, type: 99, value: new Uint8Array(4) };
    const locator = {
      ...{ kind: 'srv6-locator' as const, routeType, algorithm: 3, prefixOptions: 0, metric: 1 },
      ...{ locator: prefix('2001:db8:c::/48'), subTlvs: [unknown, ...endSids] },
    };
    return read(3, type, 1, { kind: 'srv6-locator-lsa', tlvs: [unknown, locator, locator] });
  };

  test.each<[number, string | undefined]>([
    [1, 'intra-area'],
    [3, 'inter-area'],
    [5, 'external'],
    [7, 'external'],
    [2, undefined],
  ])('RFC 9513 §7.1: a SID of a locator of route type %i, once', (routeType, route) => {
    const { sids: read, warnings } = sids(0xa02a, routeType, '2001:db8:c::1');
    expect(read.map((one) => [one.route, one.algorithm])).toEqual(route === undefined ? [] : [[route, 3]]);
    expect(warnings).toEqual(route === undefined ? ['unknown-route-type', 'unknown-route-type'] : []);
  });

  test('one of AS scope is of no area', () => {
    expect(sids(0xc02a, 1, '2001:db8:c::1').sids.map(({ route }) => route)).toEqual(['external']);
  });

  test('RFC 9513 §8: a SID outside its locator is ignored, with a warning', () => {
    const { sids: read, warnings } = sids(0xa02a, 1, '2001:db8:d::1', '2001:db8:c::2');
    expect(read.map((one) => formatAddress(one.sid))).toEqual(['2001:db8:c::2']);
    expect(warnings).toEqual(['unusable-sid', 'unusable-sid']);
  });
});

function advertised(version: AnyVersion, routerAddresses: readonly IpAddress[]): readonly OwnLsa[] {
  const agent = new ContentAgent(contentConfig(version, SELF, [0]));
  agent.declares(origination({ routerAddresses }));
  return agent.advertised.get(0)!;
}

describe.each([2, 3] as const)('OSPFv%d, what follows from a declaration', (version) => {
  const own = version === 2 ? '192.0.2.7' : '2001:db8::7';
  const other = version === 2 ? '2001:db8::7' : '192.0.2.7';
  const group = version === 2 ? '224.0.0.1' : 'ff05::1';
  const reported = (...addresses: string[]): unknown[] =>
    advertised(version, addresses.map(address)).map(({ body }) => body);

  test('the first router address that is a host’s of the family is reported', () => {
    const tlvs = [{ kind: 'te-router-address', address: address(own) }];
    expect(reported(other, group, own)).toEqual([{ kind: `traffic-engineering-v${version}`, tlvs }]);
    expect({ reported: reported(), other: reported(other), group: reported(group) }).toEqual({
      reported: [],
      other: [],
      group: [],
    });
  });

  test('RFC 3630 §2.4.1: nor is one of others taken that is no host’s', () => {
    const [type, lsId] = version === 2 ? [10, opaqueLsId(1, 0)] : [0xa00a, 0];
    const te = (text: string) => ({ kind: 'te-router-address' as const, address: address(text) });
    const of = (...texts: string[]) =>
      read(version, type, lsId, { kind: `traffic-engineering-v${version}`, tlvs: texts.map(te) }).topology;
    expect({ routerAddress: of(group).routerAddress, own: of(group, own).routerAddress }).toEqual({
      routerAddress: undefined,
      own: address(own),
    });
  });

  test('of which LSAs only the lowest link-state ID counts', () => {
    const counts = (type: number, lsId: number): boolean =>
      KINDS[version].lowestCounts({ type, lsId, advertisingRouter: SELF }) !== undefined;
    if (version === 2) {
      expect([9, 10, 11].map((type) => counts(type, opaqueLsId(7, 1)))).toEqual([true, true, true]);
      expect({ type5: counts(5, opaqueLsId(7, 1)), type10: counts(10, opaqueLsId(4, 1)) }).toEqual({
        type5: false,
        type10: false,
      });
    } else {
      expect([0xa023, 0xc025, 0xa027, 0xa029].map((type) => counts(type, 1))).toEqual([true, true, true, true]);
      expect([0x2023, 0xa02a, 0x2009].map((type) => counts(type, 1))).toEqual([false, false, false]);
    }
  });
});

test('RFC 9513 §8: a SID is an IPv6 host address in a locator that has a length', () => {
  const usable = (sid: string, locator: string): boolean => usableSid({ sid: address(sid), locator: prefix(locator) });
  expect(usable('2001:db8::1', '2001:db8::/32')).toBe(true);
  const bad = [
    ['2001:db9::1', '2001:db8::/32'],
    ['2001:db8::1', '::/0'],
    ['ff05::1', 'ff05::/16'],
    ['192.0.2.1', '192.0.2.0/24'],
  ] as const;
  expect(bad.map(([sid, locator]) => usable(sid, locator))).toEqual([false, false, false, false]);
});
