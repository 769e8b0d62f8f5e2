// The update process, case by case (ISO/IEC 10589 §7.3.15, §7.3.16): what is acknowledged, kept, sent and logged, and
// how fast.
import { describe, expect, test } from 'vitest';
import { P_FLAG, prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, LspEntry } from '../../../packet/isis/tlv/types.ts';
import { packNeighbors } from '../../../packet/isis/tlv/is-reachability.ts';
import { A, B, C, type Scene, adjacency, csnp, lsp, patched, reachedOnce } from '../hostile.fixture.ts';
import { END_CON, endCon, systemId } from '../simulation.fixture.ts';

const KEY = `${C}.00-00`;
const idOf = (n: number) => ({ systemId: Uint8Array.of(9, 0, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 });
const levelOf = ({ a }: Scene) => a.speaker.levels.get(2)!;
const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
const prefixes = (...flags: boolean[]): IsisTlv =>
  tlv236(...flags.map((flag) => prefixEntry('2001:db8:1::/48', flag ? [P_FLAG] : [])));

/** Collects what A acknowledges from now on, to a neighbor that sends no SNPs, like one that has the same LSPs. */
function acknowledged({ wire }: Scene): LspEntry[] {
  const entries: LspEntry[] = [];
  wire.filter = (pdu, from) => {
    if (from === 0 && pdu.kind === 'psnp')
      entries.push(...pdu.tlvs.flatMap((tlv) => (tlv.kind === 'lsp-entries' ? tlv.entries : [])));
    return from === 0 || pdu.kind === 'p2p-hello';
  };
  return entries;
}

describe('sending', () => {
  test('LSPs due at once are sent ten at a time, 10 ms apart', () => {
    const scene = adjacency();
    const { a, simulation, wire, give } = scene;
    for (let n = 0; n < 33; n++) give(lsp({ lspId: idOf(n) }));
    simulation.run(5000);
    const all = levelOf(scene).lsdb.byKey.size;
    const times: number[] = [];
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') times.push(simulation.now);
      return true;
    };
    const start = simulation.now;
    a.deliver(csnp());
    simulation.run(100);
    expect(times.map((at) => at - start)).toEqual(Array.from({ length: all }, (_, i) => 10 * Math.floor(i / 10)));
  });

  test('an LSP waiting for its acknowledgment causes no earlier wake-up', () => {
    const scene = adjacency();
    const { a, simulation, give } = scene;
    for (const n of [1, 2]) give(lsp({ lspId: idOf(n) }));
    simulation.run(5000);
    scene.wire.filter = (pdu) => pdu.kind === 'p2p-hello';
    a.deliver(csnp({ start: idOf(1), end: idOf(1) }));
    simulation.run(3000);
    const first = levelOf(scene).floodAt;
    a.deliver(csnp({ start: idOf(2), end: idOf(2) }));
    simulation.run(20);
    expect({ srmSize: levelOf(scene).srm.size, floodAt: levelOf(scene).floodAt }).toEqual({
      srmSize: 2,
      floodAt: first,
    });
    expect(first - simulation.now).toBeGreaterThan(1900);
  });

  test('a sent PDU keeps the lifetime that it had when sent', () => {
    const scene = adjacency();
    scene.give(lsp());
    scene.simulation.run(5000);
    scene.wire.filter = (pdu) => pdu.kind === 'p2p-hello';
    scene.a.sent.length = 0;
    scene.a.deliver(csnp({ start: { ...idOf(0), systemId: systemId(C) }, end: { ...idOf(0), systemId: systemId(C) } }));
    scene.simulation.run(11_000);
    const lifetimes = scene.a.sent.flatMap((bytes) => {
      const pdu = decodePdu(bytes);
      return pdu.ok && pdu.value.kind === 'lsp' ? [pdu.value.remainingLifetime] : [];
    });
    expect(lifetimes.map((each) => each - lifetimes[0]!)).toEqual([0, -5, -10]);
  });

  test('without an adjacency nothing is sent, not even the purge of an expired LSP', () => {
    const scene = adjacency();
    const { a, simulation, give } = scene;
    give(lsp({ remainingLifetime: 60 }));
    a.event({ type: 'link-down', reason: 'gone' });
    const sent = a.count('isis.tx.lsp');
    simulation.run(70_000);
    expect(levelOf(scene).lsdb.byKey.get(KEY)).toMatchObject({ purged: true });
    expect({ srmSize: levelOf(scene).srm.size, isisTxLsp: a.count('isis.tx.lsp') }).toEqual({
      srmSize: 0,
      isisTxLsp: sent,
    });
  });
});

describe('an LSP of another system', () => {
  test('that is refused for lack of headroom is not acknowledged, and its old version is not sent', () => {
    const scene = adjacency({ lsdbBytes: 6000 });
    const { a, simulation, give } = scene;
    for (const n of [1, 2]) give(lsp({ lspId: idOf(n) }));
    simulation.run(5000);
    const entries = acknowledged(scene);
    const big = packNeighbors(
      Array.from({ length: 60 }, () => ({
        systemId: systemId(B),
        pseudonode: 0,
        metric: 1,
        subTlvs: new Uint8Array(0),
      })),
    );
    a.deliver(csnp({ start: idOf(1), end: idOf(1) }));
    a.deliver(lsp({ lspId: idOf(1), sequence: 8, tlvs: big }));
    a.deliver(lsp({ lspId: idOf(3), tlvs: big }));
    simulation.run(10_000);
    expect({ isisLsdbFull: a.count('isis.lsdb.full'), entries, srmSize: levelOf(scene).srm.size }).toEqual({
      isisLsdbFull: 2,
      entries: [],
      srmSize: 0,
    });
    expect([...levelOf(scene).lsdb.byKey.keys()].filter((key) => key.startsWith('09'))).toEqual([
      '0900.0000.0002.00-00',
    ]);
  });

  test.each<[string, Uint8Array]>([
    ['with a malformed TLV', lsp({ sequence: 8, tlvs: [bad] })],
    ['that is a purge with a wrong checksum', patched(lsp({ sequence: 8, remainingLifetime: 0 }), 24, 1, 2)],
    ['that refreshes the known version', lsp({ sequence: 8 })],
    ['that is a purge', lsp({ sequence: 8, remainingLifetime: 0 })],
    ['that repeats the known version', lsp({ sequence: 7 })],
  ])('%s is acknowledged', (_what, pdu) => {
    const scene = adjacency();
    scene.give(lsp());
    scene.simulation.run(1000);
    const entries = acknowledged(scene);
    scene.give(pdu);
    scene.simulation.run(300);
    expect(entries).toMatchObject([{ sequence: pdu[23], checksum: (pdu[24]! << 8) | pdu[25]! }]);
  });

  test('that repeats the known version does not extend its lifetime', () => {
    const scene = adjacency();
    const { simulation, give } = scene;
    give(lsp({ remainingLifetime: 100 }));
    const { expiresAt } = levelOf(scene).lsdb.byKey.get(KEY)!;
    simulation.run(50_000);
    give(lsp({ remainingLifetime: 100 }));
    expect(levelOf(scene).lsdb.byKey.get(KEY)).toMatchObject({ expiresAt, purged: false });
    simulation.run(51_000);
    expect(levelOf(scene).lsdb.byKey.get(KEY)).toMatchObject({ purged: true });
  });

  test('whose purge arrives first is only acknowledged, not stored (§7.3.16.4 b)', () => {
    const scene = adjacency();
    const entries = acknowledged(scene);
    scene.give(lsp({ remainingLifetime: 0 }));
    scene.simulation.run(300);
    expect(entries).toMatchObject([{ sequence: 7, remainingLifetime: 0 }]);
    expect(levelOf(scene).lsdb.byKey.has(KEY)).toBe(false);
  });

  test('that is odd and arrives again, the same or newer, does not mean that FRR lacks it', () => {
    const scene = adjacency();
    for (const sequence of [7, 7, 8]) scene.give(lsp({ sequence, tlvs: [bad] }));
    expect({
      isisLspRefusedByNeighbor: scene.a.count('isis.lsp.refused-by-neighbor'),
      key: levelOf(scene).lsdb.byKey.get(KEY),
    }).toMatchObject({ isisLspRefusedByNeighbor: 0, key: { sequence: 8, odd: true } });
  });

  test('counts with its prefixes and its SIDs', () => {
    const scene = adjacency();
    reachedOnce(scene.a);
    const { sid, locator } = endCon('2001:db8:c::1', '2001:db8:c::/48');
    const subTlvs = [{ kind: 'srv6-end-sid', flags: 0, behavior: END_CON, sid, subSubTlvs: new Uint8Array() } as const];
    const sids: IsisTlv = {
      kind: 'srv6-locator',
      mtId: 0,
      locators: [{ prefix: locator, metric: 1, flags: 0, algorithm: 0, subTlvs }],
    };
    scene.give(lsp({ tlvs: [prefixes(false, false), sids] }));
    expect(levelOf(scene).lsdb.byKey.get(KEY)).toMatchObject({ entries: 3 });
    expect(scene.a.sids()).toMatchObject([{ sid }]);
  });

  test.each([
    [[2], 0],
    [[1, 2], 1],
  ] as const)('its entries with the P-flag are kept by an agent of levels %j: %i', (levels, kept) => {
    const scene = adjacency({ levels });
    reachedOnce(scene.a);
    scene.give(lsp({ tlvs: [prefixes(true)] }));
    const { content } = levelOf(scene).lsdb.byKey.get(KEY)!;
    expect({ leakableLength: content.leakable.length, proxyPrefixes: content.proxyPrefixes }).toEqual({
      leakableLength: kept,
      proxyPrefixes: 1,
    });
  });
});

describe('an LSP of ours', () => {
  const ours = (fragment: number, more: object = {}): Uint8Array =>
    lsp({ lspId: { systemId: systemId(A), pseudonode: 0, fragment }, ...more });

  test('that is purged and that we do not originate is only acknowledged', () => {
    const scene = adjacency();
    const entries = acknowledged(scene);
    const purged = scene.a.count('isis.own.purged');
    scene.give(ours(77, { remainingLifetime: 0 }));
    scene.simulation.run(1000);
    expect(entries).toMatchObject([{ sequence: 7, remainingLifetime: 0, lspId: { fragment: 77 } }]);
    expect(scene.a.count('isis.own.purged')).toBe(purged);
  });

  test.each([
    ['newer', { sequence: 5000 }, [0, 0, 1]],
    ['with different contents and our sequence number', {}, [0, 1, 1]],
    ['purged', { remainingLifetime: 0 }, [1, 0, 1]],
  ])('that is received %s is outbid, and counted by cause', (_what, fields, counts) => {
    const scene = adjacency();
    const { sequence } = levelOf(scene).lsdb.byKey.get(`${A}.00-00`)!;
    scene.give(ours(0, { sequence, ...fields }));
    const names = ['isis.own.foreign-purge', 'isis.own.confusion', 'isis.own.sequence-bumped'];
    expect(names.map((name) => scene.a.count(name))).toEqual(counts);
  });
});

test.each<[string, object, Uint8Array[]]>([
  ['isis.lsp.confusion', { lsp: KEY }, [lsp(), lsp({ tlvs: [bad] })]],
  ['isis.lsp.contradictory-prefix', { lsp: KEY }, [lsp({ tlvs: [prefixes(true, false)] })]],
  [
    'isis.lsp.unusable.zero-checksum',
    { lsp: KEY, detail: expect.stringContaining('checksum 0') as string },
    [patched(lsp(), 24, 0, 0)],
  ],
  ['isis.lsdb.full', { level: 2, lsp: KEY, lsps: 2 }, [lsp()]],
])('the warning %s names the LSP', (counter, fields, pdus) => {
  const scene = adjacency(counter.endsWith('full') ? { lsdbLimit: 2 } : {});
  for (const pdu of pdus) scene.give(pdu);
  expect(scene.a.logged.map((each) => each.fields)).toContainEqual(expect.objectContaining({ counter, ...fields }));
});
