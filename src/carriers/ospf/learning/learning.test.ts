// When and how an LSA of another router is reported: which prefixes of it count (RFC 7684 §2), which LSAs are reported
// again because another one changed, and what is left out with a warning. Last, what is declared and finds no room.
import { byKind, reported } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import type { LearnedReport } from '../../../model/advertisement.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import { opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import type { ExtendedLsaPrefix, ExtendedPrefix, PrefixSubTlv } from '../../../packet/ospf/lsa/types.ts';
import { extendedFlags } from '../../../packet/ospf/prefix-sub-tlvs.ts';
import {
  type AnyVersion,
  ContentAgent,
  contentConfig,
  declaration,
  encoded,
  proxyAddress,
  senderPrefix,
} from '../content.fixture.ts';
import type { ContentEffect } from '../content-state.ts';
import type { Entry, EntryEncoding, OspfKind } from '../kinds/kind.ts';
import { OSPF_ROWS } from '../kinds/table.ts';
import { unplacedEntries } from '../show.ts';
import type { OwnLsa } from '../version.ts';

const AREA = 0;
const SELF = 0x01010101;
const OTHER = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];

/** The same kind, but there is one LSA of each type, with one entry. */
function ofOneEntry(row: OspfKind): OspfKind {
  const { entries } = row.own;
  if (entries === 'none') return row;
  const small = ({ lsas, lsaOf }: EntryEncoding<Entry>): EntryEncoding<Entry> => ({
    lsas: lsas.map((lsa) => ({ ...lsa, lsas: 1, entries: 1 })),
    lsaOf,
  });
  const encoding = { 2: small(entries.encoding[2]), 3: small(entries.encoding[3]) };
  return { ...row, own: { ...row.own, entries: { ...entries, encoding } } };
}

describe.each(VERSIONS)('OSPFv%d', (version) => {
  const sender = (n: number): string => senderPrefix(version, n);
  const proxy = (n: number): string => proxyAddress(version, n);
  const agentOf = (): ContentAgent => new ContentAgent(contentConfig(version, SELF, [AREA]));

  /** Flagged prefixes with their proxies, 0 for none, under a link-state ID. */
  function lsa(id: number, ...listed: readonly (readonly [n: number, proxy: number])[]): OwnLsa {
    const subTlvs = (at: number): PrefixSubTlv[] => [
      { kind: 'prefix-extended-flags', flags: extendedFlags(2) },
      ...(at > 0 ? [{ kind: 'source-router-address' as const, address: address(proxy(at)) }] : []),
    ];
    if (version === 2) {
      const tlvs = listed.map(([n, at]): ExtendedPrefix => ({
        ...{ kind: 'extended-prefix', routeType: 1, flags: 0, prefix: prefix(sender(n)), subTlvs: subTlvs(at) },
      }));
      return { type: 10, lsId: opaqueLsId(7, id), body: { kind: 'extended-prefix-lsa', tlvs } };
    }
    const tlvs = listed.map(([n, at]): ExtendedLsaPrefix => ({
      ...{ kind: 'intra-area-prefix-tlv', flags: 0, metric: 10, prefixOptions: 0, prefix: prefix(sender(n)) },
      subTlvs: subTlvs(at),
    }));
    const referenced = { type: 0x2001, lsId: 0, advertisingRouter: OTHER };
    return { type: 0xa029, lsId: id, body: { kind: 'e-intra-area-prefix', referenced, tlvs } };
  }
  const routerAddress = (n: number): OwnLsa => {
    const tlvs = [{ kind: 'te-router-address' as const, address: address(proxy(n)) }];
    return version === 2
      ? { type: 10, lsId: opaqueLsId(1, 0), body: { kind: 'traffic-engineering-v2', tlvs } }
      : { type: 0xa00a, lsId: 0, body: { kind: 'traffic-engineering-v3', tlvs } };
  };

  const reports = (effects: readonly ContentEffect[]): LearnedReport[] =>
    effects.flatMap((effect) => (effect.type === 'learned' ? [effect.report] : []));
  const shown = (all: readonly LearnedReport[]): string[][] =>
    all.map(({ advertisements }) =>
      byKind(advertisements).prefixes.map(
        (one) => `${formatPrefix(one.prefix)} ${one.proxy ? formatAddress(one.proxy) : '-'}`,
      ),
    );
  const hears = (agent: ContentAgent, own: OwnLsa, router = OTHER): string[][] =>
    shown(reports(agent.event({ type: 'database', areaId: AREA, ...encoded(version, router, own) })));
  const loses = (agent: ContentAgent, { type, lsId }: OwnLsa): string[][] =>
    shown(reports(agent.event({ type: 'database', areaId: AREA, key: { type, lsId, advertisingRouter: OTHER } })));

  test('a report has what the LSA contains, and nothing else', () => {
    const agent = agentOf();
    const effects = agent.event({ type: 'database', areaId: AREA, ...encoded(version, OTHER, lsa(1, [1, 7])) });
    const metric = version === 2 ? 0xffffff : 10;
    expect(reports(effects)).toStrictEqual([
      {
        carrier: `ospfv${version}`,
        source:
          version === 2 ? '0.0.0.0 extended-prefix 7.0.0.1 2.2.2.2' : '0.0.0.0 E-Intra-Area-Prefix 0.0.0.1 2.2.2.2',
        originator: '0.0.0.0 2.2.2.2',
        advertisements: reported({
          prefixes: [{ prefix: prefix(sender(1)), pnc: true, metric, proxy: address(proxy(7)) }],
        }),
      },
    ]);
    const [report] = reports(
      agent.event({ type: 'database', areaId: AREA, ...encoded(version, OTHER, routerAddress(9)) }),
    );
    expect(report!.advertisements).toEqual(reported({ routerAddresses: [address(proxy(9))] }));
  });

  test('D6: with a router address those LSAs are reported again that name no proxy somewhere, and no others', () => {
    const agent = agentOf();
    for (const own of [lsa(1, [1, 7]), lsa(2, [2, 0]), lsa(3, [3, 7], [4, 0])]) hears(agent, own);
    hears(agent, lsa(4, [5, 0]), 0x03030303);
    expect(hears(agent, routerAddress(9))).toEqual([
      [],
      [`${sender(2)} ${proxy(9)}`],
      [`${sender(3)} ${proxy(7)}`, `${sender(4)} ${proxy(9)}`],
    ]);
    // The same address once more changes nothing for the others; another one does; and so does its end.
    expect(hears(agent, routerAddress(9))).toEqual([[]]);
    expect(hears(agent, routerAddress(8)).slice(1)[0]).toEqual([`${sender(2)} ${proxy(8)}`]);
    expect(loses(agent, routerAddress(8)).slice(1)).toEqual([
      [`${sender(2)} -`],
      [`${sender(3)} ${proxy(7)}`, `${sender(4)} -`],
    ]);
  });

  describe('RFC 7684 §2: a prefix in several LSAs of one router', () => {
    test('counts in the lowest, which may come, change, and go', () => {
      const agent = agentOf();
      expect(hears(agent, lsa(5, [1, 5]))).toEqual([[`${sender(1)} ${proxy(5)}`]]);
      expect(hears(agent, lsa(7, [1, 7]))).toEqual([[]]);
      expect(hears(agent, lsa(3, [1, 3]))).toEqual([[`${sender(1)} ${proxy(3)}`], []]);
      expect(hears(agent, lsa(3, [1, 4]))).toEqual([[`${sender(1)} ${proxy(4)}`]]);
      expect(loses(agent, lsa(7))).toEqual([[]]);
      expect(loses(agent, lsa(3))).toEqual([[], [`${sender(1)} ${proxy(5)}`]]);
      expect(loses(agent, lsa(5))).toEqual([[]]);
      expect({
        claimsSize: agent.content.areas.get(AREA)!.claims.size,
        learnPrefixInSeveralLsas: agent.count('learn.prefix-in-several-lsas'),
      }).toEqual({ claimsSize: 0, learnPrefixInSeveralLsas: 2 });
    });

    test('is no longer hidden when the lowest lists another in its place', () => {
      const agent = agentOf();
      hears(agent, lsa(3, [1, 3], [2, 3]));
      hears(agent, lsa(5, [1, 5], [3, 5]));
      expect(hears(agent, lsa(3, [4, 3], [2, 3]))).toEqual([
        [`${sender(4)} ${proxy(3)}`, `${sender(2)} ${proxy(3)}`],
        [`${sender(1)} ${proxy(5)}`, `${sender(3)} ${proxy(5)}`],
      ]);
    });

    test('stays hidden while others come and go', () => {
      const agent = agentOf();
      hears(agent, lsa(3, [1, 3], [2, 3]));
      hears(agent, lsa(5, [1, 5], [2, 5], [3, 5]));
      expect(hears(agent, lsa(3, [1, 3]))[1]).toEqual([`${sender(2)} ${proxy(5)}`, `${sender(3)} ${proxy(5)}`]);
      expect(hears(agent, lsa(5, [1, 6], [2, 6], [3, 6]))).toEqual([
        [`${sender(2)} ${proxy(6)}`, `${sender(3)} ${proxy(6)}`],
      ]);
      expect(loses(agent, lsa(3))[1]).toEqual([
        `${sender(1)} ${proxy(6)}`,
        `${sender(2)} ${proxy(6)}`,
        `${sender(3)} ${proxy(6)}`,
      ]);
    });

    test('of another router does not count against it', () => {
      const agent = agentOf();
      hears(agent, lsa(3, [1, 3]), 0x03030303);
      expect(hears(agent, lsa(5, [1, 5]))).toEqual([[`${sender(1)} ${proxy(5)}`]]);
    });
  });

  test('an LSA that is malformed is ignored with a warning that names it and the flaw, and its previous content is gone', () => {
    const agent = agentOf();
    hears(agent, lsa(1, [1, 7]));
    const { key, lsa: whole } = encoded(version, OTHER, lsa(1, [1, 7]));
    const raw = whole.raw.slice(0, -2);
    const effects = agent.event({ type: 'database', areaId: AREA, key, lsa: { raw } });
    const name = version === 2 ? '0xa 7.0.0.1 2.2.2.2' : '0xa029 0.0.0.1 2.2.2.2';
    const detail = 'a TLV exceeds its container';
    expect(effects).toContainEqual({
      ...{ type: 'log', level: 'warn', message: 'LSA, or a part of it, ignored' },
      fields: { counter: `ospfv${version}.learn.malformed`, area: '0.0.0.0', lsa: name, detail },
    });
    expect(shown(reports(effects))).toEqual([[]]);
  });

  test('a TLV that is malformed is left out with a warning; the rest of the LSA counts', () => {
    const agent = agentOf();
    const { key, lsa: whole } = encoded(version, OTHER, lsa(1, [1, 7], [2, 7]));
    const raw = whole.raw.slice();
    raw[version === 2 ? 25 : 40] = 129;
    const effects = agent.event({ type: 'database', areaId: AREA, key, lsa: { raw } });
    expect({ learnBadTlv: agent.count('learn.bad-tlv'), learnMalformed: agent.count('learn.malformed') }).toEqual({
      learnBadTlv: 1,
      learnMalformed: 0,
    });
    expect(shown(reports(effects))).toEqual([[`${sender(2)} ${proxy(7)}`]]);
  });

  test('what contains nothing of interest is not reported, nor that it is gone', () => {
    const agent = agentOf();
    const nothing: OwnLsa = {
      type: version === 2 ? 10 : 0xa07b,
      lsId: opaqueLsId(99, 1),
      body: { kind: 'unknown', content: new Uint8Array(4) },
    };
    expect({
      hears: hears(agent, nothing),
      loses: loses(agent, nothing),
      lsasSize: agent.content.areas.get(AREA)!.lsas.size,
    }).toEqual({ hears: [], loses: [], lsasSize: 0 });
  });

  describe('what is declared', () => {
    test('waits for headroom, and is reported when there is some again', () => {
      const agent = new ContentAgent(contentConfig(version, SELF, [AREA]), OSPF_ROWS.map(ofOneEntry));
      agent.declares(declaration(version, [1, 2]));
      expect({
        originateNoRoom: agent.count('originate.no-room'),
        unplacedEntries: unplacedEntries(agent.content),
        areaLength: agent.advertised.get(AREA)!.length,
      }).toEqual({ originateNoRoom: 1, unplacedEntries: 1, areaLength: 1 });
      agent.declares(declaration(version, [2]));
      expect({
        unplacedEntries: unplacedEntries(agent.content),
        areaLength: agent.advertised.get(AREA)!.length,
      }).toEqual({ unplacedEntries: 0, areaLength: 1 });
      agent.declares(declaration(version, []));
      expect({
        unplacedEntries: unplacedEntries(agent.content),
        areaLength: agent.advertised.get(AREA)!.length,
      }).toEqual({ unplacedEntries: 0, areaLength: 0 });
    });

    test('with more router addresses than one: how many are left out is reported, without those that no packet could reach', () => {
      const agent = agentOf();
      const reportedFor = (...texts: string[]): unknown[] =>
        agent
          .declares(declaration(version, [], 1, { routerAddresses: texts.map(address) }))
          .flatMap((effect) => (effect.type === 'log' ? [effect.fields] : []));
      const [other, group] = version === 2 ? ['2001:db8::1', '224.0.0.1'] : ['192.0.2.1', 'ff05::1'];
      expect(reportedFor(proxy(1), other, group)).toEqual([]);
      expect(reportedFor(proxy(1), other, group, proxy(2), proxy(3))).toMatchObject([{ left: 2 }]);
    });

    test('a SID that is not usable is one entry that is not advertised', () => {
      const agent = agentOf();
      const sids = [{ sid: address('2001:db8:d::1'), locator: prefix('2001:db8:c::/48'), behavior: 1 }];
      agent.declares(declaration(version, [], 1, { sids }));
      expect(unplacedEntries(agent.content)).toBe(1);
      agent.declares(declaration(version, []));
      expect(unplacedEntries(agent.content)).toBe(0);
    });
  });
});
