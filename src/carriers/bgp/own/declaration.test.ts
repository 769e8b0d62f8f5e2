// Declarations with several advertisements of one prefix, without warnings, and one after the other.
import { origination } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { prefix } from '../../../model/prefix.ts';
import { readCharacteristics } from '../../../packet/bgp/characteristics.ts';
import { decodeNhc } from '../../../packet/bgp/nhc.ts';
import { Agent, CODES, END_CON, declaration } from '../content.fixture.ts';
import type { OwnPath } from '../gobgp/gobgp.ts';

const SID = { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON };
const PROXY = '2001:db8::1';

/** What the attribute says: next hop, proxy, number of SIDs. Its address family is its next hop's. */
function advertised({ nhc }: OwnPath): readonly unknown[] {
  const decoded = decodeNhc(nhc);
  if (!decoded.ok) throw new Error(decoded.error.detail);
  expect({ afi: decoded.value.afi, safi: decoded.value.safi }).toEqual({
    afi: decoded.value.nextHop.family === 4 ? 1 : 2,
    safi: 1,
  });
  const { proxy, container } = readCharacteristics(decoded.value.characteristics, CODES);
  return [formatAddress(decoded.value.nextHop), proxy && formatAddress(proxy), container?.length];
}
function placed(origination: Origination, config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.declare(origination);
  agent.connect();
  agent.answer();
  return agent;
}
const all = ({ gobgpd }: Agent): Record<string, unknown> =>
  Object.fromEntries([...gobgpd].map(([text, own]) => [text, advertised(own)]));
const logs = ({ effects }: Agent): object[] =>
  effects.flatMap((effect) => (effect.type === 'log' && effect.level === 'warn' ? [effect.fields] : []));
const counts = ({ effects }: Agent): string[] =>
  effects.flatMap((effect) => (effect.type === 'count' ? [effect.name] : []));

describe('attribute 39 says', () => {
  test('PNC-5.4-a: the proxy of its own prefix and the next hop of its own route, whatever was encoded before it', () => {
    const agent = placed(
      declaration({
        '2001:db8:a::/48': PROXY,
        '10.1.0.0/16': PROXY,
        '2001:db8:b::/48': '2001:db8::7',
        '10.2.0.0/16': '2001:db8::7',
        '2001:db8:d::/48': PROXY,
      }),
    );
    expect(all(agent)).toEqual({
      '2001:db8:a::/48': [PROXY, PROXY, undefined],
      '10.1.0.0/16': ['192.0.2.1', PROXY, undefined],
      '2001:db8:b::/48': [PROXY, '2001:db8::7', undefined],
      '10.2.0.0/16': ['192.0.2.1', '2001:db8::7', undefined],
      '2001:db8:d::/48': [PROXY, PROXY, undefined],
    });
  });

  test('the proxy of each prefix, also where an IPv4 and an IPv6 address have the same value', () => {
    const agent = placed(declaration({ '10.1.0.0/16': '192.0.2.1', '10.2.0.0/16': '::c000:201' }));
    expect(all(agent)).toEqual({
      '10.1.0.0/16': ['192.0.2.1', '192.0.2.1', undefined],
      '10.2.0.0/16': ['192.0.2.1', '::c000:201', undefined],
    });
  });

  test('nothing of a loopback at which STAMP is not answered', () => {
    const agent = placed(declaration({}, { identity: [address(PROXY)] }));
    expect({
      all: all(agent),
      originateRouterAddressLeftOut: agent.count('originate.router-address-left-out'),
    }).toEqual({ all: {}, originateRouterAddressLeftOut: 0 });
  });

  test('both, where a sender’s prefix is the node’s host prefix', () => {
    const agent = placed(declaration({ '2001:db8:a::/48': PROXY, [`${PROXY}/128`]: PROXY }, { sids: [SID] }), {
      nextHop4: undefined,
    });
    expect(all(agent)).toEqual({
      '2001:db8:a::/48': [PROXY, PROXY, undefined],
      [`${PROXY}/128`]: [PROXY, PROXY, 1],
    });
  });

  test('PNC-5.4-b: proxy-host: where the proxy’s family has no next hop, the next hop’s host prefix alone names it', () => {
    const agent = placed(declaration({ '10.1.0.0/16': PROXY }), { advertise: 'proxy-host', nextHop6: undefined });
    expect(all(agent)).toEqual({ '192.0.2.1/32': ['192.0.2.1', PROXY, undefined] });
  });
});

describe('what is complained of', () => {
  test('is nothing where everything is advertised', () => {
    for (const origination of [
      declaration({}),
      declaration(
        { '2001:db8:a::/48': PROXY, '10.1.0.0/16': '192.0.2.1' },
        { sids: [SID], routerAddresses: [address('192.0.2.1'), address(PROXY)] },
      ),
    ]) {
      const agent = placed(origination);
      expect({ logs: logs(agent), unplaced: agent.content.unplaced }).toEqual({ logs: [], unplaced: 0 });
      expect(counts(agent).filter((name) => name.startsWith('bgp.originate'))).toEqual([]);
    }
  });

  test('is nothing of SIDs and next hops where there are no SIDs', () => {
    const agent = placed(declaration({}), { nextHop4: undefined, nextHop6: undefined });
    expect({ logs: logs(agent), unplaced: agent.content.unplaced, all: all(agent) }).toEqual({
      logs: [],
      unplaced: 0,
      all: {},
    });
  });

  test('is named: the proxy, the family, how many', () => {
    const agent = placed(
      declaration(
        { '2001:db8:a::/48': 'ff02::1', '10.1.0.0/16': PROXY },
        { routerAddresses: [address('192.0.2.7'), address('2001:db8::7'), address(PROXY)] },
      ),
      { nextHop4: undefined },
    );
    expect(logs(agent)).toEqual([
      { counter: 'bgp.originate.unusable-proxy', proxy: 'ff02::1' },
      { counter: 'bgp.originate.no-next-hop', family: 4 },
      { counter: 'bgp.originate.router-address-left-out', left: 2 },
    ]);
    expect({
      originateRouterAddressLeftOut: agent.count('originate.router-address-left-out'),
      unplaced: agent.content.unplaced,
    }).toEqual({ originateRouterAddressLeftOut: 2, unplaced: 2 });
  });

  test('a proxy that is declared twice for a prefix is one', () => {
    const proxies = declaration({ '2001:db8:a::/48': PROXY });
    const agent = placed([...proxies, ...proxies]);
    expect(counts(agent)).not.toContain('bgp.originate.duplicate-prefix');
  });

  test('SIDs: those outside their locator, and those that find no next hop, each by how many there are', () => {
    const outside = { ...SID, locator: prefix('2001:db8:d::/48') };
    const agent = placed(declaration({}, { sids: [SID, outside, SID, outside] }), {
      nextHop4: undefined,
      nextHop6: undefined,
    });
    expect({
      originateUnusableSid: agent.count('originate.unusable-sid'),
      originateNoNextHop: agent.count('originate.no-next-hop'),
      unplaced: agent.content.unplaced,
    }).toEqual({ originateUnusableSid: 2, originateNoNextHop: 2, unplaced: 4 });
  });
});

describe('one after the other', () => {
  const twice: Origination = origination({
    proxies: ['2001:db8::9', PROXY].map((proxy) => ({ prefix: prefix('2001:db8:a::/48'), proxy: address(proxy) })),
  });

  test('the same anew changes nothing, also where a prefix has two proxies (decision D7)', () => {
    const agent = placed(twice);
    agent.declare(twice);
    expect({ changes: agent.changes, all: all(agent) }).toEqual({
      changes: undefined,
      all: { '2001:db8:a::/48': [PROXY, PROXY, undefined] },
    });
  });

  test('the same configuration anew changes nothing, another community or order does', () => {
    const agent = placed(twice, { communities: [7, 8], largeCommunities: [[1, 2, 3]] });
    const configured = (communities: number[], largeCommunities: [number, number, number][]): string[] => {
      agent.event({ type: 'configure', changes: { ...agent.content.config, communities, largeCommunities } });
      agent.settle();
      return agent.answer();
    };
    expect(configured([7, 8], [[1, 2, 3]])).toEqual([]);
    for (const change of [
      () => configured([7], [[1, 2, 3]]),
      () => configured([8], [[1, 2, 3]]),
      () => configured([8], [[1, 3, 2]]),
      () => configured([8], []),
    ])
      expect(change()).toEqual(['+2001:db8:a::/48']);
  });

  test('of a prefix that loses the lower of two proxies the other is advertised', () => {
    const agent = placed(twice);
    agent.declare(twice.slice(0, 1));
    agent.answer();
    expect(all(agent)).toEqual({ '2001:db8:a::/48': [PROXY, '2001:db8::9', undefined] });
  });

  test('one that comes while another is being worked on takes its place as a whole', () => {
    const agent = new Agent();
    agent.connect();
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`2001:db8:${n.toString(16)}::/48`, '2001:db8::9']),
    );
    agent.event({ type: 'declare', origination: declaration({ '10.1.0.0/16': '192.0.2.1', ...many }) });
    agent.event({ type: 'timer' });
    agent.declare(declaration({ '2001:db8:1::/48': PROXY, '10.2.0.0/16': '192.0.2.1' }));
    agent.answer();
    expect(all(agent)).toEqual({
      '2001:db8:1::/48': [PROXY, PROXY, undefined],
      '10.2.0.0/16': ['192.0.2.1', '192.0.2.1', undefined],
    });
    expect(agent.content.own.paths.size).toBe(2);
  });

  test('a new prefix is put in at once, while the others are still looked at', () => {
    const agent = new Agent();
    agent.connect();
    agent.event({
      type: 'declare',
      origination: declaration(
        Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`2001:db8:${n.toString(16)}::/48`, PROXY])),
      ),
    });
    agent.event({ type: 'timer' });
    expect(agent.changes!.add.length).toBeGreaterThan(0);
  });

  test('SIDs of the host route are not advertised with the senders’ prefixes of the same proxy', () => {
    const [host, sender] = [`${PROXY}/128`, '2001:db8:a::/48'];
    const two = [SID, { ...SID, sid: address('2001:db8:c::2') }];
    const agent = placed(declaration({ [host]: PROXY, [sender]: '2001:db8::9' }, { sids: [SID] }), {
      nextHop4: undefined,
    });
    agent.declare(declaration({ [host]: PROXY, [sender]: PROXY }, { sids: two }));
    agent.answer();
    expect(all(agent)).toEqual({ [host]: [PROXY, PROXY, 2], [sender]: [PROXY, PROXY, undefined] });
    const node = placed(declaration({}, { sids: [SID] }), { nextHop4: undefined });
    node.declare(declaration({ [sender]: '2001:db8::9' }, { sids: [SID] }));
    node.answer();
    node.declare(declaration({ [sender]: PROXY }, { sids: two }));
    node.answer();
    expect(all(node)).toEqual({ [host]: [PROXY, undefined, 2], [sender]: [PROXY, PROXY, undefined] });
  });

  test('SIDs that are declared no more leave the host route, and the host route leaves with the last reason for it', () => {
    const agent = placed(declaration({ [`${PROXY}/128`]: PROXY }, { sids: [SID] }), { nextHop4: undefined });
    agent.declare(declaration({ [`${PROXY}/128`]: PROXY }));
    agent.answer();
    expect(all(agent)).toEqual({ [`${PROXY}/128`]: [PROXY, PROXY, undefined] });
    agent.declare(declaration({}, { routerAddresses: [address(PROXY)] }));
    agent.answer();
    expect(all(agent)).toEqual({ [`${PROXY}/128`]: [PROXY, undefined, 0] });
    agent.declare(declaration({}));
    agent.answer();
    expect(all(agent)).toEqual({});
  });
});
