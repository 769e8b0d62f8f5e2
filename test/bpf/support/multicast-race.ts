// Answers of two groups of receivers at one edge, on two CPUs at once: the program `multicast_race` of the model in two
// processes of bpftool, which meet every 64 events.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { pinObject } from '../../../src/kernel/bpf/syscall.ts';
import { LITTLE_ENDIAN, u32Key, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { runOnCpu } from './on-cpu.ts';
import { context } from './packets.ts';
import { AT, BEGINS, EDGE, EVENT, type ModelDriver } from '../../../src/bench/support/multicast-model/driver.ts';
import { AETH, CREDITS_UNKNOWN, randomFrom } from '../../../src/bench/support/multicast-model/endpoints.ts';
import { isNak } from '../../../src/bench/support/multicast-model/invariants.ts';

export const LANES = 2;
const LANE_EVENTS = 4096;
const STEP = 64;
const MEETINGS = LANE_EVENTS / STEP;
const RECEIVERS = 8;
const LIST = 1;
const EPOCH = 5;
/** The stream passes the end of the PSNs. */
const BEGIN = 0xff_fc00;
const PACKETS = 0x700;
const MASK = 0xff_ffff;
const SIZE = 40;

/** An answer that one CPU took. PSNs are counted from the stream's begin. */
export interface Raced {
  readonly lane: number;
  /** Answers between the same two meetings have the same number. */
  readonly block: number;
  readonly receiver: number;
  /** What it confirms: everything before. */
  readonly next: number;
  readonly isNak: boolean;
  readonly began: bigint;
  readonly ended: bigint;
  /** What went up because of it. */
  readonly up: { readonly next: number; readonly isNak: boolean } | undefined;
}

export class Race {
  readonly #driver: ModelDriver;
  readonly #cpus: readonly number[];
  readonly #directory = mkdtempSync(join(tmpdir(), 't-race-'));
  readonly #pins = mkdtempSync(join(tmpdir(), 't-race-'));
  /** What each receiver has confirmed in this round. */
  #next: number[] = [];

  /** @param cpus on which this process may run, one for each lane at least */
  constructor(driver: ModelDriver, cpus: readonly number[]) {
    this.#driver = driver;
    this.#cpus = cpus;
    mountBpffs(this.#pins);
    pinObject(driver.object.program('multicast_race').fd, join(this.#pins, 'race'));
    writeFileSync(join(this.#directory, 'frame'), new Uint8Array(64));
  }

  /** One round of a new stream. */
  async run(seed: number): Promise<readonly Raced[]> {
    this.#begin();
    const events = this.#driver.object.map('race_events');
    const random = randomFrom(seed);
    this.#next = Array.from({ length: RECEIVERS }, () => 0);
    const each = <T>(count: number, value: (i: number) => T) =>
      Array.from({ length: count }, (_, i) => [u32Key(i), value(i)] as const);
    events.updateBatch(
      each(LANES * LANE_EVENTS, (i) => this.#answer(Math.floor(i / LANE_EVENTS), i % LANE_EVENTS, random)),
    );
    this.#driver.object.map('race_meetings').updateBatch(each(MEETINGS, () => new Uint8Array(8)));
    await Promise.all(Array.from({ length: LANES }, (_, lane) => this.#one(lane)));
    return [...events.entries()].map(([key, value]) => racedOf(viewOf(key).getUint32(0, LITTLE_ENDIAN), value));
  }

  /** One edge with all receivers, which has forwarded the whole stream. */
  #begin(): void {
    const driver = this.#driver;
    driver.node(0, 1);
    for (let i = 0; i < RECEIVERS; i++) driver.branch(i, LIST, i + 1);
    driver.list(LIST, { group: 0, first: 0, count: RECEIVERS, role: EDGE, hasLocal: false });
    for (const psn of [BEGIN | BEGINS, (BEGIN + PACKETS - 1) & MASK]) {
      const at = driver.add();
      const words = { kind: EVENT.data, state: EDGE, list: LIST, epoch: EPOCH, parent: 2, psn, nowMs: 10_000 };
      for (const [name, value] of Object.entries(words)) driver.memory[at + AT[name as keyof typeof words]] = value;
    }
    driver.run();
  }

  /**
   * Mostly ACKs; the first ones are of each receiver of the lane. Before a meeting the last receiver of the lane
   * catches up, so that both CPUs raise the minimum at the same time.
   */
  #answer(lane: number, i: number, random: () => number): Uint8Array {
    const mine = Array.from({ length: RECEIVERS / LANES }, (_, n) => (lane * RECEIVERS) / LANES + n);
    const isLast = i % STEP === STEP - 1;
    const byNext = mine.toSorted((a, b) => this.#next[a]! - this.#next[b]!);
    const receiver = isLast ? byNext[0]! : i < mine.length ? mine[i]! : mine[Math.floor(random() * mine.length)]!;
    const advanced = this.#next[receiver]! + Math.floor(random() * 4);
    const next = Math.min(PACKETS, isLast ? Math.max(advanced, this.#next[byNext[1]!]!) : advanced);
    const nak = !isLast && next < PACKETS && random() < 0.1;
    this.#next[receiver] = next;
    const value = new Uint8Array(SIZE);
    const view = viewOf(value);
    view.setUint32(0, receiver + 1, LITTLE_ENDIAN);
    view.setUint32(4, (BEGIN + next - (nak ? 0 : 1)) & MASK, LITTLE_ENDIAN);
    view.setUint32(8, nak ? AETH.nak : CREDITS_UNKNOWN, LITTLE_ENDIAN);
    return value;
  }

  #one(lane: number): Promise<void> {
    const contextFile = join(this.#directory, `context-${lane}`);
    writeFileSync(contextFile, context({ ifindex: 1, mark: lane }));
    const [pin, data] = [join(this.#pins, 'race'), join(this.#directory, 'frame')];
    return runOnCpu({ cpu: this.#cpus[lane]!, pin, data, context: contextFile, repeat: 1 });
  }

  close(): void {
    unmountBpffs(this.#pins);
    for (const directory of [this.#pins, this.#directory]) rmSync(directory, { recursive: true });
  }
}

function racedOf(at: number, value: Uint8Array): Raced {
  const view = viewOf(value);
  const [sender, psn, syndrome, passed, upPsn, upSyndrome] = [0, 4, 8, 12, 16, 20].map((at) =>
    view.getUint32(at, LITTLE_ENDIAN),
  ) as [number, number, number, number, number, number];
  const nextOf = (psnOf: number, code: number): number => (psnOf + (isNak(code) ? 0 : 1) - BEGIN) & MASK;
  return {
    ...{ lane: Math.floor(at / LANE_EVENTS), block: Math.floor((at % LANE_EVENTS) / STEP), receiver: sender - 1 },
    ...{ next: nextOf(psn, syndrome), isNak: isNak(syndrome) },
    ...{ began: view.getBigUint64(24, LITTLE_ENDIAN), ended: view.getBigUint64(32, LITTLE_ENDIAN) },
    up: passed === 0 ? undefined : { next: nextOf(upPsn, upSyndrome), isNak: isNak(upSyndrome) },
  };
}

/** What is wrong with a round. */
export function brokenIn(raced: readonly Raced[]): string[] {
  const broken: string[] = [];
  const ups = raced.filter(({ up }) => up !== undefined);
  const byReceiver = Array.from({ length: RECEIVERS }, (_, i) =>
    raced.filter(({ receiver }) => receiver === i).sort((a, b) => (a.began < b.began ? -1 : 1)),
  );
  // RMC-5.3.1-a, RMC-5.3.2-a: before the answer left, each receiver had begun to confirm as much.
  for (const answers of byReceiver) {
    let [at, most] = [0, -Infinity];
    for (const { ended, up, lane } of [...ups].sort((a, b) => (a.ended < b.ended ? -1 : 1))) {
      for (; at < answers.length && answers[at]!.began <= ended; at++) most = Math.max(most, answers[at]!.next);
      if (up!.next > most) broken.push(`lane ${lane}: ${up!.next} goes up, and a receiver had confirmed ${most}`);
    }
  }
  broken.push(...lateIn(raced));
  const [come, gone] = [raced.filter((one) => one.isNak).length, ups.filter(({ up }) => up!.isNak).length];
  if (gone > come || gone === 0) broken.push(`${come} NAKs came, and ${gone} went up`);
  return broken;
}

/** Where both CPUs met, what went up is the minimum: nobody was at work. */
function lateIn(raced: readonly Raced[]): string[] {
  const next = Array.from({ length: RECEIVERS }, () => -1);
  let [told, ended] = [-1, 0n];
  const late: string[] = [];
  for (let block = 0; block < MEETINGS; block++) {
    const now = raced.filter((one) => one.block === block);
    const truth = Math.min(...next);
    if (block > 0 && told !== truth && now.every(({ began }) => began > ended))
      late.push(`at meeting ${block} the minimum is ${truth}, and ${told} had gone up`);
    for (const one of now) {
      next[one.receiver] = Math.max(next[one.receiver]!, one.next);
      if (one.ended > ended) ended = one.ended;
      if (one.up) told = Math.max(told, one.up.next);
    }
  }
  if (told !== Math.min(...next)) late.push(`at the end the minimum is ${Math.min(...next)}, and ${told} went up`);
  return late;
}

/** Answers that began while the other CPU took one. */
export function overlaps(raced: readonly Raced[]): number {
  const [one, other] = [0, 1].map((lane) => raced.filter((event) => event.lane === lane));
  let [found, at] = [0, 0];
  for (const { began } of one!) {
    while (at < other!.length && other![at]!.ended < began) at++;
    if (at < other!.length && other![at]!.began <= began) found++;
  }
  return found;
}
