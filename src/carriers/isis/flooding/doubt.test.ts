// LSPs with odd content: kept as ISO/IEC 10589 requires, but they do not replace what FRR has.
import { expect, test } from 'vitest';
import { formatPrefix } from '../../../model/prefix.ts';
import { overrun, prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { ReceivedPdu } from '../../../packet/isis/types.ts';
import { B, C, adjacency, entry, lsp, patched, reachedOnce } from '../hostile.fixture.ts';
import { type Agent, systemId } from '../simulation.fixture.ts';

const prefixes = (...texts: string[]): IsisTlv[] => [tlv236(...texts.map((text) => prefixEntry(text)))];
const TWO = prefixes('2001:db8:1::/48', '2001:db8:2::/48');
/** B sends no SNPs, like an FRR that has the same LSPs. */
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
])('one %s is stored, acknowledged and listed, but nothing is learned from it', (_claim, counter, build) => {
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
  expect({ counter: a.count(counter), prefixes: a.prefixes() }).toEqual({ counter: 1, prefixes: [] });
  expect(acknowledged).toEqual([`${view.getUint32(20)} ${view.getUint16(24)}`]);
  expect(a.speaker.levels.get(2)!.lsdb.byKey.has(`${C}.00-00`)).toBe(true);
  expect(a.state).toBe('up');
});

test.each<[string, () => Uint8Array]>([
  ['with a TLV that is malformed', () => fragment(8, [bad])],
  ['that cannot be read', () => overrun(fragment(8))],
  ['that is a purge with a wrong checksum', () => patched(fragment(8, [], { remainingLifetime: 0 }), 24, 1, 2)],
])('one %s replaces another once FRR had time to report that it lacks it', (_claim, build) => {
  const { simulation, a, give, wire } = adjacency();
  // B sends nothing, like an FRR that has it.
  wire.filter = silent;
  give(fragment(7, TWO));
  give(build());
  simulation.run(5000);
  expect({ textsLength: texts(a).length, isisLspDoubted: a.count('isis.lsp.doubted') }).toEqual({
    textsLength: 2,
    isisLspDoubted: 1,
  });
  simulation.run(2000);
  expect({ textsLength: texts(a).length, isisLspRefusedByNeighbor: a.count('isis.lsp.refused-by-neighbor') }).toEqual({
    textsLength: 0,
    isisLspRefusedByNeighbor: 0,
  });
  give(fragment(9, TWO));
  expect(texts(a)).toHaveLength(2);
});

test.each<[string, (s: ReturnType<typeof adjacency>) => void]>([
  ['in an SNP', ({ give }) => give(psnpOf(7))],
  ['by sending it', ({ give }) => give(fragment(7, TWO))],
])('one that FRR reports lacking %s is forgotten, and the known version stays', (_claim, answer) => {
  const scene = adjacency();
  const { simulation, a, give, wire } = scene;
  wire.filter = silent;
  give(fragment(7, TWO));
  give(overrun(fragment(8)));
  simulation.run(1000);
  answer(scene);
  simulation.run(30_000);
  expect({ textsLength: texts(a).length, isisLspRefusedByNeighbor: a.count('isis.lsp.refused-by-neighbor') }).toEqual({
    textsLength: 2,
    isisLspRefusedByNeighbor: 1,
  });
  expect(a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence).toBe(7);
});

test('a stored one is not sent, and is forgotten when FRR requests it', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = silent;
  give(overrun(fragment(8)));
  simulation.run(1000);
  const sent = a.count('isis.tx.lsp');
  give(psnpOf(0));
  simulation.run(20_000);
  expect({ isisTxLsp: a.count('isis.tx.lsp'), hasKey: a.speaker.levels.get(2)!.lsdb.byKey.has(KEY) }).toEqual({
    isisTxLsp: sent,
    hasKey: false,
  });
});

test('a repeated odd LSP changes nothing; a newer one restarts the wait', () => {
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
  expect({ textsLength: texts(a).length, sequence: a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence }).toEqual({
    textsLength: 0,
    sequence: 9,
  });
});

test('at most 1,024 are in doubt at a time; further ones are stored at once', () => {
  const { simulation, a, wire } = adjacency({ lsdbLimit: 5000 });
  wire.filter = silent;
  const of = (n: number, sequence: number): Uint8Array =>
    lsp({ sequence, lspId: { systemId: Uint8Array.of(9, 0, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 } });
  for (let n = 0; n < 1030; n++) a.deliver(of(n, 7));
  for (let n = 0; n < 1030; n++) a.deliver(overrun(of(n, 8)));
  simulation.run(500);
  const level = a.speaker.levels.get(2)!;
  expect({
    doubtsSize: level.doubts.size,
    isisLspDoubted: a.count('isis.lsp.doubted'),
    byKeyLength: [...level.lsdb.byKey.values()].filter(({ odd }) => odd).length,
  }).toEqual({ doubtsSize: 1024, isisLspDoubted: 1024, byKeyLength: 6 });
  // A newer version of one already in doubt needs no further place.
  a.deliver(overrun(of(3, 9)));
  simulation.run(100);
  expect({ doubtsSize: level.doubts.size, sequence: level.lsdb.byKey.get('0900.0000.0003.00-00')!.sequence }).toEqual({
    doubtsSize: 1024,
    sequence: 7,
  });
});

test('a stored odd one is forgotten when FRR sends an older version, which is stored', () => {
  const { simulation, a, give, wire } = adjacency();
  wire.filter = silent;
  give(overrun(fragment(8)));
  give(fragment(7, TWO));
  simulation.run(1000);
  expect({
    textsLength: texts(a).length,
    sequence: a.speaker.levels.get(2)!.lsdb.byKey.get(KEY)!.sequence,
    isisLspRefusedByNeighbor: a.count('isis.lsp.refused-by-neighbor'),
  }).toEqual({ textsLength: 2, sequence: 7, isisLspRefusedByNeighbor: 1 });
});
