// Which NAKs are marked as sent when one of them goes up (bpf/lib/multicast/aggregate.h). Another CPU may have taken
// one since the minimum was read: here that happens at the same place each time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileBpf } from '../support/compile.ts';
import { AT, BEGINS, EDGE, EVENT, ModelDriver } from '../../../src/bench/support/multicast-model/driver.ts';

const SEQUENCE = 0x60;
const FATAL = 0x62;
const RNR = 0x21;
const LIST = 1;

let driver: ModelDriver;
let remove: () => void;
beforeAll(() => {
  const compiled = compileBpf('bpf/bench/multicast-model.bpf.c');
  remove = compiled.remove;
  driver = new ModelDriver(compiled.path);
});
afterAll(() => {
  driver.close();
  remove();
});

/** One event; returns its words afterwards. */
function run(
  words: Partial<Record<keyof typeof AT, number>>,
): Readonly<Record<'passed' | 'upPsn' | 'upSyndrome', number>> {
  const at = driver.add();
  for (const [name, value] of Object.entries({ state: EDGE, epoch: 5, nowMs: 10_000, ...words }))
    driver.memory[at + AT[name as keyof typeof AT]] = value;
  driver.run();
  const [passed, upPsn, upSyndrome] = [AT.passed, AT.upPsn, AT.upSyndrome].map((word) => driver.memory[at + word]!);
  return { passed: passed!, upPsn: upPsn!, upSyndrome: upSyndrome! };
}

/** An edge with three receivers, of whom two ask for PSN 4: they wait, since the third has not answered. */
function twoThatWait(...syndromes: readonly [number, number]): void {
  driver.node(0, 1);
  for (const slot of [0, 1, 2]) driver.branch(slot, LIST, slot + 1);
  driver.list(LIST, { group: 0, first: 0, count: 3, role: EDGE, hasLocal: false });
  for (const psn of [1, 2, 3, 4]) run({ kind: EVENT.data, list: LIST, parent: 2, psn: psn | BEGINS });
  for (const [i, syndrome] of syndromes.entries())
    expect(run({ kind: EVENT.host, sender: i + 1, psn: 4, syndrome })).toMatchObject({ passed: 0 });
}
const third = () => run({ kind: EVENT.host, sender: 3, psn: 4, syndrome: 0x1f });

test.each([
  ['a fatal one', FATAL],
  ['RNR with a longer pause', RNR],
])('decision C11: %s that came after the minimum was read does not count as sent: it goes up next', (_, syndrome) => {
  twoThatWait(SEQUENCE, syndrome);
  expect(run({ kind: EVENT.take, syndrome: SEQUENCE })).toMatchObject({ passed: 1 });
  expect(third()).toEqual({ passed: 1, upPsn: 4, upSyndrome: syndrome });
});

test('RMC-5.3.2-d: one that goes up stands for all that it precedes', () => {
  twoThatWait(SEQUENCE, FATAL);
  expect(run({ kind: EVENT.take, syndrome: FATAL })).toMatchObject({ passed: 2 });
  expect(third()).toEqual({ passed: 1, upPsn: 3, upSyndrome: 0x1f });
});
