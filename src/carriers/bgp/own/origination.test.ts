import { origination } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import { readCharacteristics } from '../../../packet/bgp/characteristics.ts';
import { type Nhc, decodeNhc } from '../../../packet/bgp/nhc.ts';
import { Agent, CODES, END_CON, declaration, ownAsReported, path, route, shown } from '../content.fixture.ts';
import type { OwnPath } from '../gobgp/gobgp.ts';
import { sessionState } from '../show.ts';

const SENDERS = declaration({ '2001:db8:a::/48': '2001:db8::1', '10.1.0.0/16': '192.0.2.1' });
const SID = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON };

function advertised(agent: Agent): string[] {
  agent.connect();
  agent.answer();
  return [...agent.gobgpd].map(([text, own]) => `${text} ${described(own)}`).sort();
}
function nhcOf(own: OwnPath): Nhc {
  const decoded = decodeNhc(own.nhc);
  if (!decoded.ok) throw new Error(decoded.error.detail);
  return decoded.value;
}
function described(own: OwnPath): string {
  const { nextHop, characteristics } = nhcOf(own);
  const { proxy, container } = readCharacteristics(characteristics, CODES);
  expect(formatAddress(nextHop)).toBe(formatAddress(own.nextHop));
  return (
    `via ${formatAddress(own.nextHop)}${proxy ? ` proxy ${formatAddress(proxy)}` : ''}` +
    `${container ? ` sids ${container.length}` : ''}`
  );
}
const declared = (origination = SENDERS, config: ConstructorParameters<typeof Agent>[0] = {}): Agent => {
  const agent = new Agent(config);
  agent.declare(origination);
  return agent;
};

describe('what is advertised', () => {
  test('PNC-5-a PNC-5.4-a: a path for each prefix of the senders, with the address of their proxy, through the next hop of its family', () => {
    expect(advertised(declared())).toEqual([
      '10.1.0.0/16 via 192.0.2.1 proxy 192.0.2.1',
      '2001:db8:a::/48 via 2001:db8::1 proxy 2001:db8::1',
    ]);
    const mixed = declared(declaration({ '10.1.0.0/16': '2001:db8::1' }));
    expect(advertised(mixed)).toEqual(['10.1.0.0/16 via 192.0.2.1 proxy 2001:db8::1']);
    expect([...mixed.gobgpd.values()].map((own) => nhcOf(own)).map(({ afi, safi }) => [afi, safi])).toEqual([[1, 1]]);
  });

  test('PNC-5.4-b: proxy-host: one path, for the local host prefix of the proxy', () => {
    const many = declaration({ '2001:db8:a::/48': '2001:db8::1', '2001:db8:b::/48': '2001:db8::1' });
    expect(advertised(declared(many, { advertise: 'proxy-host' }))).toEqual([
      '2001:db8::1/128 via 2001:db8::1 proxy 2001:db8::1',
    ]);
  });

  test('PNC-5.4-b: proxy-host: where the proxy is not the next hop of the senders’ routes, the next hop’s host prefix names it too', () => {
    const agent = declared(declaration({ '10.1.0.0/16': '2001:db8::77' }), { advertise: 'proxy-host' });
    expect(advertised(agent)).toEqual([
      '192.0.2.1/32 via 192.0.2.1 proxy 2001:db8::77',
      '2001:db8::77/128 via 2001:db8::1 proxy 2001:db8::77',
    ]);
  });

  test('the node’s host routes have its SIDs; an empty container means that its STAMP reflector answers there', () => {
    const withSids = declared(declaration({ '2001:db8:a::/48': '2001:db8::1' }, { sids: [SID] }));
    expect(advertised(withSids)).toEqual([
      '192.0.2.1/32 via 192.0.2.1 sids 1',
      '2001:db8::1/128 via 2001:db8::1 sids 1',
      '2001:db8:a::/48 via 2001:db8::1 proxy 2001:db8::1',
    ]);
    const reflector = declared(declaration({}, { routerAddresses: [address('2001:db8::1'), address('192.0.2.99')] }));
    expect(advertised(reflector)).toEqual(['2001:db8::1/128 via 2001:db8::1 sids 0']);
    expect(reflector.count('originate.router-address-left-out')).toBe(1);
    const both = declared(declaration({ '2001:db8:a::/48': '2001:db8::1' }, { sids: [SID] }), {
      advertise: 'proxy-host',
      nextHop4: undefined,
    });
    expect(advertised(both)).toEqual(['2001:db8::1/128 via 2001:db8::1 proxy 2001:db8::1 sids 1']);
  });

  test('a prefix without a next hop of its family, a proxy that cannot be one, a SID outside its locator: counted, not advertised, the rest is', () => {
    const origination = declaration(
      { '2001:db8:a::/48': '2001:db8::1', '10.1.0.0/16': '192.0.2.1', '2001:db8:b::/48': 'ff02::1' },
      { sids: [{ ...SID, locator: prefix('2001:db8:d::/48') }] },
    );
    const agent = declared(origination, { nextHop4: undefined });
    expect(advertised(agent)).toEqual(['2001:db8:a::/48 via 2001:db8::1 proxy 2001:db8::1']);
    expect([
      agent.content.unplaced,
      ...['no-next-hop', 'unusable-proxy', 'unusable-sid'].map((name) => agent.count(`originate.${name}`)),
    ]).toEqual([3, 1, 1, 1]);
    agent.declare(SENDERS);
    expect(agent.content.unplaced).toBe(1);
    const nowhere = declared(declaration({}, { sids: [SID] }), { nextHop4: undefined, nextHop6: undefined });
    expect({ unplaced: nowhere.content.unplaced, originateNoNextHop: nowhere.count('originate.no-next-hop') }).toEqual({
      unplaced: 1,
      originateNoNextHop: 1,
    });
  });

  test('more SIDs than a message has room for', () => {
    const sids = Array.from({ length: 130 }, (_, n) => ({
      ...SID,
      sid: { family: 6 as const, value: SID.sid.value + BigInt(n) },
    }));
    const agent = declared(declaration({}, { sids }), { nextHop4: undefined });
    expect(advertised(agent)).toEqual(['2001:db8::1/128 via 2001:db8::1 sids 128']);
    expect({ unplaced: agent.content.unplaced, originateNoRoom: agent.count('originate.no-room') }).toEqual({
      unplaced: 2,
      originateNoRoom: 2,
    });
    expect(agent.gobgpd.get('2001:db8::1/128')!.nhc.length).toBeLessThan(3500);
  });

  test('PNC-1-b: without a domain no path leaves the AS; with one only what is configured is advertised (decision D9)', () => {
    const communities = (config: ConstructorParameters<typeof Agent>[0]): readonly number[] => {
      const agent = declared(SENDERS, { communities: [7], ...config });
      advertised(agent);
      return agent.gobgpd.get('10.1.0.0/16')!.communities;
    };
    expect(communities({})).toEqual([7, 0xffffff01]);
    expect(communities({ communities: [0xffffff01] })).toEqual([0xffffff01]);
    expect(communities({ domain: new Set([65002]) })).toEqual([7]);
  });

  test('of two proxies for one prefix the lower address is advertised (decision D7)', () => {
    const twice = origination({
      proxies: ['2001:db8::9', '2001:db8::1', '2001:db8::5'].map((proxy) => ({
        prefix: prefix('2001:db8:a::/48'),
        proxy: address(proxy),
      })),
    });
    const agent = declared(twice);
    expect(advertised(agent)).toEqual(['2001:db8:a::/48 via 2001:db8::1 proxy 2001:db8::1']);
    expect(agent.count('originate.duplicate-prefix')).toBe(2);
  });
});

describe('what is in gobgpd', () => {
  const placed = (): Agent => {
    const agent = declared();
    advertised(agent);
    return agent;
  };

  test('a change is what it changes: one more prefix is one path more', () => {
    const agent = placed();
    agent.declare([...SENDERS, ...declaration({ '10.2.0.0/16': '192.0.2.1' })]);
    expect(agent.answer()).toEqual(['+10.2.0.0/16']);
    agent.declare(declaration({ '2001:db8:a::/48': '2001:db8::7', '10.2.0.0/16': '192.0.2.1' }));
    expect(agent.answer()).toEqual(['+2001:db8:a::/48', '-10.1.0.0/16']);
    agent.declare(declaration({ '2001:db8:a::/48': '2001:db8::7', '10.2.0.0/16': '192.0.2.1' }));
    expect({
      answer: agent.answer(),
      ownAdded: agent.count('own.added'),
      ownWithdrawn: agent.count('own.withdrawn'),
    }).toEqual({ answer: [], ownAdded: 4, ownWithdrawn: 1 });
  });

  test('other next hops and communities are taken over in flight', () => {
    const agent = placed();
    const { advertise, largeCommunities, nextHop4, holdUnreachableMs } = agent.content.config;
    agent.event({
      type: 'configure',
      changes: {
        advertise,
        largeCommunities,
        nextHop4,
        nextHop6: address('2001:db8::2'),
        communities: [],
        holdUnreachableMs,
      },
    });
    agent.settle();
    expect(agent.answer()).toEqual(['+2001:db8:a::/48']);
    agent.event({
      type: 'configure',
      changes: {
        advertise,
        largeCommunities: [[1, 2, 3]],
        nextHop4,
        nextHop6: address('2001:db8::2'),
        communities: [],
        holdUnreachableMs,
      },
    });
    agent.settle();
    expect(agent.answer()).toEqual(['+10.1.0.0/16', '+2001:db8:a::/48']);
  });

  test('after a reconnect what gobgpd has still is left alone, and what it lost is put back', () => {
    const agent = placed();
    agent.lose();
    agent.connect();
    expect(agent.answer()).toEqual([]);
    agent.lose();
    agent.gobgpd.delete('10.1.0.0/16');
    agent.connect();
    expect(agent.answer()).toEqual(['+10.1.0.0/16']);
    agent.lose();
    agent.gobgpd.clear();
    agent.connect();
    expect(agent.answer()).toEqual(['+10.1.0.0/16', '+2001:db8:a::/48']);
  });

  test('a path of ours that another client removes is put back', () => {
    const agent = placed();
    agent.report(route('10.1.0.0/16'));
    expect({ answer: agent.answer(), ownPutBack: agent.count('own.put-back') }).toEqual({
      answer: ['+10.1.0.0/16'],
      ownPutBack: 1,
    });
    agent.report(route('10.1.0.0/16', ownAsReported(agent.gobgpd.get('10.1.0.0/16')!)), route('10.9.0.0/16'));
    expect(agent.answer()).toEqual([]);
  });

  test('what an earlier run left is originated again where it is desired and removed where it is not; paths of others are never touched', () => {
    const before = declared(declaration({ '2001:db8:a::/48': '2001:db8::1', '10.7.0.0/16': '192.0.2.1' }));
    advertised(before);
    const agent = declared(declaration({ '2001:db8:a::/48': '2001:db8::1' }));
    for (const [text, own] of before.gobgpd) agent.gobgpd.set(text, own);
    const operators = path('192.0.2.9', { neighbor: undefined, identifier: 0 });
    agent.connect(route('10.8.0.0/16', operators), route('10.1.0.0/16', operators));
    expect(agent.answer()).toEqual(['+2001:db8:a::/48', '-10.7.0.0/16']);
  });

  test('nothing is removed before the desired paths are known', () => {
    const before = declared();
    advertised(before);
    const agent = new Agent();
    for (const [text, own] of before.gobgpd) agent.gobgpd.set(text, own);
    agent.connect();
    agent.pass(600_000);
    expect(agent.changes).toBeUndefined();
    agent.declare(declaration({}));
    expect(agent.answer()).toEqual(['-10.1.0.0/16', '-2001:db8:a::/48']);
  });

  test('what gobgpd refuses is tried again after a while', () => {
    const agent = declared();
    agent.connect();
    expect(agent.answer('no')).toHaveLength(2);
    expect({ changes: agent.changes, ownRefused: agent.count('own.refused') }).toEqual({
      changes: undefined,
      ownRefused: 1,
    });
    agent.pass(4999);
    expect(agent.changes).toBeUndefined();
    agent.pass(1);
    expect(agent.answer()).toEqual(['+10.1.0.0/16', '+2001:db8:a::/48']);
  });

  test('a connection that is lost while paths are on their way: they are put in after the next list', () => {
    const agent = declared();
    agent.connect();
    agent.lose();
    agent.answer('connection lost');
    agent.pass(60_000);
    expect(agent.changes).toBeUndefined();
    agent.connect();
    expect({ answer: agent.answer(), ownRefused: agent.count('own.refused') }).toEqual({
      answer: ['+10.1.0.0/16', '+2001:db8:a::/48'],
      ownRefused: 0,
    });
  });

  test('a clean stop takes everything out first; without gobgpd there is nothing to wait for; one that does not answer is left after a while', () => {
    const agent = placed();
    agent.event({ type: 'stop' });
    agent.settle();
    expect(agent.stopped).toBeUndefined();
    expect({ answer: agent.answer(), stopped: agent.stopped, gobgpdSize: agent.gobgpd.size }).toEqual({
      answer: ['-10.1.0.0/16', '-2001:db8:a::/48'],
      stopped: true,
      gobgpdSize: 0,
    });
    const alone = declared();
    alone.event({ type: 'stop' });
    alone.settle();
    expect(alone.stopped).toBe(false);
    const silent = placed();
    silent.event({ type: 'stop' });
    silent.pass(4999);
    expect(silent.stopped).toBeUndefined();
    silent.pass(1);
    expect(silent.stopped).toBe(false);
  });

  test('what is shown: session and own paths', () => {
    const agent = declared();
    const moment = () => ({ now: agent.now, toWall: Date.UTC(2026, 0, 1) - agent.now });
    const session = () =>
      sessionState(agent.content, '[::1]:50051', moment(), { policy: { state: 'installed' }, silentMs: 0 });
    expect(session()).toMatchObject({
      target: '[::1]:50051',
      state: 'connecting',
      api: null,
      as: null,
      routerId: null,
      originated: 0,
      wanted: 2,
      learned: 0,
      withProxy: 0,
    });
    advertised(agent);
    expect(session()).toMatchObject({
      state: 'ready',
      api: 'v3',
      as: 65001,
      routerId: '192.0.2.1',
      originated: 2,
      wanted: 2,
    });
    const row = {
      peer: 'local',
      nextHop: '2001:db8::1',
      headerNextHop: '2001:db8::1',
      proxy: '2001:db8::1',
      asPath: '',
      status: 'originated',
      sids: [],
      unknown: [],
    };
    expect(shown(agent.content, moment())).toContainEqual(
      expect.objectContaining({ prefix: '2001:db8:a::/48', ...row }),
    );
    agent.lose();
    expect(session()).toMatchObject({ state: 'waiting', reason: 'gone; tries again in 1 s' });
  });
});

test('50,000 prefixes are declared a slice a turn; while the first are on their way the others gather', () => {
  const proxy = address('2001:db8::1');
  const proxies = Array.from({ length: 50_000 }, (_, n) => ({
    prefix: prefix(`2001:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::/48`),
    proxy,
  }));
  const agent = new Agent();
  agent.connect();
  agent.event({ type: 'declare', origination: origination({ proxies }) });
  expect(agent.settle()).toBeGreaterThanOrEqual(100);
  const sizes: number[] = [];
  while (agent.changes) {
    const { changes } = agent;
    agent.changes = undefined;
    sizes.push(changes.add.length);
    agent.event({ type: 'done', changes });
  }
  expect({
    sizes: sizes.reduce((a, b) => a + b),
    pathsSize: new Set([...agent.content.own.paths.values()].map((own) => own.desired?.nhc)).size,
  }).toEqual({ sizes: 50_000, pathsSize: 1 });
  expect(sizes.length).toBeLessThanOrEqual(5);
});
