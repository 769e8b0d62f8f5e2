// The topology that the carrier reports of each of its levels.
import { describe, expect, test } from 'vitest';
import { topologyText } from '../../../model/topology.fixture.ts';
import type { AreaTopology } from '../../../model/topology.ts';
import { packNeighbors } from '../../../packet/isis/tlv/is-reachability.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { Level, Lsp } from '../../../packet/isis/types.ts';
import { lsp } from '../hostile.fixture.ts';
import { Router } from '../router.fixture.ts';
import type { SpeakerConfig } from '../state.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';

const FIRST = '0000.0000.00aa';
const SECOND = '0000.0000.00bb';
const [R1, R2, R3] = ['0000.0000.1111', '0000.0000.2222', '0000.0000.3333'] as const;

/** Without the zeros of system IDs. */
const short = (line: string): string => line.replaceAll('0000.0000.', '');
const latest = (agent: Agent, area = 'L2'): AreaTopology => agent.topologies.at(-1)!.find((one) => one.area === area)!;
const shown = (agent: Agent, area?: string): string[] => topologyText(latest(agent, area)).map(short);

const links = (...to: (readonly [string, number])[]): IsisTlv[] =>
  packNeighbors(
    to.map(([node, metric]) => ({
      systemId: systemId(node.slice(0, 14)),
      pseudonode: Number.parseInt(node.slice(15) || '0', 16),
      metric,
      subTlvs: new Uint8Array(0),
    })),
  );

/** Gives the agent an LSP of this node, as if its neighbor had flooded it. */
function flood(agent: Agent, simulation: Simulation, node: string, tlvs: IsisTlv[], fields: Partial<Lsp> = {}): void {
  const [system, pseudonode = '0', fragment = '0'] = node.split('/');
  const lspId = { systemId: systemId(system!), pseudonode: Number(pseudonode), fragment: Number(fragment) };
  agent.deliver(lsp({ lspId, sequence: 1, tlvs, ...fields }));
  simulation.run(1000);
}

/** first agent – r1 – r2 – second agent */
function line(overrides: Partial<SpeakerConfig> = {}) {
  const simulation = new Simulation();
  const [r1, r2] = [new Router(simulation, R1), new Router(simulation, R2)];
  const first = new Agent(simulation, testConfig(FIRST, { reportsTopology: true, ...overrides }));
  const second = new Agent(simulation, testConfig(SECOND, { reportsTopology: true, seed: 3, ...overrides }));
  simulation.wire(first.attach, r1.attach);
  simulation.wire(r1.attach, r2.attach);
  simulation.wire(r2.attach, second.attach);
  simulation.run(10_000);
  return { simulation, first, second, r1, r2 };
}

const LINE = [
  '1111.00 (L2 1111): 00aa.00 10, 2222.00 10',
  '2222.00 (L2 2222): 00bb.00 10, 1111.00 10',
  'stub 00aa.00 (L2 00aa): 1111.00 10',
  'stub 00bb.00 (L2 00bb): 2222.00 10',
];

describe('the topology of a level', () => {
  test('has all routers of a line and the cnpd beside each as a stub, the same at both ends; `self` is the own cnpd', () => {
    const { first, second } = line();
    expect(shown(first)).toEqual(LINE);
    expect(shown(second)).toEqual(LINE);
    expect([first, second].map((agent) => latest(agent).self)).toEqual([`${FIRST}.00`, `${SECOND}.00`]);
  });

  test('is not reported unless it is required; a reload starts it and ends it', () => {
    const { simulation, first } = line({ reportsTopology: false });
    expect(first.topologies).toEqual([]);
    const configure = (reportsTopology: boolean): void => {
      first.event({ type: 'configure', config: { ...first.speaker.config, reportsTopology } });
      simulation.run(1000);
    };
    configure(true);
    expect(shown(first)).toEqual(LINE);
    configure(true);
    expect(first.topologies).toHaveLength(1);
    configure(false);
    expect(first.topologies.at(-1)).toEqual([]);
    configure(true);
    expect(shown(first)).toEqual(LINE);
  });

  test('of a ring has all of its links', () => {
    const { simulation, first, r1, r2 } = line();
    const r3 = new Router(simulation, R3);
    simulation.wire(r1.attach, r3.attach);
    simulation.wire(r3.attach, r2.attach);
    simulation.run(10_000);
    expect(shown(first).slice(0, 3)).toEqual([
      '1111.00 (L2 1111): 00aa.00 10, 2222.00 10, 3333.00 10',
      '2222.00 (L2 2222): 00bb.00 10, 1111.00 10, 3333.00 10',
      '3333.00 (L2 3333): 1111.00 10, 2222.00 10',
    ]);
  });

  test('has a LAN as a node without originator, whose links cost nothing', () => {
    const { simulation, first } = line();
    const lan = `${R1}.07`;
    flood(first, simulation, `${R1}/7`, links([`${R1}.00`, 0], [`${R3}.00`, 0]));
    flood(first, simulation, `${R1}/0/9`, links([lan, 25]));
    flood(first, simulation, R3, links([lan, 30]));
    expect(shown(first)).toEqual([
      '1111.00 (L2 1111): 00aa.00 10, 1111.07 25, 2222.00 10',
      '1111.07 (): 1111.00 0, 3333.00 0',
      LINE[1],
      '3333.00 (L2 3333): 1111.07 30',
      ...LINE.slice(2),
    ]);
  });

  test('shows the overload bit, and only once', () => {
    const { simulation, first, r2 } = line();
    r2.overload = true;
    r2.originate();
    simulation.run(1000);
    expect(shown(first)).toContain('stub 2222.00 (L2 2222): 00bb.00 10, 1111.00 10');
    const { length } = first.topologies;
    r2.originate();
    simulation.run(1000);
    expect(first.topologies).toHaveLength(length);
  });

  test('of links to the same neighbor has the cheapest, and none with the largest metric (RFC 5305 §3)', () => {
    const { simulation, first } = line();
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 40], [`${R2}.00`, 7], [`${R2}.00`, 50]));
    flood(first, simulation, R3, links([`${R1}.00`, 0xfffffe], [`${R2}.00`, 0xffffff]));
    expect(shown(first)).toContain('1111.00 (L2 1111): 00aa.00 10, 2222.00 7, 3333.00 40');
    expect(shown(first)).toContain('3333.00 (L2 3333): 1111.00 16777214');
  });

  test('includes links that the other end does not list, but no node that is reached only by them', () => {
    const { simulation, first } = line();
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 1]));
    flood(first, simulation, R3, []);
    expect(shown(first)).toEqual([LINE[0] + ', 3333.00 1', ...LINE.slice(1)]);
  });

  test('has no node without fragment 0 (ISO/IEC 10589 §7.2.5)', () => {
    const { simulation, first } = line();
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 1]));
    flood(first, simulation, `${R3}/0/1`, links([`${R1}.00`, 1]));
    expect(shown(first).join()).not.toContain('3333.00 (');
    flood(first, simulation, R3, []);
    expect(shown(first)).toContain('3333.00 (L2 3333): 1111.00 1');
    flood(first, simulation, R3, [], { sequence: 2, remainingLifetime: 0 });
    expect(shown(first).join()).not.toContain('3333.00 (');
  });

  test('is reported again when a cost changes, 50 ms later; nodes that have not changed are the same objects', () => {
    const { simulation, first } = line();
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 1]));
    flood(first, simulation, R3, links([`${R1}.00`, 1]));
    const before = latest(first);
    const { length } = first.topologies;
    first.deliver(lsp({ sequence: 2, tlvs: links([`${R1}.00`, 2]) }, R3));
    simulation.run(51);
    const after = latest(first);
    expect(first.topologies).toHaveLength(length + 1);
    const changed = [...after.nodes].filter(([name, node]) => before.nodes.get(name) !== node);
    expect(changed.map(([name]) => name)).toEqual([`${R3}.00`]);
  });

  test('is not reported again for a refresh, for prefixes, or for a change that is back before the walk', () => {
    const { simulation, first, second } = line();
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 1]));
    flood(first, simulation, R3, links([`${R1}.00`, 1]));
    const { length } = first.topologies;
    second.event(originate([proxied('2001:db8:1::/64')]));
    flood(first, simulation, R3, links([`${R1}.00`, 1]), { sequence: 2 });
    first.deliver(lsp({ sequence: 3, tlvs: links([`${R1}.00`, 9]) }, R3));
    flood(first, simulation, R3, links([`${R1}.00`, 1]), { sequence: 4 });
    expect(first.topologies).toHaveLength(length);
  });

  test('loses a node that is no longer listed, although its LSPs stay; without an adjacency there is no `self` and no node', () => {
    const { simulation, first, second, r2 } = line();
    second.kill();
    r2.cut(1);
    simulation.run(1000);
    expect(shown(first)).toEqual([LINE[0], '2222.00 (L2 2222): 1111.00 10', LINE[2]]);
    first.event({ type: 'link-down', reason: 'interface gone' });
    simulation.run(1000);
    expect(first.topologies.at(-1)).toEqual([{ area: 'L2', nodes: new Map() }]);
  });

  test('is not reported before the first adjacency: that of an earlier run may still be held', () => {
    const simulation = new Simulation();
    const alone = new Agent(simulation, testConfig(FIRST));
    alone.event({ type: 'configure', config: { ...alone.speaker.config, reportsTopology: true } });
    simulation.run(10_000);
    expect(alone.speaker.levels.get(2)!.graph.walkAt).toBe(Infinity);
    expect(alone.topologies).toEqual([]);
  });

  test('begins with this cnpd alone while the LSP of its neighbor is not there yet', () => {
    const simulation = new Simulation();
    const agent = new Agent(simulation, testConfig(FIRST, { reportsTopology: true }));
    const r1 = new Router(simulation, R1);
    simulation.wire(agent.attach, r1.attach).filter = ({ kind }) => kind !== 'lsp';
    simulation.run(10_000);
    expect(shown(agent)).toEqual([LINE[2]]);
  });

  test('is one of each level: a link of level 1 is not in level 2', () => {
    const levels: readonly Level[] = [1, 2];
    const { simulation, first } = line({ levels });
    flood(first, simulation, `${R1}/0/9`, links([`${R3}.00`, 1]), { level: 1 });
    flood(first, simulation, R3, links([`${R1}.00`, 1]), { level: 1 });
    expect(first.topologies.at(-1)!.map(({ area }) => area)).toEqual(['L1', 'L2']);
    const ofLevel1 = LINE.map((text) => text.replace('(L2', '(L1'));
    expect(shown(first, 'L1')).toEqual([
      ofLevel1[0] + ', 3333.00 1',
      ofLevel1[1],
      '3333.00 (L1 3333): 1111.00 1',
      ...ofLevel1.slice(2),
    ]);
    expect(shown(first)).toEqual(LINE);
  });
});
