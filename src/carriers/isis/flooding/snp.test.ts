// Sequence number PDUs: which LSPs a set of CSNPs covers, what PSNPs request and how often, and contradictory SNPs.
import { describe, expect, test } from 'vitest';
import { FIRST_LSP_ID, LAST_LSP_ID, formatLspId, lspIdBytes } from '../../../packet/isis/lsp-id.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { LspEntry } from '../../../packet/isis/tlv/types.ts';
import type { Csnp, Psnp } from '../../../packet/isis/types.ts';
import { A, B, C, adjacency, csnp, entry, lsp, psnp } from '../hostile.fixture.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';

const entriesOf = (pdu: Csnp | Psnp): LspEntry[] =>
  pdu.tlvs.flatMap((tlv) => (tlv.kind === 'lsp-entries' ? tlv.entries : []));
const sentOf = <K extends 'csnp' | 'psnp'>({ sent }: Agent, kind: K): (K extends 'csnp' ? Csnp : Psnp)[] =>
  sent
    .map((bytes) => decodePdu(bytes))
    .flatMap((pdu) => (pdu.ok && pdu.value.kind === kind ? [pdu.value as never] : []));
const idOf = (n: number, fragment = 0) => ({
  systemId: Uint8Array.of(0x10, 0, 0, 0, n >> 8, n & 255),
  pseudonode: n % 7 === 0 ? 255 : 0,
  fragment,
});

describe('the CSNPs at the start of an adjacency (ISO/IEC 10589 §7.3.15.2)', () => {
  const flap = (lsps: number, fragment: (n: number) => number = () => 0) => {
    const { simulation, a, b } = adjacency();
    for (let n = 0; n < lsps; n++) a.deliver(lsp({ lspId: idOf(n, fragment(n)) }));
    simulation.run(2000);
    a.event({ type: 'link-down', reason: 'test' });
    a.sent.length = 0;
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    simulation.run(5000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'up', bState: 'up' });
    return { a, pdus: sentOf(a, 'csnp') };
  };

  test('of a small database are one, from the first LSP ID to the last', () => {
    const { a, pdus } = flap(3);
    expect(pdus).toMatchObject([{ start: FIRST_LSP_ID, end: LAST_LSP_ID }]);
    expect(entriesOf(pdus[0]!).map(({ lspId }) => formatLspId(lspId))).toEqual([
      ...a.speaker.levels.get(2)!.lsdb.order,
    ]);
  });

  test('of a large one list every LSP once, in order and without gaps, in packets that fit the link', () => {
    const { a, pdus } = flap(900, (n) => (n % 3 === 0 ? 255 : n & 255));
    const { order, byKey } = a.speaker.levels.get(2)!.lsdb;
    expect(pdus.flatMap(entriesOf).map(({ lspId }) => formatLspId(lspId))).toEqual([...order]);
    for (const each of pdus.flatMap(entriesOf)) {
      const { system, sequence, checksum } = byKey.get(formatLspId(each.lspId))!;
      if (system !== A && system !== B) expect(each).toMatchObject({ sequence, checksum });
    }
    // Eight in a burst, and a pause.
    expect(pdus.length).toBeGreaterThan(8);
    expect({ start: pdus[0]!.start, end: pdus.at(-1)!.end }).toEqual({ start: FIRST_LSP_ID, end: LAST_LSP_ID });
    const number = (id: Csnp['start']): bigint => BigInt(`0x${Buffer.from(lspIdBytes(id)).toString('hex')}`);
    pdus.forEach((pdu, i) => {
      if (i > 0) expect(number(pdu.start)).toBe(number(pdus[i - 1]!.end) + 1n);
      for (const { lspId } of entriesOf(pdu)) {
        expect(number(lspId)).toBeGreaterThanOrEqual(number(pdu.start));
        expect(number(lspId)).toBeLessThanOrEqual(number(pdu.end));
      }
    });
    expect(pdus.some((pdu) => pdu.end.fragment === 255 && pdu.end.pseudonode !== 255)).toBe(true);
    const sizes = a.sent.filter((bytes) => [24, 25].includes(bytes[4]! & 31)).map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1497);
    // No more packets than necessary: another entry would not have fitted.
    expect(sizes[0]! + 16).toBeGreaterThan(1497);
  });

  test('with authentication leave space for the digest', () => {
    const { simulation, a } = adjacency({
      keys: { domain: new TextEncoder().encode('k'), interface: new TextEncoder().encode('k') },
      lsdbLimit: 1000,
    });
    a.event(
      originate(
        Array.from({ length: 255 * 40 }, (_, n) => proxied(`2001:db8:0:${n.toString(16)}::/64`)).slice(0, 4000),
      ),
    );
    simulation.run(5000);
    a.event({ type: 'link-down', reason: 'test' });
    a.sent.length = 0;
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    simulation.run(3000);
    expect(sentOf(a, 'csnp').length).toBeGreaterThan(1);
    expect(Math.max(...a.sent.map(({ length }) => length))).toBeLessThanOrEqual(1497);
  });
});

describe('requests', () => {
  test('an LSP that the neighbor lists but never sends is requested every 5 s for a minute, then only when listed again', () => {
    const { simulation, a, give } = adjacency();
    a.sent.length = 0;
    give(csnp({}, [entry()]));
    simulation.run(900);
    expect(sentOf(a, 'psnp')).toEqual([]);
    simulation.run(200);
    const asked = (): unknown[] => sentOf(a, 'psnp').flatMap(entriesOf);
    expect(asked()).toEqual([{ ...entry(), sequence: 0 }]);
    simulation.run(5000);
    expect(asked()).toHaveLength(2);
    // Listed again while being requested: not requested more often.
    give(csnp({}, [entry()]));
    simulation.run(80_000);
    expect({
      askedLength: asked().length,
      isisLspRequested: a.count('isis.lsp.requested'),
      isisLspRequestUnanswered: a.count('isis.lsp.request-unanswered'),
    }).toEqual({ askedLength: 12, isisLspRequested: 12, isisLspRequestUnanswered: 1 });
    give(csnp({}, [entry()]));
    simulation.run(2000);
    expect(asked()).toHaveLength(13);
  });

  test('an LSP that has arrived is no longer requested', () => {
    const { simulation, a, give } = adjacency();
    give(csnp({}, [entry()]));
    give(lsp());
    simulation.run(30_000);
    expect(a.count('isis.lsp.requested')).toBe(0);
  });

  test('for a newer version name our version', () => {
    const { simulation, a, give } = adjacency();
    give(lsp());
    simulation.run(1000);
    a.sent.length = 0;
    const stored = a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)!;
    give(psnp([entry({ sequence: 9 })]));
    simulation.run(1500);
    expect(sentOf(a, 'psnp').flatMap(entriesOf)).toMatchObject([{ sequence: 7, checksum: stored.checksum }]);
  });

  test.each([
    ['that is being purged', { remainingLifetime: 0 }],
    ['with sequence number 0', { sequence: 0 }],
  ])('an LSP %s is not requested', (_what, fields) => {
    const { simulation, a, give } = adjacency();
    give(psnp([entry(fields)]));
    simulation.run(30_000);
    expect(a.count('isis.lsp.requested')).toBe(0);
  });

  test('hundreds are packed into as few PSNPs as possible', () => {
    const { simulation, a, give } = adjacency();
    a.sent.length = 0;
    for (let n = 0; n < 200; n += 50) give(psnp(Array.from({ length: 50 }, (_, i) => entry({ lspId: idOf(n + i) }))));
    simulation.run(1500);
    const pdus = sentOf(a, 'psnp');
    expect(pdus.flatMap(entriesOf)).toHaveLength(200);
    // At least one full packet, and at most one that is not full.
    expect(pdus.length).toBeLessThanOrEqual(4);
  });
});

describe('acknowledgments', () => {
  test('wait 200 ms for more, but a full packet is sent at once', () => {
    const { simulation, a } = adjacency();
    a.sent.length = 0;
    for (let n = 0; n < 100; n++) a.deliver(lsp({ lspId: idOf(n) }));
    simulation.run(20);
    expect(sentOf(a, 'psnp').flatMap(entriesOf).length).toBeGreaterThanOrEqual(90);
    simulation.run(300);
    expect(sentOf(a, 'psnp').flatMap(entriesOf)).toHaveLength(100);
    a.sent.length = 0;
    a.deliver(lsp({ sequence: 8 }));
    simulation.run(150);
    expect(sentOf(a, 'psnp')).toEqual([]);
    simulation.run(100);
    expect(sentOf(a, 'psnp').flatMap(entriesOf)).toMatchObject([{ sequence: 8 }]);
  });

  test('an LSP older than ours is answered with ours, and a pending acknowledgment is dropped', () => {
    const { simulation, a } = adjacency();
    a.deliver(lsp({ sequence: 7 }));
    a.deliver(lsp({ sequence: 6 }));
    a.sent.length = 0;
    simulation.run(300);
    expect({
      sentOfLength: sentOf(a, 'psnp').length,
      sequence: a.speaker.levels.get(2)!.lsdb.byKey.get(`${C}.00-00`)!.sequence,
    }).toEqual({ sentOfLength: 0, sequence: 7 });
    expect(a.count('isis.tx.lsp')).toBeGreaterThan(0);
  });
});

describe('an SNP', () => {
  test.each([
    ['the same version twice', [entry(), entry()], 0, 1],
    ['two sequence numbers', [entry(), entry({ sequence: 8 })], 1, 0],
    ['two checksums', [entry(), entry({ checksum: 0x4321 })], 1, 0],
    [
      'two contradictory entries, and one for another LSP',
      [entry(), entry({ checksum: 0x4321 }), entry({ lspId: idOf(1) })],
      1,
      1,
    ],
  ])('with %s for one LSP', (_what, entries, contradictory, asked) => {
    const { simulation, a, give } = adjacency();
    give(psnp(entries));
    simulation.run(1500);
    expect({
      isisSnpContradictory: a.count('isis.snp.contradictory'),
      isisLspRequested: a.count('isis.lsp.requested'),
    }).toEqual({ isisSnpContradictory: contradictory, isisLspRequested: asked });
  });

  test('entries at both ends of a CSNP’s range count; those outside do not', () => {
    const { simulation, a, give } = adjacency();
    const [first, inside, last, beyond] = [1, 2, 3, 4].map((n) => ({ ...idOf(n), pseudonode: 0 }));
    give(
      csnp(
        { start: first, end: last },
        [first, inside, last, beyond].map((lspId) => entry({ lspId: lspId! })),
      ),
    );
    simulation.run(1500);
    expect({
      isisLspRequested: a.count('isis.lsp.requested'),
      isisCsnpEntryOutsideRange: a.count('isis.csnp.entry-outside-range'),
    }).toEqual({ isisLspRequested: 3, isisCsnpEntryOutsideRange: 1 });
    give(csnp({ start: inside, end: last }, [entry({ lspId: first! })]));
    expect(a.count('isis.csnp.entry-outside-range')).toBe(2);
  });

  test('unlisted LSPs at the ends of a CSNP’s range are sent; those outside or being purged are not', () => {
    const { simulation, a, wire } = adjacency();
    simulation.run(5000);
    const ids = [1, 2, 3, 4].map((n) => ({ ...idOf(n), pseudonode: 0 }));
    for (const lspId of ids) a.deliver(lsp({ lspId }));
    a.deliver(lsp({ lspId: { ...ids[2]!, fragment: 1 } }));
    a.deliver(lsp({ lspId: { ...ids[2]!, fragment: 1 }, sequence: 8, remainingLifetime: 0 }));
    simulation.run(1000);
    const sent: string[] = [];
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') sent.push(formatLspId(pdu.lspId));
      return true;
    };
    a.deliver(csnp({ start: ids[1], end: { ...ids[3]!, fragment: 0 } }));
    simulation.run(100);
    expect(sent).toEqual(ids.slice(1).map(formatLspId));
  });

  test('a CSNP with a range of one LSP ID is valid', () => {
    const { a, give } = adjacency();
    give(csnp({ start: FIRST_LSP_ID, end: FIRST_LSP_ID }));
    expect(a.count('isis.csnp.bad-range')).toBe(0);
  });

  test('with an LSP of our system ID that we do not originate: purged without being received', () => {
    const { simulation, a, b, give } = adjacency();
    give(psnp([entry({ lspId: { systemId: systemId(A), pseudonode: 0, fragment: 77 } })]));
    simulation.run(1000);
    expect({
      isisOwnUnknownFragmentPurged: a.count('isis.own.unknown-fragment-purged'),
      isisLspRequested: a.count('isis.lsp.requested'),
    }).toEqual({ isisOwnUnknownFragmentPurged: 1, isisLspRequested: 0 });
    expect(b.speaker.levels.get(2)!.lsdb.byKey.has(`${A}.00-77`)).toBe(false);
  });

  test('with a newer version of our LSP: outbid', () => {
    const { simulation, b, give } = adjacency();
    give(psnp([entry({ lspId: { systemId: systemId(A), pseudonode: 0, fragment: 0 }, sequence: 5000 })]));
    simulation.run(1000);
    expect(b.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-00`)!.sequence).toBe(5001);
  });

  test('before the adjacency is up: ignored', () => {
    const simulation = new Simulation();
    const lonely = new Agent(simulation, testConfig(A));
    lonely.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    lonely.deliver(psnp([entry()]));
    simulation.run(3000);
    expect({
      isisSnpNoAdjacency: lonely.count('isis.snp.no-adjacency'),
      isisLspRequested: lonely.count('isis.lsp.requested'),
    }).toEqual({ isisSnpNoAdjacency: 1, isisLspRequested: 0 });
  });
});
