// What a level sends when the adjacency comes up in it (ISO/IEC 10589 §7.3.17).
import { expect, test } from 'vitest';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { AREA } from '../../../packet/isis/foreign.fixture.ts';
import { A, adjacency, hello, lsp } from '../hostile.fixture.ts';
import { originate, proxied, systemId } from '../simulation.fixture.ts';

const C = '0000.0000.000c';
const D = '0000.0000.000d';
const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
const idOf = (system: string) => ({ systemId: systemId(system), pseudonode: 0, fragment: 0 });

test('our LSP and a CSNP at once; the LSPs of others 1.5 s later unless the neighbor has them; odd ones never', () => {
  const { a, simulation, wire, give } = adjacency();
  a.event(originate([proxied('2001:db8:1::/64')]));
  give(lsp({ lspId: idOf(C) }));
  give(lsp({ lspId: idOf(D), tlvs: [bad] }));
  simulation.run(3000);
  a.event({ type: 'link-down', reason: 'gone' });
  a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
  const sent: string[] = [];
  let start = Infinity;
  wire.filter = (pdu, from) => {
    if (from === 0 && pdu.kind === 'lsp') sent.push(`${pdu.lspId.systemId[5]!.toString(16)}-${pdu.lspId.fragment}`);
    if (from === 0 && pdu.kind === 'csnp') start = Math.min(start, simulation.now);
    // B does not list what it has.
    return from === 0 || pdu.kind === 'p2p-hello';
  };
  simulation.until('the first CSNP', () => start < Infinity);
  simulation.run(start + 1490 - simulation.now);
  expect([...new Set(sent)].sort()).toEqual(['a-0', 'a-1']);
  simulation.run(30);
  expect([...new Set(sent)].sort()).toEqual(['a-0', 'a-1', 'b-0', 'c-0']);
  simulation.run(6000);
  expect(sent.filter((each) => each === 'c-0').length).toBeGreaterThan(1);
  expect(sent).not.toContain('d-0');
});

test('a level that the neighbor stops running goes down, the other stays up', () => {
  const { a, b, give, simulation } = adjacency({ levels: [1, 2] });
  b.kill();
  give(hello({ circuitType: 2, holdingTime: 600 }));
  const levels = [1, 2].map((level) => a.speaker.levels.get(level as 1 | 2)!);
  a.event(originate([proxied('2001:db8:1::/64')]));
  simulation.run(1000);
  expect(levels.map(({ srm, csnpFrom }) => [srm.size > 0, csnpFrom])).toEqual([
    [false, undefined],
    [true, undefined],
  ]);
  expect(levels.map(({ lsdb }) => lsdb.byKey.has(`${A}.00-01`))).toEqual([true, true]);
  expect(levels.map(({ graph }) => graph.reachable.size)).toEqual([0, 1]);
});

test('an adjacency that is tried again was up the last time when it was lost', () => {
  const { a, b, give, simulation } = adjacency();
  expect(a.speaker.adjacency?.state).toBe('up');
  b.kill();
  const lost = simulation.now;
  give(hello({ holdingTime: 20 }, [AREA, { kind: 'three-way-adjacency', state: 'down', circuitId: 1 }]));
  expect([a.speaker.adjacency?.state, a.speaker.lastUp]).toEqual(['initializing', lost]);
  simulation.run(25_000);
  expect([a.speaker.adjacency?.state, a.speaker.lastUp]).toEqual(['down', lost]);
});
