// LSPs whose content is odd: kept as ISO/IEC 10589 wants, but not in place of what FRR has.
import { expect, test } from 'vitest';
import { formatPrefix } from '../../../model/prefix.ts';
import { overrun, prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, ReceivedPdu } from '../../../packet/isis/types.ts';
import { B, C, adjacency, entry, lsp, patched, reachedOnce } from '../hostile.fixture.ts';
import { type Agent, systemId } from '../simulation.fixture.ts';

const prefixes = (...texts: string[]): IsisTlv[] => [tlv236(...texts.map((text) => prefixEntry(text)))];
const TWO = prefixes('2001:db8:1::/48', '2001:db8:2::/48');
/** B answers nothing, like an FRR that has what we have. */
const silent = (pdu: ReceivedPdu, from: 0 | 1): boolean => from === 0 || pdu.kind === 'p2p-hello';
const psnpOf = (sequence: number): Uint8Array =>
  encodePdu({
    kind: 'psnp',
    level: 2,
    systemId: systemId(B),
    tlvs: [
      {
        kind: 'lsp-entries',
        entries: [entry({ lspId: { systemId: systemId(B), pseudonode: 0, fragment: 9 }, sequence })],
      },
    ],
  });

/** A fragment of B, which A reaches. */
const fragment = (sequence: number, tlvs: IsisTlv[] = [], more: object = {}): Uint8Array =>
  lsp({ sequence, tlvs, lspId: { systemId: systemId(B), pseudonode: 0, fragment: 9 }, ...more });
const KEY = `${B}.00-09`;
const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
const texts = (agent: Agent): string[] => agent.prefixes().map((p) => formatPrefix(p.prefix));

test.each<[string, string, () => Uint8Array]>([
  ['whose checksum was not computed', 'isis.lsp.unusable.zero-checksum', () => patched(lsp({ tlvs: TWO }), 24, 0, 0)],
  ['with sequence number 0', 'isis.lsp.unusable.zero-sequence', () => lsp({ sequence: 0, tlvs: TWO })],
  ['whose last TLV goes beyond its end', 'isis.lsp.unusable.tlv-overrun', () => overrun(lsp({ tlvs: TWO }))],
])('one %s is stored, acknowledged, listed, and teaches nothing', (_claim, counter, build) => {
  const { simulation, a, wire, give } = adjacency();
  reachedOnce(a);
  const acknowledged: string[] = [];
  wire.filter = (pdu, from) => {
    if (from === 0 && pdu.kind === 'psnp')
      for (const t of pdu.tlvs)
        if (t.kind === 'lsp-entries') acknowledged.push(...t.entries.map((e) => `${e.sequence} ${e.checksum}`));
    return true;
  };
  const pdu = build();
  const view = new DataView(pdu.buffer, pdu.byteOffset);
  give(pdu);
  simulation.run(300);
  expect([a.count(counter), a.prefixes()]).toEqual([1, []]);
  expect(acknowledged).toEqual([`${view.getUint32(20)} ${view.getUint16(24)}`]);
  expect(a.speaker.levels.get(2)!.lsdb.byKey.has(`${C}.00-00`)).toBe(true);
  expect(a.state).toBe('up');
});

test.each<[string, () => Uint8Array]>([
  ['with a TLV that is malformed', () => fragment(8, [bad])],
  ['that cannot be read', () => overrun(fragment(8))],
  ['that is a purge with a wrong checksum', () => patched(fragment(8, [], { remainingLifetime: 0 }), 24, 1, 2)],
])('one %s replaces another after FRR had time to say that it does not have it', (_claim, build) => {
  const { simulation, a, give, wire } = adjacency();
  // B is as silent as an FRR that has it.
  wire.filter = silent;
  give(fragment(7, TWO));
  give(build());
  simulation.run(5000);
  expect([texts(a).length, a.count('isis.lsp.doubted')]).toEqual([2, 1]);
  simulation.run(2000);
  expect([texts(a).length, a.count('isis.lsp.refused-by-neighbor')]).toEqual([0, 0]);
  give(fragment(9, TWO));
  expect(texts(a)).toHaveLength(2);
});

test.each<[string, (s: ReturnType<typeof adjacency>) => void]>([
  ['in an SNP', ({ give }) => give(psnpOf(7))],
  ['by sending it', ({ give }) => give(fragment(7, TWO))],
])('one that FRR does not have, as it says %s, is forgotten, and what was known stays', (_claim, answer) => {
  const scene = adjacency();
  const { simulation, a, give, wire } = scene;
  wire.filter = silent;
  give(fragment(7, TWO));
  give(overrun(fragment(8)));
  simulation.run(1000);
  answer(scene);
  simulation.run(30_000);
  expect([texts(a).length, a.count('isis.lsp.refused-by-neighbor')]).toEqual([2, 1]);
  expect(a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence).toBe(7);
});

test('one that is stored is not sent, and forgotten when FRR asks for it', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = silent;
  give(overrun(fragment(8)));
  simulation.run(1000);
  const sent = a.count('isis.tx.lsp');
  give(psnpOf(0));
  simulation.run(20_000);
  expect([a.count('isis.tx.lsp'), a.speaker.levels.get(2)!.lsdb.byKey.has(KEY)]).toEqual([sent, false]);
});

test('the same odd one again changes nothing, a newer one begins its time anew', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = silent;
  give(fragment(7, TWO));
  give(overrun(fragment(8)));
  simulation.run(3000);
  give(overrun(fragment(8)));
  expect(a.count('isis.lsp.doubted')).toBe(1);
  simulation.run(2000);
  give(overrun(fragment(9)));
  expect(a.count('isis.lsp.doubted')).toBe(2);
  simulation.run(5000);
  expect(texts(a)).toHaveLength(2);
  simulation.run(2000);
  expect([texts(a).length, a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence]).toEqual([0, 9]);
});

test('no more than 1,024 are in doubt at a time; beyond that they are taken as they are', () => {
  const { simulation, a, wire } = adjacency({ lsdbLimit: 5000 });
  wire.filter = silent;
  const of = (n: number, sequence: number): Uint8Array =>
    lsp({ sequence, lspId: { systemId: Uint8Array.of(9, 0, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 } });
  for (let n = 0; n < 1030; n++) a.deliver(of(n, 7));
  for (let n = 0; n < 1030; n++) a.deliver(overrun(of(n, 8)));
  simulation.run(500);
  const level = a.speaker.levels.get(2)!;
  expect([
    level.doubts.size,
    a.count('isis.lsp.doubted'),
    [...level.lsdb.byKey.values()].filter(({ odd }) => odd).length,
  ]).toEqual([1024, 1024, 6]);
  // One that is in doubt already does not need another place.
  a.deliver(overrun(of(3, 9)));
  simulation.run(100);
  expect([level.doubts.size, level.lsdb.byKey.get('0900.0000.0003.00-00')!.sequence]).toEqual([1024, 7]);
});

test('an odd one that is stored and of which FRR sends an older version is forgotten, and the older one taken', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = silent;
  give(overrun(fragment(8)));
  give(fragment(7, TWO));
  simulation.run(1000);
  expect([
    texts(a).length,
    a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence,
    a.count('isis.lsp.refused-by-neighbor'),
  ]).toEqual([2, 7, 1]);
});
