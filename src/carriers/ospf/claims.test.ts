// A prefix in several LSAs of one router, addresses that change, and LSAs that say nothing: what is learned then.
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { encodeLsa } from '../../packet/ospf/lsa.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import { extendedFlags } from '../../packet/ospf/prefix-sub-tlvs.ts';
import { ContentAgent, END_CON, PNC_BIT, contentConfig, routerLsa } from './content.fixture.ts';
import { entryLsa, lsaWith, sidsOf } from './kinds/reading.fixture.ts';
import type { SidEntry } from './kinds/sid.ts';
import type { OwnLsa } from './version.ts';

const AREA = 0;
const SELF = 0x01010101;
const HUB = 0x0a0a0a0a;
const OTHER = 0x02020202;
const PREFIX = '10.1.0.0/24';
const FLAGS = { kind: 'prefix-extended-flags' as const, flags: extendedFlags(PNC_BIT) };

function connected(version: 2 | 3): ContentAgent {
  const agent = new ContentAgent(contentConfig(version, SELF, [AREA]));
  agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER]));
  agent.hears(AREA, OTHER, routerLsa(version, OTHER, [HUB]));
  agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
  agent.pass(1000);
  return agent;
}
const learned = (agent: ContentAgent, text: string): string[] =>
  agent.learned(text).map((one) => one.split(' ').at(-1)!);

describe('OSPFv2, RFC 7684 §2: of three LSAs that list a prefix', () => {
  const listing = (id: number, proxy: number): OwnLsa => ({
    type: 10,
    lsId: opaqueLsId(7, id),
    body: {
      kind: 'extended-prefix-lsa',
      tlvs: [
        {
          kind: 'extended-prefix',
          routeType: 1,
          flags: 0,
          prefix: prefix(PREFIX),
          subTlvs: [FLAGS, { kind: 'source-router-address', address: address(`192.0.2.${proxy}`) }],
        },
      ],
    },
  });
  const three = (): ContentAgent => {
    const agent = connected(2);
    for (const id of [9, 3, 5]) agent.hears(AREA, OTHER, listing(id, id));
    return agent;
  };

  test('the lowest counts, also when one of them has gone and another changes', () => {
    const agent = three();
    expect(learned(agent, PREFIX)).toEqual(['192.0.2.3']);
    agent.loses(AREA, OTHER, listing(5, 5));
    agent.hears(AREA, OTHER, listing(9, 19));
    expect(learned(agent, PREFIX)).toEqual(['192.0.2.3']);
    agent.loses(AREA, OTHER, listing(3, 3));
    expect(learned(agent, PREFIX)).toEqual(['192.0.2.19']);
  });

  test('and what other LSAs say of prefixes counts beside them', () => {
    const agent = three();
    const link = (type: number, linkId: number, linkData: number) => ({
      ...{ type, linkId, linkData, metric: 1, tosMetrics: new Uint8Array() },
    });
    agent.hears(AREA, OTHER, {
      ...routerLsa(2, OTHER, []),
      body: { kind: 'router-v2', flags: 0, links: [link(1, HUB, 0), link(3, 0x0a020000, 0xffffff00)] },
    });
    expect(learned(agent, '10.2.0.0/24')).toEqual(['-']);
  });
});

describe('OSPFv3', () => {
  const plain = (lsId: number, text: string, options = 0): OwnLsa => ({
    type: 0x2009,
    lsId,
    body: {
      kind: 'intra-area-prefix',
      referenced: { type: 0x2001, lsId: 0, advertisingRouter: OTHER },
      prefixes: [{ prefix: prefix(text), options, metric: 3 }],
    },
  });

  test('a prefix in several LSAs of RFC 5340 is no reason for a warning: all of them count', () => {
    const agent = connected(3);
    for (const lsId of [1, 2]) agent.hears(AREA, OTHER, plain(lsId, '2001:db8:1::/48'));
    expect(learned(agent, '2001:db8:1::/48')).toEqual(['-', '-']);
    expect(agent.count('learn.prefix-in-several-lsas')).toBe(0);
  });

  test('D6: a prefix without proxy goes to the host address of its router, and to the next when that changes', () => {
    const agent = connected(3);
    const tlv = {
      ...{ kind: 'intra-area-prefix-tlv' as const, flags: 0, metric: 10, prefixOptions: 0 },
      ...{ prefix: prefix('2001:db8:1::/48'), subTlvs: [FLAGS] },
    };
    const referenced = { type: 0x2001, lsId: 0, advertisingRouter: OTHER };
    agent.hears(AREA, OTHER, {
      type: 0xa029,
      lsId: 1,
      body: { kind: 'e-intra-area-prefix', referenced, tlvs: [tlv] },
    });
    const after = ['2001:db8::7', '2001:db8::8'].map((host) => {
      agent.hears(AREA, OTHER, plain(1, `${host}/128`, 2));
      return learned(agent, '2001:db8:1::/48');
    });
    expect(after).toEqual([['2001:db8::7'], ['2001:db8::8']]);
  });

  const sid = (locator: string): SidEntry => ({
    kind: 'sid',
    sid: address('2001:db8:c::1'),
    ...{ behavior: END_CON, locator: prefix(locator), algorithm: 0, route: 'intra-area' },
  });

  test.each(['2001:db8::/33', '2001:db8:c::/48', '2001:db8:c::/64', '2001:db8:c::/128'])(
    'a SID with a locator %s takes as much room as it is counted with',
    (locator) => {
      const { body } = lsaWith(3, SELF, [sid(locator)]);
      const header = { age: 1, options: 0, type: 0xa02a, lsId: 0, advertisingRouter: SELF, sequence: 1 };
      expect(entryLsa(3, sid(locator)).size(sid(locator))).toBe(encodeLsa(3, header, body).length - 20);
    },
  );

  test('RFC 9513 §8: of a SID that is listed with two locators the first counts', () => {
    const agent = connected(3);
    agent.hears(AREA, OTHER, lsaWith(3, OTHER, [sid('2001:db8:c::/48'), sid('2001:db8:c::/64')], 1));
    const found = [...agent.content.areas.get(AREA)!.lsas.values()].flatMap(({ content }) => sidsOf(content));
    expect(found.map(({ sid: one, locator }) => [formatAddress(one), locator.length])).toEqual([['2001:db8:c::1', 48]]);
  });
});

test('an LSA of which cnpd reads nothing is not kept', () => {
  const agent = connected(2);
  const { lsas } = agent.content.areas.get(AREA)!;
  const before = lsas.size;
  agent.hears(AREA, OTHER, {
    type: 10,
    lsId: opaqueLsId(99, 1),
    body: { kind: 'unknown', content: new Uint8Array(4) },
  });
  expect(lsas.size).toBe(before);
});
