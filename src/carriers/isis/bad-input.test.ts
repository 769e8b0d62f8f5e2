// Malformed and contradictory PDUs: each kind has its own counter, nothing crashes, the adjacency stays up.
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { P_FLAG, prefixEntry, tlv236 } from '../../packet/isis/foreign.fixture.ts';
import { FIRST_LSP_ID, LAST_LSP_ID } from '../../packet/isis/lsp-id.ts';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
import { A, B, C, adjacency, csnp, entry, hello, lsp, patched, reachedOnce } from './hostile.fixture.ts';
import { Agent, type Simulation, systemId, testConfig } from './simulation.fixture.ts';

let simulation: Simulation;
let a: Agent;
let b: Agent;
let give: (pdu: Uint8Array) => void;

beforeEach(() => {
  ({ simulation, a, b, give } = adjacency());
  reachedOnce(a);
});

describe('PDUs', () => {
  test.each([
    ['isis.pdu.truncated', () => lsp().subarray(0, 20)],
    ['isis.pdu.truncated', () => patched(lsp(), 8, 0x05, 0xdc)],
    ['isis.pdu.not-isis', () => patched(lsp(), 0, 0x82)],
    ['isis.pdu.bad-version', () => patched(lsp(), 2, 9)],
    ['isis.pdu.bad-id-length', () => patched(lsp(), 3, 8)],
    ['isis.pdu.unknown-pdu-type', () => patched(lsp(), 4, 30)],
    ['isis.pdu.bad-pdu-length', () => patched(lsp(), 8, 0, 5)],
    ['isis.pdu.bad-checksum', () => patched(lsp(), 20, 9)],
    ['isis.pdu.bad-checksum', () => patched(lsp(), 24, 0, 9)],
    ['isis.pdu.tlv-overrun', () => patched(csnp({}, [entry()]), 34, 200)],
    ['isis.pdu.bad-holding-time', () => patched(hello(), 15, 0, 0)],
    ['isis.pdu.bad-circuit-type', () => patched(hello(), 8, 0)],
    ['isis.pdu.oversized', () => lsp({ tlvs: Array.from({ length: 6 }, () => ({ kind: 'padding', length: 255 })) })],
    ['isis.hello.own-system-id', () => hello({ systemId: systemId(A) })],
    ['isis.hello.level-mismatch', () => hello({ circuitType: 1 })],
    ['isis.hello.no-three-way', () => hello({}, [])],
    [
      'isis.hello.not-for-us',
      () =>
        hello({}, [
          {
            kind: 'three-way-adjacency',
            state: 'up',
            circuitId: 1,
            neighborSystemId: systemId(C),
            neighborCircuitId: 1,
          },
        ]),
    ],
    [
      'isis.hello.contradictory',
      () =>
        hello(
          {},
          (['up', 'down'] as const).map((state): IsisTlv => ({ kind: 'three-way-adjacency', state, circuitId: 1 })),
        ),
    ],
    ['isis.rx.level-not-ours', () => lsp({ level: 1 })],
    ['isis.snp.own-system-id', () => csnp({ systemId: systemId(A) })],
    ['isis.snp.wrong-source', () => csnp({ systemId: systemId(C) })],
    ['isis.csnp.bad-range', () => csnp({ start: LAST_LSP_ID, end: FIRST_LSP_ID })],
    ['isis.csnp.entry-outside-range', () => csnp({ end: FIRST_LSP_ID }, [entry()])],
    ['isis.csnp.not-ascending', () => csnp({}, [entry(), entry({ lspId: FIRST_LSP_ID })])],
    ['isis.snp.contradictory', () => csnp({}, [entry(), entry({ sequence: 8 })])],
  ])('%s', (name, make) => {
    expect(a.count(name)).toBe(0);
    give(make());
    expect(a.count(name)).toBe(1);
  });

  test('a LAN hello is counted: the other end lacks "isis network point-to-point"', () => {
    give(
      Uint8Array.from(
        Buffer.from(`831b01000f010000020000000000${'0b'}001e001b4000000000000b01`.padEnd(54, '0'), 'hex'),
      ).subarray(0, 27),
    );
    expect(a.count('isis.hello.lan')).toBe(1);
  });

  test('an LSP before the adjacency is up is ignored', () => {
    const lonely = new Agent(simulation, testConfig(C));
    lonely.event({ type: 'link-up', linkLocal: address('fe80::1') });
    lonely.deliver(lsp({}, B));
    simulation.run(10);
    expect(lonely.count('isis.lsp.no-adjacency')).toBe(1);
    expect(lonely.speaker.levels.get(2)!.lsdb.byKey.has(`${B}.00-00`)).toBe(false);
  });

  test('a malformed TLV is skipped and counted; the rest of the LSP is used', () => {
    const bad: IsisTlv = { kind: 'unknown', type: 236, value: Uint8Array.of(0, 0, 0, 1, 0, 200, 1) };
    const good: IsisTlv = tlv236(prefixEntry('2001:db8::/32'));
    give(lsp({ tlvs: [bad, good] }));
    expect([...a.counters].filter(([name]) => name.startsWith('isis.tlv.'))).toHaveLength(1);
    expect(a.prefixes()).toHaveLength(1);
  });

  test('a prefix both with and without the flag in one LSP is counted and treated as flagged', () => {
    const both = [prefixEntry('2001:db8::/32'), prefixEntry('2001:db8::/32', [P_FLAG])];
    give(lsp({ tlvs: [tlv236(...both)] }));
    expect(a.count('isis.lsp.contradictory-prefix')).toBe(1);
    expect(a.prefixes().map((x) => x.pnc)).toEqual([true]);
  });

  test('arbitrary bytes never throw, and the adjacency stays up', () => {
    const samples = [lsp(), hello(), csnp({}, [entry()])];
    const mutated = fc
      .tuple(fc.constantFrom(...samples), fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }), fc.nat(80))
      .map(([sample, changes, cut]) => {
        const copy = sample.slice();
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
        return copy.subarray(0, Math.max(1, copy.length - (cut > 40 ? 0 : cut)));
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ minLength: 1, maxLength: 100 })), (bytes) => {
        // A mutated hello that is still valid may take the adjacency down.
        a.deliver(bytes);
        a.wake();
      }),
      { numRuns: 3000 },
    );
    simulation.until('adjacency up again', () => a.state === 'up' && b.state === 'up', 120_000);
  });
});
