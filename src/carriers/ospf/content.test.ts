// What OSPF advertises for cnpd and what cnpd learns from it, in both versions: the bytes of our LSAs, reports,
// decisions D5 and D6, reachability.
import { byKind, origination } from '../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { prefix } from '../../model/prefix.ts';
import { fromHex, toHex } from '../../packet/hex.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import type { IntraAreaPrefixLsa, RouterLinkV2 } from '../../packet/ospf/lsa/types.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { extendedFlags } from '../../packet/ospf/prefix-sub-tlvs.ts';
import {
  type AnyVersion,
  ContentAgent,
  END_CON,
  contentConfig,
  declaration,
  encoded,
  named,
  proxyAddress,
  routerLsa,
  senderPrefix,
} from './content.fixture.ts';
import type { OwnLsa } from './version.ts';

const AREA = 0;
const SELF = 0x01010101;
const HUB = 0x0a0a0a0a;
const OTHER = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];

const agentOf = (version: AnyVersion): ContentAgent => new ContentAgent(contentConfig(version, SELF, [AREA]));

/** Adjacent to HUB, behind which OTHER is. */
function connected(version: AnyVersion): ContentAgent {
  const agent = agentOf(version);
  agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER]));
  agent.hears(AREA, OTHER, routerLsa(version, OTHER, [HUB]));
  agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
  agent.pass(1000);
  return agent;
}

const FLAGS = { kind: 'prefix-extended-flags' as const, flags: extendedFlags(2) };
const source = (
  version: AnyVersion,
  n: number,
): { kind: 'source-router-address'; address: ReturnType<typeof address> } => ({
  kind: 'source-router-address',
  address: address(proxyAddress(version, n)),
});

/** An LSA with one prefix, the first one that OTHER has. */
function prefixLsa(
  version: AnyVersion,
  n: number,
  { flagged = true, proxy = 7 as number | null, id = 0 } = {},
): OwnLsa {
  const subTlvs = [...(flagged ? [FLAGS] : []), ...(proxy === null ? [] : [source(version, proxy)])];
  if (version === 2) {
    const tlv = {
      kind: 'extended-prefix' as const,
      routeType: 1,
      flags: 0,
      prefix: prefix(senderPrefix(2, n)),
      subTlvs,
    };
    return { type: 10, lsId: opaqueLsId(7, id), body: { kind: 'extended-prefix-lsa', tlvs: [tlv] } };
  }
  const tlv = {
    kind: 'intra-area-prefix-tlv' as const,
    flags: 0,
    metric: 10,
    prefixOptions: 0,
    prefix: prefix(senderPrefix(3, n)),
    subTlvs,
  };
  return {
    type: 0xa029,
    lsId: id,
    body: { kind: 'e-intra-area-prefix', referenced: { type: 0x2001, lsId: 0, advertisingRouter: OTHER }, tlvs: [tlv] },
  };
}

const bytesOf = (version: AnyVersion, lsas: readonly OwnLsa[]): string[] =>
  lsas.map((lsa) => toHex(encoded(version, SELF, lsa).lsa.raw.subarray(20)));

describe('what is advertised', () => {
  test('PNC-5.2-a PNC-5.2-d: OSPFv2, an Extended Prefix TLV of area scope with bit 2, router ID and proxy address', () => {
    const agent = agentOf(2);
    agent.event({
      type: 'declare',
      origination: origination({ proxies: [{ prefix: prefix('10.0.0.0/24'), proxy: address('192.0.2.1') }] }),
    });
    const [lsa] = agent.advertised.get(AREA)!;
    expect({ type: lsa!.type, lsId: lsa!.lsId }).toEqual({ type: 10, lsId: 0x07000000 });
    // The vector of the facts sheet, with /24 and the address 192.0.2.1.
    expect(bytesOf(2, [lsa!])).toEqual(['00010020011800000a000000000b000420000000000400040101010100050004c0000201']);
  });

  test('PNC-5.3-a PNC-5.3-d: OSPFv3, an E-Intra-Area-Prefix-LSA with bit 2, out of unicast routing', () => {
    const agent = agentOf(3);
    agent.event({
      type: 'declare',
      origination: origination({ proxies: [{ prefix: prefix('2001:db8:a::/64'), proxy: address('2001:db8::1') }] }),
    });
    const [lsa] = agent.advertised.get(AREA)!;
    expect({ type: lsa!.type, lsId: lsa!.lsId }).toEqual({ type: 0xa029, lsId: 0 });
    expect(bytesOf(3, [lsa!])).toEqual([
      '00002001000000000101010100060034' +
        '00ffffff40010000' +
        '20010db8000a0000' +
        '0025000420000000' +
        '001b000401010101' +
        '001c001020010db8000000000000000000000001',
    ]);
  });

  test.each(VERSIONS)('OSPFv%d: another bit for the P-flag is used when it is configured', (version) => {
    const codePoints = { ...DEFAULT_CODE_POINTS, [`ospfv${version}-pnc-flag-bit`]: 40 };
    const agent = new ContentAgent(contentConfig(version, SELF, [AREA], { codePoints }));
    agent.event({ type: 'declare', origination: declaration(version, [1]) });
    expect(bytesOf(version, agent.advertised.get(AREA)!)[0]).toContain(
      version === 2 ? '000b00080000000000800000' : '002500080000000000800000',
    );
  });

  test.each(VERSIONS)(
    'OSPFv%d: prefixes of the other family are not its own; a proxy of the other family cannot be advertised and is counted',
    (version) => {
      const agent = agentOf(version);
      const other = version === 2 ? 3 : 2;
      const mixed = { prefix: prefix(senderPrefix(version, 9)), proxy: address(proxyAddress(other, 1)) };
      agent.event({
        type: 'declare',
        origination: [...declaration(other, [1]), ...origination({ proxies: [mixed] })],
      });
      expect(agent.advertised.get(AREA)).toEqual([]);
      expect(agent.count('originate.proxy-of-other-family')).toBe(1);
      expect(agent.content.unencodable).toBe(1);
    },
  );

  test.each(VERSIONS)('D7: OSPFv%d, of two proxies for one prefix the lower address is advertised', (version) => {
    const agent = agentOf(version);
    const twice = [...declaration(version, [1], 9), ...declaration(version, [1], 4)];
    agent.event({ type: 'declare', origination: twice });
    const text = bytesOf(version, agent.advertised.get(AREA)!).join();
    expect(text).toContain(version === 2 ? 'c0000204' : 'ffff' + '4'.padStart(20, '0'));
    expect(agent.count('originate.duplicate-prefix')).toBe(1);
  });

  test('FCN-4.2.2-a: OSPFv2 advertises END.CON in the private opaque LSA, OSPFv3 in a Locator LSA that no router uses for routes', () => {
    const sids = [{ sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON }];
    const [two, three] = [agentOf(2), agentOf(3)];
    for (const agent of [two, three]) agent.event({ type: 'declare', origination: origination({ sids }) });
    expect(two.advertised.get(AREA)!.map(({ type, lsId }) => [type, lsId])).toEqual([[10, opaqueLsId(240, 0)]]);
    expect(bytesOf(2, two.advertised.get(AREA)!)).toEqual([
      '01000000' + '00010014' + '80023000' + '20010db8000c00000000000000000001',
    ]);
    expect(three.advertised.get(AREA)!.map(({ type }) => type)).toEqual([0xa02a, 0xa00c]);
    expect(bytesOf(3, three.advertised.get(AREA)!)[0]).toBe(
      '0001002801003001ffffffff20010db8000c0000' + '0001001400008002' + '20010db8000c00000000000000000001',
    );
  });

  test.each(VERSIONS)(
    'OSPFv%d: a SID outside its locator is not advertised; the router address is advertised once',
    (version) => {
      const agent = agentOf(version);
      const sids = [{ sid: address('2001:db8:d::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON }];
      const routerAddresses = [1, 2].map((n) => address(proxyAddress(version, n)));
      agent.event({ type: 'declare', origination: origination({ sids, routerAddresses }) });
      expect(agent.count('originate.unusable-sid')).toBe(1);
      expect(agent.count('originate.router-address-left-out')).toBe(1);
      expect(
        agent.advertised
          .get(AREA)!
          .filter(({ body }) => body.kind.startsWith('traffic-engineering'))
          .map(({ body }) => body),
      ).toEqual([
        { kind: `traffic-engineering-v${version}`, tlvs: [{ kind: 'te-router-address', address: routerAddresses[0] }] },
      ]);
    },
  );
});

describe.each(VERSIONS)('what is learned, OSPFv%d', (version) => {
  const other = named(AREA, OTHER);

  test('PNC-5-b: a flagged prefix with its proxy, from a router that is reached; gone with its LSA', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, prefixLsa(version, 1));
    expect(agent.reachable).toEqual(new Set([named(AREA, HUB), other]));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} ${proxyAddress(version, 7)}`]);
    agent.loses(AREA, OTHER, prefixLsa(version, 1));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([]);
    expect(agent.reports.size).toBe(1);
  });

  test('D5: a prefix without the flag is learned too, as one that has no proxy', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, prefixLsa(version, 1, { flagged: false }));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} -`]);
  });

  test('D6: without an address of its own the proxy is the router address, whenever that comes', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, prefixLsa(version, 1, { proxy: null }));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} none`]);
    const te: OwnLsa =
      version === 2
        ? {
            type: 10,
            lsId: opaqueLsId(1, 0),
            body: {
              kind: 'traffic-engineering-v2',
              tlvs: [{ kind: 'te-router-address', address: address('192.0.2.33') }],
            },
          }
        : {
            type: 0xa00a,
            lsId: 0,
            body: {
              kind: 'traffic-engineering-v3',
              tlvs: [{ kind: 'te-router-address', address: address('2001:db8::33') }],
            },
          };
    agent.hears(AREA, OTHER, te);
    const proxy = version === 2 ? '192.0.2.33' : '2001:db8::33';
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} ${proxy}`]);
    const addresses = [...agent.reports.values()].flatMap((r) => byKind(r.advertisements).routerAddresses);
    expect(addresses.map(formatAddress)).toEqual([proxy]);
    agent.loses(AREA, OTHER, te);
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} none`]);
  });

  test('RFC 7684 §2: of a prefix in several LSAs of a router only that in the lowest link-state ID counts', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, prefixLsa(version, 1, { proxy: 9, id: 9 }));
    agent.hears(AREA, OTHER, prefixLsa(version, 1, { proxy: 3, id: 3 }));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} ${proxyAddress(version, 3)}`]);
    expect(agent.count('learn.prefix-in-several-lsas')).toBe(1);
    agent.loses(AREA, OTHER, prefixLsa(version, 1, { id: 3 }));
    expect(agent.learned(senderPrefix(version, 1))).toEqual([`${other} ${proxyAddress(version, 9)}`]);
  });

  test('an LSA whose flags are not whole words is malformed: counted, and its previous content is gone (RFC 9792 §2)', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, prefixLsa(version, 1));
    const { key, lsa } = encoded(version, OTHER, prefixLsa(version, 1));
    const raw = new Uint8Array(lsa.raw);
    const hex = toHex(raw);
    const at = hex.indexOf(version === 2 ? '000b0004' : '00250004') / 2;
    raw[at + 3] = 3;
    agent.event({ type: 'database', areaId: AREA, key, lsa: { raw } });
    expect(agent.count('learn.malformed')).toBe(1);
    expect(agent.learned(senderPrefix(version, 1))).toEqual([]);
  });

  test('any bytes in any LSA: nothing is thrown', () => {
    const agent = connected(version);
    const types =
      version === 2
        ? [1, 2, 3, 4, 5, 7, 10]
        : [
            0xa021, 0xa022, 0x2001, 0x2002, 0x2003, 0x2004, 0x4005, 0x2009, 0xa023, 0xa029, 0xc025, 0xa02a, 0xa00a,
            0xa00c,
          ];
    let seed = 1;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 8;
    for (let n = 0; n < 3000; n++) {
      const type = types[next() % types.length]!;
      const lsId = version === 2 && type === 10 ? opaqueLsId([1, 4, 7, 240][next() % 4]!, next() % 3) : next() % 5;
      const raw = Uint8Array.from({ length: 20 + (next() % 60) }, () => (next() % 3 === 0 ? next() & 255 : next() % 5));
      agent.event({
        type: 'database',
        areaId: AREA,
        key: { type, lsId, advertisingRouter: OTHER + (next() % 3) },
        lsa: { raw },
      });
      if (n % 100 === 0) agent.pass(100);
    }
    expect(agent.count('learn.malformed')).toBeGreaterThan(100);
  });

  test('a router that is lost is not reported as reached; it stays so until the link comes back', () => {
    const agent = connected(version);
    agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF]));
    agent.pass(100);
    expect(agent.reachable).toEqual(new Set([named(AREA, HUB)]));
    agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER]));
    agent.pass(100);
    expect(agent.reachable.has(other)).toBe(true);
    agent.event({ type: 'adjacency', areaId: AREA });
    agent.pass(100);
    expect(agent.reachable).toEqual(new Set());
  });

  test('a link that only one end lists is not followed', () => {
    const agent = connected(version);
    agent.hears(AREA, OTHER, routerLsa(version, OTHER, []));
    agent.pass(100);
    expect(agent.reachable.has(other)).toBe(false);
  });

  test('routers behind a transit network are reached', () => {
    const agent = agentOf(version);
    const [dr, network] = [0x0a0a0a0a, 0x0a630001];
    const toNetwork = (id: number): OwnLsa =>
      version === 2
        ? {
            type: 1,
            lsId: id,
            body: {
              kind: 'router-v2',
              flags: 0,
              links: [{ type: 2, linkId: network, linkData: 0, metric: 1, tosMetrics: new Uint8Array() }],
            },
          }
        : {
            type: 0x2001,
            lsId: 0,
            body: {
              kind: 'router-v3',
              flags: 0,
              options: 0x11,
              links: [{ type: 2, metric: 1, interfaceId: 1, neighborInterfaceId: 5, neighborRouterId: dr }],
            },
          };
    agent.hears(AREA, HUB, toNetwork(HUB));
    agent.hears(AREA, OTHER, toNetwork(OTHER));
    agent.hears(
      AREA,
      dr,
      version === 2
        ? { type: 2, lsId: network, body: { kind: 'network-v2', mask: 0xffffff00, attachedRouters: [HUB, OTHER] } }
        : { type: 0x2002, lsId: 5, body: { kind: 'network-v3', options: 0x13, attachedRouters: [HUB, OTHER] } },
    );
    agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
    agent.pass(100);
    expect(agent.reachable.has(other)).toBe(true);
  });

  test.runIf(version === 3)('a router that has extended LSAs alone is reachable, also beyond one that has none', () => {
    const agent = connected(version);
    const extended = (neighbors: readonly number[]): OwnLsa => ({
      ...{ type: 0xa021, lsId: 0 },
      body: {
        ...{ kind: 'e-router', flags: 0, options: 0x11 },
        tlvs: neighbors.map((neighborRouterId) => ({
          ...{ kind: 'router-link-tlv', type: 1, metric: 1, interfaceId: 1, neighborInterfaceId: 1, neighborRouterId },
          subTlvs: new Uint8Array(),
        })),
      },
    });
    const [middle, far] = [OTHER + 1, OTHER + 2];
    const reached = (): boolean[] =>
      [middle, far].map((router) => [...agent.reachable].some((name) => name.endsWith(` ${formatId(router)}`)));
    agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER, middle]));
    agent.hears(AREA, middle, extended([HUB, far]));
    agent.hears(AREA, far, routerLsa(version, far, [middle]));
    agent.pass(100);
    expect(reached()).toEqual([true, true]);
    agent.hears(AREA, middle, extended([far]));
    agent.pass(100);
    expect(reached()).toEqual([false, false]);
  });

  test('FCN-4.2.2-a: SIDs of END.CON are learned, those of other behaviors and those outside their locator are not', () => {
    const agent = connected(version);
    const from = agentOf(version);
    const sid = (
      text: string,
      behavior: number,
    ): { sid: ReturnType<typeof address>; locator: ReturnType<typeof prefix>; behavior: number } => ({
      sid: address(text),
      locator: prefix('2001:db8:c::/48'),
      behavior,
    });
    from.event({
      type: 'declare',
      origination: origination({ sids: [sid('2001:db8:c::1', END_CON), sid('2001:db8:c::2', 1)] }),
    });
    for (const lsa of from.advertised.get(AREA)!) agent.hears(AREA, OTHER, lsa);
    const addresses = [...agent.reports.values()].flatMap((r) => byKind(r.advertisements).sids);
    expect(addresses.map((s) => [formatAddress(s.sid), s.behavior])).toEqual([['2001:db8:c::1', END_CON]]);
  });
});

describe('D5: prefixes of LSAs that have no flags', () => {
  const raw = (type: number, lsId: number, content: string): OwnLsa => ({
    type,
    lsId,
    body: { kind: 'unknown', content: fromHex(content) },
  });

  /** OTHER's Router-LSA: a link to HUB, and a stub. */
  const routerWith = (stub: Pick<RouterLinkV2, 'linkId' | 'linkData' | 'metric'>): OwnLsa => ({
    type: 1,
    lsId: OTHER,
    body: {
      kind: 'router-v2',
      flags: 0,
      links: [
        { type: 1, linkId: HUB, linkData: 0, metric: 1, tosMetrics: new Uint8Array() },
        { type: 3, ...stub, tosMetrics: new Uint8Array() },
      ],
    },
  });
  const intraArea = (prefixes: IntraAreaPrefixLsa['prefixes']): OwnLsa => ({
    type: 0x2009,
    lsId: 1,
    body: { kind: 'intra-area-prefix', referenced: { type: 0x2001, lsId: 0, advertisingRouter: OTHER }, prefixes },
  });

  test('OSPFv2: stub networks, transit networks, summaries and AS-external routes; unreachable ones are not', () => {
    const agent = connected(2);
    agent.hears(AREA, OTHER, routerWith({ linkId: 0x0a010000, linkData: 0xffff0000, metric: 5 }));
    agent.hears(AREA, OTHER, raw(3, 0x0a020000, 'ffff0000' + '00000007'));
    agent.hears(AREA, OTHER, raw(3, 0x0a030000, 'ffff0000' + '00ffffff'));
    agent.hears(AREA, OTHER, raw(5, 0x0a040000, 'ffff0000' + '80000014' + '0000000000000000'));
    agent.hears(AREA, OTHER, raw(5, 0x0a050000, 'ff00ff00' + '80000014' + '0000000000000000'));
    const other = named(AREA, OTHER);
    expect(['10.1.0.0/16', '10.2.0.0/16', '10.3.0.0/16', '10.4.0.0/16'].map((text) => agent.learned(text))).toEqual([
      [`${other} -`],
      [`${other} -`],
      [],
      [`${other} -`],
    ]);
    expect(agent.count('learn.malformed')).toBe(1);
  });

  test('OSPFv3: Intra-Area-Prefix, Inter-Area-Prefix and AS-external LSAs; not what has the NU-bit', () => {
    const agent = connected(3);
    const prefixes = [
      { prefix: prefix('2001:db8:1::/48'), options: 0, metric: 1 },
      { prefix: prefix('2001:db8:2::/48'), options: 1, metric: 1 },
    ];
    agent.hears(AREA, OTHER, intraArea(prefixes));
    agent.hears(AREA, OTHER, raw(0x2003, 1, '0000000a' + '30000000' + '20010db800030000'));
    agent.hears(AREA, OTHER, raw(0x4005, 1, '0000000a' + '30000000' + '20010db800040000'));
    const other = named(AREA, OTHER);
    expect([1, 2, 3, 4].map((n) => agent.learned(`2001:db8:${n}::/48`))).toEqual([
      [`${other} -`],
      [],
      [`${other} -`],
      [`${other} -`],
    ]);
  });

  test('D6: OSPFv2, a router ID that is a host route of the router is its address; OSPFv3, a host prefix with the LA-bit', () => {
    const two = connected(2);
    two.hears(AREA, OTHER, prefixLsa(2, 1, { proxy: null }));
    two.hears(AREA, OTHER, routerWith({ linkId: OTHER, linkData: 0xffffffff, metric: 0 }));
    expect(two.learned(senderPrefix(2, 1))).toEqual([`${named(AREA, OTHER)} 2.2.2.2`]);
    const three = connected(3);
    three.hears(AREA, OTHER, prefixLsa(3, 1, { proxy: null }));
    const prefixes = [{ prefix: prefix('2001:db8::77/128'), options: 2, metric: 0 }];
    three.hears(AREA, OTHER, intraArea(prefixes));
    expect(three.learned(senderPrefix(3, 1))).toEqual([`${named(AREA, OTHER)} 2001:db8::77`]);
  });

  test.each([
    [2, raw(4, 0x09090909, '00000000' + '00000014')],
    [3, raw(0x2004, 1, '00000013' + '00000014' + '09090909')],
  ] as const)(
    'OSPFv%d: a router outside the area is reached when a border router that is reached advertises it',
    (version, lsa) => {
      const agent = connected(version);
      agent.hears(AREA, OTHER, lsa);
      agent.pass(100);
      expect(agent.reachable.has(named(AREA, 0x09090909))).toBe(true);
      agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF]));
      agent.pass(100);
      expect(agent.reachable.has(named(AREA, 0x09090909))).toBe(false);
    },
  );

  test('OSPFv3: no router is reached through one whose R-bit is clear', () => {
    const agent = connected(3);
    agent.hears(AREA, OTHER, routerLsa(3, OTHER, [HUB, 0x05050505], { transit: false }));
    agent.hears(AREA, 0x05050505, routerLsa(3, 0x05050505, [OTHER]));
    agent.pass(100);
    expect([...agent.reachable].sort()).toEqual([named(AREA, HUB), named(AREA, OTHER)].sort());
  });
});

test('the vectors of the facts sheet are learned as they stand', () => {
  const two = connected(2);
  const v2 = fromHex(
    '0001420a0700000101010101800000018b15003800010020011800000a010000000b000420000000000400040101010100050004c0000201',
  );
  two.event({
    type: 'database',
    areaId: AREA,
    key: { type: 10, lsId: 0x07000001, advertisingRouter: OTHER },
    lsa: { raw: v2 },
  });
  expect(two.learned('10.1.0.0/24')).toEqual([`${named(AREA, OTHER)} 192.0.2.1`]);
  const three = connected(3);
  const v3 = fromHex(
    '0001a029000000010101010180000001217a00580000a0210000000001010101000600340000000a4000000020010db8' +
      '000a00000025000420000000001b000401010101001c001020010db8000000000000000000000001',
  );
  three.event({
    type: 'database',
    areaId: AREA,
    key: { type: 0xa029, lsId: 1, advertisingRouter: OTHER },
    lsa: { raw: v3 },
  });
  expect(three.learned('2001:db8:a::/64')).toEqual([`${named(AREA, OTHER)} 2001:db8::1`]);
});
