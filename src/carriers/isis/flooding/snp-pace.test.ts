// Sequence number PDUs: when they are sent, and what they list of odd LSPs.
import { describe, expect, test } from 'vitest';
import type { IsisTlv, LspEntry } from '../../../packet/isis/tlv/types.ts';
import { B, C, type Scene, adjacency, csnp, entry, lsp, psnp } from '../hostile.fixture.ts';
import { proxied, systemId } from '../simulation.fixture.ts';

const idOf = (n: number) => ({ systemId: Uint8Array.of(0x10, 0, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 });
const KEY = `${C}.00-00`;
const levelOf = ({ a }: Scene) => a.speaker.levels.get(2)!;

/** Collects when A sends SNPs of this kind from now on, and their entries. */
function watched({ wire, simulation }: Scene, kind: 'csnp' | 'psnp'): { at: number; entries: LspEntry[] }[] {
  const start = simulation.now;
  const sent: { at: number; entries: LspEntry[] }[] = [];
  wire.filter = (pdu, from) => {
    if (from === 0 && pdu.kind === kind) {
      const entries = pdu.tlvs.flatMap((tlv) => (tlv.kind === 'lsp-entries' ? tlv.entries : []));
      sent.push({ at: simulation.now - start, entries });
    }
    return from === 0 || pdu.kind === 'p2p-hello';
  };
  return sent;
}

describe('the pace', () => {
  test('of a set of CSNPs: eight in a burst, then a pause of 10 ms', () => {
    const scene = adjacency({ mtu: 200 });
    const { a, simulation } = scene;
    for (let n = 0; n < 190; n++) a.deliver(lsp({ lspId: idOf(n) }));
    simulation.run(2000);
    a.event({ type: 'link-down', reason: 'test' });
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    const sent = watched(scene, 'csnp');
    simulation.run(3000);
    const from = sent[0]!.at;
    expect(sent.map(({ at }) => at - from)).toEqual(sent.map((_, i) => 10 * Math.floor(i / 8)));
    expect(sent.length).toBeGreaterThan(16);
    expect(sent.flatMap(({ entries }) => entries)).toHaveLength(levelOf(scene).lsdb.order.length);
  });

  test.each([1, 2, 3, 9, 10, 11])('of a database that lacks %i to fill CSNPs of ten: the last one is sent', (left) => {
    // 33 bytes of header, 2 and 10 × 16 of entries, and 3 of LLC.
    const scene = adjacency({ mtu: 33 + 2 + 160 + 3 });
    const { a, simulation } = scene;
    for (let n = 0; n < 20 + left - levelOf(scene).lsdb.order.length; n++) a.deliver(lsp({ lspId: idOf(n) }));
    simulation.run(2000);
    a.event({ type: 'link-down', reason: 'test' });
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    const sent = watched(scene, 'csnp');
    simulation.run(3000);
    const sizes = [10, 10, Math.min(left, 10), left - 10].filter((size) => size > 0);
    expect(sent.map(({ entries }) => entries.length)).toEqual(sizes);
  });

  test('of a link that is a byte too small for the tenth entry: nine', () => {
    const scene = adjacency({ mtu: 33 + 2 + 160 + 3 - 1 });
    const { a, simulation } = scene;
    for (let n = 0; n < 18; n++) a.deliver(lsp({ lspId: idOf(n) }));
    simulation.run(2000);
    a.event({ type: 'link-down', reason: 'test' });
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    const sent = watched(scene, 'csnp');
    simulation.run(3000);
    expect(sent.map(({ entries }) => entries.length)).toEqual([9, 9, 2]);
  });

  test('of a database with an LSP ID that ends in all ones: the next CSNP begins after it', () => {
    const scene = adjacency({ mtu: 33 + 2 + 160 + 3 });
    const { a, simulation } = scene;
    const ones = Uint8Array.of(0x10, 255, 255, 255, 255, 255);
    for (let n = 0; n < 7; n++) a.deliver(lsp({ lspId: idOf(n) }));
    a.deliver(lsp({ lspId: { systemId: ones, pseudonode: 255, fragment: 255 } }));
    a.deliver(lsp({ lspId: { ...idOf(0), systemId: Uint8Array.of(0x11, 0, 0, 0, 0, 0) } }));
    simulation.run(2000);
    a.event({ type: 'link-down', reason: 'test' });
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    const sent = watched(scene, 'csnp');
    simulation.run(3000);
    expect(sent.map(({ entries }) => entries.length)).toEqual([10, 1]);
  });

  test('of requests: each one second after the LSP was listed, then every five', () => {
    const scene = adjacency();
    scene.simulation.run(5000);
    const sent = watched(scene, 'psnp');
    scene.give(psnp([entry({ lspId: idOf(1) })]));
    scene.simulation.run(490);
    scene.give(psnp([entry({ lspId: idOf(2) })]));
    scene.simulation.run(7000);
    expect(sent.map(({ at, entries }) => [at, entries[0]!.lspId.systemId[5], entries.length])).toEqual([
      [1000, 1, 1],
      [1500, 2, 1],
      [6000, 1, 1],
      [6500, 2, 1],
    ]);
  });

  test('of acknowledgments: a full packet is sent at once, one that lacks an entry waits', () => {
    // 17 bytes of header, 2 and 4 × 16 of entries, and 3 of LLC.
    const of = (count: number): number[] => {
      const scene = adjacency({ mtu: 17 + 2 + 64 + 3 });
      scene.simulation.run(5000);
      const sent = watched(scene, 'psnp');
      for (let n = 0; n < count; n++) scene.a.deliver(lsp({ lspId: idOf(n) }));
      scene.simulation.run(1000);
      return sent.flatMap(({ at, entries }) => [at, entries.length]);
    };
    expect([of(3), of(4)]).toEqual([
      [200, 3],
      [0, 4],
    ]);
  });

  test('a TLV of entries holds 15 of them, and the 16th begins another (ISO/IEC 10589 §9.10)', () => {
    const of = (count: number): number[] => {
      const scene = adjacency();
      scene.give(psnp(Array.from({ length: count }, (_, n) => entry({ lspId: idOf(n) }))));
      const lengths: number[] = [];
      scene.wire.filter = (pdu, from) => {
        if (from === 0 && pdu.kind === 'psnp')
          lengths.push(...pdu.tlvs.map((tlv) => (tlv.kind === 'lsp-entries' ? tlv.entries.length : -1)));
        return true;
      };
      scene.simulation.run(1500);
      return lengths;
    };
    expect([of(14), of(15), of(16), of(30)]).toEqual([[14], [15], [15, 1], [15, 15]]);
  });
});

describe('an odd LSP', () => {
  const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
  const scene = (): Scene & { listed: LspEntry } => {
    const net = adjacency();
    net.simulation.run(5000);
    watched(net, 'psnp');
    net.give(lsp({ tlvs: [bad] }));
    const stored = levelOf(net).lsdb.byKey.get(KEY)!;
    return { ...net, listed: entry({ sequence: stored.sequence, checksum: stored.checksum }) };
  };
  const outcome = (net: Scene): unknown[] => [
    net.a.count('isis.lsp.refused-by-neighbor'),
    levelOf(net).lsdb.byKey.has(KEY),
  ];

  test('that FRR lists in the same or a newer version stays', () => {
    for (const more of [{}, { sequence: 8 }]) {
      for (const snp of [csnp({}, [{ ...scene().listed, ...more }]), psnp([{ ...scene().listed, ...more }])]) {
        const net = scene();
        net.give(snp);
        expect(outcome(net)).toEqual([0, true]);
      }
    }
  });

  test('that FRR lists in an older version is forgotten, and the older one requested', () => {
    const net = scene();
    net.give(psnp([{ ...net.listed, sequence: 6 }]));
    expect(outcome(net)).toEqual([1, false]);
    net.simulation.run(1500);
    expect(net.a.count('isis.lsp.requested')).toBe(1);
  });

  test('that FRR does not list within the range is forgotten and not sent; outside the range it stays', () => {
    const net = scene();
    const sent = net.a.count('isis.tx.lsp');
    const id = { ...net.listed.lspId };
    net.give(csnp({ start: { ...id, fragment: 1 } }));
    net.give(csnp({ end: { systemId: systemId(B), pseudonode: 255, fragment: 255 } }));
    expect(outcome(net)).toEqual([0, true]);
    const others = net.a.count('isis.tx.lsp') - sent;
    net.give(csnp({ start: id, end: id }));
    expect(outcome(net)).toEqual([1, false]);
    net.simulation.run(100);
    expect(net.a.count('isis.tx.lsp') - sent).toBe(others);
  });
});

test('an LSP that an SNP lists in two versions is logged by its ID', () => {
  const net = adjacency();
  net.give(psnp([entry(), entry({ sequence: 8 })]));
  expect(net.a.logged.map(({ fields }) => fields)).toContainEqual({ counter: 'isis.snp.contradictory', lsp: KEY });
});

test('an unfinished set of CSNPs ends with the adjacency', () => {
  const net = adjacency({ mtu: 200 });
  for (let n = 0; n < 190; n++) net.a.deliver(lsp({ lspId: idOf(n) }));
  net.simulation.run(2000);
  net.a.event({ type: 'link-down', reason: 'test' });
  net.a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
  net.simulation.until('some are sent', () => levelOf(net).csnpFrom !== undefined);
  net.a.event({ type: 'link-down', reason: 'test' });
  expect({ csnpAt: levelOf(net).csnpAt, csnpFrom: levelOf(net).csnpFrom }).toEqual({
    csnpAt: Infinity,
    csnpFrom: undefined,
  });
});
