// Which originators count as reachable.
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../model/address.ts';
import { packNeighbors } from '../../packet/isis/tlv/is-reachability.ts';
import type { IsisTlv } from '../../packet/isis/types.ts';
import { lsp } from './hostile.fixture.ts';
import { forgetDue, isAlive } from './reachability.ts';
import { Router } from './router.fixture.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from './simulation.fixture.ts';

const LEARNER = '0000.0000.00ff';
const ORIGIN = '0000.0000.0001';

/** learner – r1 – r2 – origin */
function chain(): { simulation: Simulation; learner: Agent; origin: Agent; r1: Router; r2: Router } {
  const simulation = new Simulation();
  const [r1, r2] = [new Router(simulation, '0000.0000.1111'), new Router(simulation, '0000.0000.2222')];
  const learner = new Agent(simulation, testConfig(LEARNER));
  const origin = new Agent(simulation, testConfig(ORIGIN, { seed: 3 }));
  simulation.wire(learner.attach, r1.attach);
  simulation.wire(r1.attach, r2.attach);
  simulation.wire(r2.attach, origin.attach);
  origin.event(originate([proxied('2001:db8:1::/64')]));
  simulation.run(10_000);
  return { simulation, learner, origin, r1, r2 };
}

const systems = (agent: Agent): string[] => [...agent.reachable].map((name) => name.slice(-4)).sort();

describe('reachability', () => {
  it('reaches every system of the chain, not itself', () => {
    expect(systems(chain().learner)).toEqual(['0001', '1111', '2222']);
  });

  it('a stub that dies is unreachable as soon as its router no longer lists it, although its LSPs stay', () => {
    const { simulation, learner, origin, r2 } = chain();
    origin.kill();
    r2.cut(1);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['1111', '2222']);
    expect(learner.prefixes()).toHaveLength(1);
  });

  it('a link that only one end lists does not count', () => {
    const { simulation, learner, r1 } = chain();
    r1.cut(1);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['1111']);
  });

  it('a system that claims a neighbour which does not list it gains nothing, in either direction', () => {
    const { simulation, learner, r1 } = chain();
    const neighbor = (system: string): IsisTlv => ({
      kind: 'extended-is-reachability',
      neighbors: [{ systemId: systemId(system), pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) }],
    });
    const claim = (system: string, sequence: number, tlvs: IsisTlv[]): void =>
      r1.ports[0]!.send(lsp({ sequence, tlvs }, system));
    r1.extra = [neighbor('0000.0000.4444')];
    r1.originate();
    claim('0000.0000.4444', 1, []);
    claim('0000.0000.5555', 1, [neighbor('0000.0000.1111')]);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    claim('0000.0000.4444', 2, [neighbor('0000.0000.1111')]);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222', '4444']);
  });

  it.each([
    [0xfffffe, ['0001', '1111', '2222', '4444']],
    [0xffffff, ['0001', '1111', '2222']],
  ])('a link of metric %i: only the highest is no part of the topology (RFC 5305 §3)', (metric, expected) => {
    const { simulation, learner } = chain();
    const claim = (from: string, to: string): void => {
      const neighbors = [{ systemId: systemId(to), pseudonode: 0, metric, subTlvs: new Uint8Array(0) }];
      const lspId = { systemId: systemId(from), pseudonode: 0, fragment: from.endsWith('1111') ? 9 : 0 };
      learner.deliver(lsp({ lspId, sequence: 1, tlvs: [{ kind: 'extended-is-reachability', neighbors }] }));
    };
    claim('0000.0000.1111', '0000.0000.4444');
    claim('0000.0000.4444', '0000.0000.1111');
    simulation.run(1000);
    expect(systems(learner)).toEqual(expected);
  });

  it('the hold time runs for each system since it was lost, also when several are', () => {
    const { simulation, learner, r1, r2 } = chain();
    const sources = (): string[] => [...learner.reports.values()].map(({ originator }) => originator.slice(-4)).sort();
    r2.extra = [{ kind: 'ipv6-te-router-id', address: proxied('::/0', '2001:db8::2').proxy }];
    r2.originate();
    simulation.run(1000);
    expect(sources()).toEqual(['0001', '2222']);
    r2.cut(1);
    simulation.run(60_000);
    r1.cut(1);
    simulation.run(59_000);
    expect([systems(learner), sources()]).toEqual([['1111'], ['0001', '2222']]);
    simulation.run(3000);
    expect(sources()).toEqual(['2222']);
    simulation.run(60_000);
    expect(sources()).toEqual([]);
  });

  it('the hold time is over to the millisecond, and each system is forgotten at its own', () => {
    const { learner, simulation, r1, r2 } = chain();
    r2.cut(1);
    simulation.run(10_000);
    r1.cut(1);
    simulation.run(10_000);
    const s = learner.speaker;
    const level = s.levels.get(2)!;
    const { graph } = level;
    const [first, second] = [ORIGIN, '0000.0000.2222'].map((system) => graph.lostAt.get(system)! + 120_000);
    const at = (now: number, system: string): boolean => ((s.now = now), isAlive(s, level, system));
    expect([at(first! - 1, ORIGIN), at(first!, ORIGIN)]).toEqual([true, false]);
    expect([at(first!, '0000.0000.2222'), at(first!, '0000.0000.7777')]).toEqual([true, false]);
    const left = (now: number): unknown[] => {
      s.now = now;
      forgetDue(s, level);
      return [...graph.lostAt.keys(), graph.forgetAt];
    };
    expect(left(first! - 1)).toEqual([ORIGIN, '0000.0000.2222', first]);
    expect(left(first!)).toEqual(['0000.0000.2222', second]);
    expect(left(second!)).toEqual([Infinity]);
  });

  it('a walk goes on where it was, and a change meanwhile is found by the next', () => {
    const { simulation, learner, r1 } = chain();
    const id = (n: number): string => `0000.00aa.${n.toString(16).padStart(4, '0')}`;
    const neighbors = (names: string[]): IsisTlv[] =>
      packNeighbors(
        names.map((name) => ({ systemId: systemId(name), pseudonode: 0, metric: 1, subTlvs: new Uint8Array(0) })),
      );
    // More than a walk takes in a turn: stars of the router, an LSP each.
    const count = 300;
    for (let n = 0; n < count; n++) learner.deliver(lsp({ sequence: 1, tlvs: neighbors(['0000.0000.1111']) }, id(n)));
    for (let f = 0; f < 5; f++) {
      const names = Array.from({ length: 60 }, (_, i) => id(60 * f + i));
      learner.deliver(
        lsp({
          sequence: 1,
          lspId: { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment: f + 1 },
          tlvs: neighbors(names),
        }),
      );
    }
    simulation.run(1000);
    expect(learner.reachable.size).toBe(3 + count);
    r1.cut(1);
    simulation.run(60);
    learner.deliver(lsp({ sequence: 2, tlvs: [] }, id(7)));
    simulation.run(1000);
    expect(learner.reachable.size).toBe(1 + count - 1);
  });

  it('nothing is reachable without an adjacency', () => {
    const { simulation, learner } = chain();
    learner.event({ type: 'link-down', reason: 'interface gone' });
    simulation.run(1000);
    expect(systems(learner)).toEqual([]);
    expect(learner.speaker.adjacency).toMatchObject({ state: 'down', reason: 'interface gone' });
  });

  it('an overloaded router is no transit, but the stub beside it is still reached', () => {
    const { simulation, learner, r2 } = chain();
    r2.overload = true;
    r2.originate();
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    const r3 = new Router(simulation, '0000.0000.3333');
    simulation.wire(r2.attach, r3.attach);
    simulation.run(10_000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    r2.overload = false;
    r2.originate();
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222', '3333']);
  });
});

describe('proxy fallback (decision D6)', () => {
  it('sub-TLV 12 first, then TLV 140, then a TLV 232 that is not link-local; unflagged prefixes are reported without proxy (D5)', () => {
    const simulation = new Simulation();
    const router = new Router(simulation, '0000.0000.1111');
    const learner = new Agent(simulation, testConfig(LEARNER));
    simulation.wire(learner.attach, router.attach);
    const at = (text: string): ReturnType<typeof proxied>['proxy'] => proxied('::/0', text).proxy;
    const flags = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) } as const;
    const entry = (text: string, subTlvs: object[]): object => ({
      prefix: proxied(text).prefix,
      metric: 10,
      down: false,
      external: false,
      subTlvs,
    });
    const reachability = {
      kind: 'ipv6-reachability',
      prefixes: [
        entry('2001:db8:1::/64', [flags, { kind: 'ipv6-source-router-id', address: at('2001:db8::12') }]),
        entry('2001:db8:2::/64', [flags]),
        entry('2001:db8:3::/64', []),
      ],
    };
    const proxies = (): unknown[] => learner.prefixes().map((p) => [p.pnc, p.proxy]);
    const say = (...tlvs: object[]): void => {
      router.extra = [reachability, ...tlvs] as typeof router.extra;
      router.originate();
      simulation.run(2000);
    };
    say({ kind: 'ipv6-interface-addresses', addresses: [at('fe80::1')] });
    expect(proxies()).toEqual([
      [true, at('2001:db8::12')],
      [true, undefined],
      [false, undefined],
    ]);
    say({ kind: 'ipv6-interface-addresses', addresses: [at('fe80::1'), at('2001:db8::232')] });
    expect(proxies()[1]).toEqual([true, at('2001:db8::232')]);
    say(
      { kind: 'ipv6-interface-addresses', addresses: [at('2001:db8::232')] },
      { kind: 'ipv6-te-router-id', address: at('2001:db8::140') },
    );
    expect(proxies()[1]).toEqual([true, at('2001:db8::140')]);
    expect([proxies()[0], proxies()[2]]).toEqual([
      [true, at('2001:db8::12')],
      [false, undefined],
    ]);
    // What it names can be no proxy: that is told, and counted by the learned table, and nobody else takes its place.
    reachability.prefixes[0] = entry('2001:db8:1::/64', [
      flags,
      { kind: 'ipv6-source-router-id', address: at('ff02::12') },
    ]);
    say({ kind: 'ipv6-te-router-id', address: at('2001:db8::140') });
    expect(proxies()[0]).toEqual([true, at('ff02::12')]);
  });

  it('for an IPv4 prefix sub-TLV 11, then TLV 134, then a TLV 132 that is a host’s; where a family has none, the other one’s', () => {
    const simulation = new Simulation();
    const router = new Router(simulation, '0000.0000.1111');
    const learner = new Agent(simulation, testConfig(LEARNER));
    simulation.wire(learner.attach, router.attach);
    const at = (text: string): ReturnType<typeof proxied>['proxy'] => proxied('::/0', text).proxy;
    const flags = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) } as const;
    const entry = (subTlvs: object[]): object => ({
      prefix: proxied('10.1.0.0/16').prefix,
      metric: 10,
      down: false,
      external: false,
      subTlvs,
    });
    const proxyFor = (subTlvs: object[], ...tlvs: object[]): string | undefined => {
      router.extra = [
        { kind: 'ipv4-reachability', prefixes: [entry([flags, ...subTlvs])] },
        ...tlvs,
      ] as typeof router.extra;
      router.originate();
      simulation.run(2000);
      const proxy = learner.prefixes()[0]!.proxy;
      return proxy && formatAddress(proxy);
    };
    const own = { kind: 'ipv4-source-router-id', address: at('192.0.2.11') };
    const [te4, te6] = [
      { kind: 'ipv4-te-router-id', address: at('192.0.2.134') },
      { kind: 'ipv6-te-router-id', address: at('2001:db8::140') },
    ];
    const [if4, if6] = [
      { kind: 'ipv4-interface-addresses', addresses: [at('127.0.0.1'), at('192.0.2.132'), at('192.0.2.133')] },
      { kind: 'ipv6-interface-addresses', addresses: [at('2001:db8::232')] },
    ];
    expect([
      proxyFor([]),
      proxyFor([own], te4, te6, if4, if6),
      proxyFor([], te4, te6, if4, if6),
      proxyFor([], te6, if4, if6),
      proxyFor([], if4, if6),
      proxyFor([], if6),
      proxyFor([], { ...te4, address: at('0.0.0.0') }, if4),
      proxyFor([], if4, { ...if4, addresses: [at('192.0.2.200')] }),
    ]).toEqual([
      undefined,
      '192.0.2.11',
      '192.0.2.134',
      '2001:db8::140',
      '192.0.2.132',
      '2001:db8::232',
      '192.0.2.132',
      '192.0.2.132',
    ]);
  });

  it('of several fragments that give addresses the lowest counts, and all are read again when they change', () => {
    const { simulation, learner } = chain();
    const flags = { kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) } as const;
    const say = (fragment: number, sequence: number, tlvs: object[]): void => {
      learner.deliver(
        lsp({
          sequence,
          lspId: { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment },
          tlvs: tlvs as IsisTlv[],
        }),
      );
      simulation.run(500);
    };
    const te = (last: number): object[] => [
      { kind: 'ipv4-te-router-id', address: proxied('::/0', `192.0.2.${last}`).proxy },
      { kind: 'ipv6-te-router-id', address: proxied('::/0', `2001:db8:ffff::${last}`).proxy },
    ];
    const prefixes = ['2001:db8:7::/48', '10.7.0.0/16'].map((text) => ({
      prefix: proxied(text).prefix,
      metric: 1,
      down: false,
      external: false,
      subTlvs: [flags],
    }));
    const found = (): unknown[] =>
      learner.reports.get('L2 0000.0000.1111.00-05')!.prefixes.map(({ proxy }) => proxy && formatAddress(proxy));
    say(5, 1, [
      { kind: 'ipv6-reachability', prefixes: [prefixes[0]] },
      { kind: 'ipv4-reachability', prefixes: [prefixes[1]] },
    ]);
    expect(found()).toEqual([undefined, undefined]);
    say(9, 1, te(9));
    expect(found().sort()).toEqual(['192.0.2.9', '2001:db8:ffff::9']);
    say(7, 1, te(7));
    expect(found().sort()).toEqual(['192.0.2.7', '2001:db8:ffff::7']);
    say(7, 2, []);
    expect(found().sort()).toEqual(['192.0.2.9', '2001:db8:ffff::9']);
  });

  it('reads topologies too: 237 with MT ID 2 counts, with 0 it MUST be ignored (RFC 5120 §7.4)', () => {
    const simulation = new Simulation();
    const router = new Router(simulation, '0000.0000.1111');
    const learner = new Agent(simulation, testConfig(LEARNER));
    simulation.wire(learner.attach, router.attach);
    const p = (text: string): object => ({
      prefix: proxied(text).prefix,
      metric: 10,
      down: false,
      external: false,
      subTlvs: [],
    });
    router.extra = [
      { kind: 'mt-ipv6-reachability', mtId: 2, prefixes: [p('2001:db8:1::/64')] },
      { kind: 'mt-ipv6-reachability', mtId: 0, prefixes: [p('2001:db8:2::/63')] },
      { kind: 'mt-ipv6-reachability', mtId: 4, prefixes: [p('2001:db8:4::/62')] },
    ] as typeof router.extra;
    router.originate();
    simulation.run(5000);
    expect(learner.prefixes().map((x) => x.prefix.length)).toEqual([64]);
  });
});
