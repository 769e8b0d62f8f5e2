// Which originators count as reachable.
import { describe, expect, it } from 'vitest';
import type { IsisTlv } from '../../packet/isis/types.ts';
import { lsp } from './hostile.fixture.ts';
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
    const claim = (system: string, sequence: number, tlvs: IsisTlv[]): void => r1.ports[0]!.send(lsp({ sequence, tlvs }, system));
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
    const entry = (text: string, subTlvs: object[]): object => ({ prefix: proxied(text).prefix, metric: 10, down: false, external: false, subTlvs });
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
    expect(proxies()).toEqual([[true, at('2001:db8::12')], [true, undefined], [false, undefined]]);
    say({ kind: 'ipv6-interface-addresses', addresses: [at('fe80::1'), at('2001:db8::232')] });
    expect(proxies()[1]).toEqual([true, at('2001:db8::232')]);
    say({ kind: 'ipv6-interface-addresses', addresses: [at('2001:db8::232')] }, { kind: 'ipv6-te-router-id', address: at('2001:db8::140') });
    expect(proxies()[1]).toEqual([true, at('2001:db8::140')]);
    expect(proxies()[0]).toEqual([true, at('2001:db8::12')]);
    // What it names can be no proxy: that is told, and counted by the learned table, and nobody else takes its place.
    reachability.prefixes[0] = entry('2001:db8:1::/64', [flags, { kind: 'ipv6-source-router-id', address: at('ff02::12') }]);
    say({ kind: 'ipv6-te-router-id', address: at('2001:db8::140') });
    expect(proxies()[0]).toEqual([true, at('ff02::12')]);
  });

  it('reads topologies too: 237 with MT ID 2 counts, with 0 it MUST be ignored (RFC 5120 §7.4)', () => {
    const simulation = new Simulation();
    const router = new Router(simulation, '0000.0000.1111');
    const learner = new Agent(simulation, testConfig(LEARNER));
    simulation.wire(learner.attach, router.attach);
    const p = (text: string): object => ({ prefix: proxied(text).prefix, metric: 10, down: false, external: false, subTlvs: [] });
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
