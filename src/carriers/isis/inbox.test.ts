// PDUs wait to be handled: hellos first, and only the latest of them; the others a batch a turn.
import { expect, test } from 'vitest';
import type { IsisTlv } from '../../packet/isis/tlv/types.ts';
import { A, adjacency, csnp, hello, lsp } from './hostile.fixture.ts';
import { systemId } from './simulation.fixture.ts';

const idOf = (n: number) => ({ systemId: Uint8Array.of(9, 0, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 });

test('of many hellos the last eight are handled in order; the others are counted', () => {
  const { a, simulation } = adjacency();
  simulation.run(5000);
  const before = a.count('isis.rx.hello');
  for (let n = 1; n <= 11; n++) a.deliver(hello({ holdingTime: n }));
  expect({
    queueFull: a.count('isis.rx.queue-full'),
    holdingTimes: a.speaker.inbox.hellos.map((pdu) => pdu[16]),
  }).toEqual({ queueFull: 3, holdingTimes: [4, 5, 6, 7, 8, 9, 10, 11] });
  a.wake();
  expect({ isisRxHello: a.count('isis.rx.hello') - before, holdUntil: a.speaker.adjacency!.holdUntil }).toEqual({
    isisRxHello: 8,
    holdUntil: simulation.now + 11_000,
  });
});

test('a hello is handled before PDUs that arrived earlier; the others eight a turn, in order', () => {
  const { a } = adjacency();
  const stored = (): number[] =>
    [...a.speaker.levels.get(2)!.lsdb.byKey.values()].filter(({ raw }) => raw[12] === 9).map(({ raw }) => raw[17]!);
  for (let n = 1; n <= 20; n++) a.deliver(lsp({ lspId: idOf(n) }));
  a.deliver(hello({ holdingTime: 99 }));
  const turns = [1, 2, 3].map(() => (a.wake(), stored().length));
  expect({ turns, stored: stored() }).toEqual({
    turns: [8, 16, 20],
    stored: Array.from({ length: 20 }, (_, i) => i + 1),
  });
  expect({ others: a.speaker.inbox.others, taken: a.speaker.inbox.taken }).toEqual({ others: [], taken: 0 });
});

test('at the limit further PDUs are dropped, not those waiting; once some are handled, others are accepted', () => {
  const { a } = adjacency();
  for (let n = 0; n < 8192; n++) a.deliver(csnp());
  expect(a.count('isis.rx.queue-full')).toBe(0);
  a.deliver(csnp());
  expect(a.count('isis.rx.queue-full')).toBe(1);
  const before = a.count('isis.rx.csnp');
  a.wake();
  for (let n = 0; n < 9; n++) a.deliver(csnp());
  expect({ isisRxCsnp: a.count('isis.rx.csnp') - before, isisRxQueueFull: a.count('isis.rx.queue-full') }).toEqual({
    isisRxCsnp: 8,
    isisRxQueueFull: 2,
  });
  while (a.speaker.inbox.others.length > a.speaker.inbox.taken) a.wake();
  expect(a.count('isis.rx.csnp') - before).toBe(8192 + 8);
});

test('a PDU is no longer than the MTU of the interface minus LLC', () => {
  const padded = (length: number): Uint8Array => {
    const tlvs: IsisTlv[] = Array.from({ length: 5 }, () => ({ kind: 'padding', length: 255 }));
    return lsp({ tlvs: [...tlvs, { kind: 'padding', length: length - 27 - 5 * 257 - 2 }] });
  };
  const { a, give } = adjacency();
  give(padded(1497));
  expect(a.count('isis.pdu.oversized')).toBe(0);
  expect(a.count('isis.rx.lsp')).toBeGreaterThan(0);
  const before = a.count('isis.rx.lsp');
  give(padded(1498));
  expect({ isisPduOversized: a.count('isis.pdu.oversized'), isisRxLsp: a.count('isis.rx.lsp') }).toEqual({
    isisPduOversized: 1,
    isisRxLsp: before,
  });
});

test('a malformed TLV of a hello or an SNP is counted; the rest of the PDU is used', () => {
  const bad: IsisTlv = { kind: 'unknown', type: 132, value: Uint8Array.of(1, 2, 3) };
  const { a, give, simulation } = adjacency();
  const area: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
  const threeWay: IsisTlv = {
    ...{ kind: 'three-way-adjacency', state: 'up', circuitId: 1 },
    ...{ neighborSystemId: systemId(A), neighborCircuitId: 1 },
  };
  give(hello({ holdingTime: 600 }, [bad, area, threeWay]));
  expect({ isisTlvBadLength: a.count('isis.tlv.bad-length'), holdUntil: a.speaker.adjacency!.holdUntil }).toEqual({
    isisTlvBadLength: 1,
    holdUntil: simulation.now - 10 + 600_000,
  });
  const sent = a.count('isis.tx.lsp');
  give(csnp({ tlvs: [bad] }));
  expect(a.count('isis.tlv.bad-length')).toBe(2);
  expect(a.count('isis.tx.lsp')).toBeGreaterThan(sent);
});

test('an LSP or SNP of a level that is not configured is counted and ignored', () => {
  const { a, give } = adjacency();
  const before = [a.count('isis.rx.lsp'), a.count('isis.rx.csnp')];
  give(lsp({ level: 1, isType: 1 }));
  give(csnp({ level: 1 }));
  expect([a.count('isis.rx.level-not-ours'), a.count('isis.rx.lsp'), a.count('isis.rx.csnp')]).toEqual([2, ...before]);
});
