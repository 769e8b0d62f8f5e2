// `npm run fuzz`: fuzzes the targets in turn, by hand and for as long as one likes. Inputs that reach code that no
// other did are added to the corpus; an input that breaks a promise is written there as crash-…, and the command that
// replays it is printed. The inputs are made and tried in a thread; when one of them never ends, the main thread, which
// has a copy of it, says so.
import { readFileSync } from 'node:fs';
import { dirname, basename } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { readCorpus, writeCorpus } from './corpus.ts';
import { Coverage } from './coverage.ts';
import { Finding, nextInput, tryInput } from './engine.ts';
import { chance } from './mutate.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [TARGET…] [--seconds N] [--seed N] [--replay FILE]
  --seconds N    for each target; default 60
  --seed N       of the chance that makes the inputs; default 1
  --replay FILE  tries one input, test/fuzz/corpus/TARGET/FILE
targets: ${TARGETS.map(({ name }) => name).join(' ')}`;
/** An input that takes longer than this never ends. */
const HANG_MS = 20_000;
/** Inputs between two looks at the coverage. */
const BATCH = 200;
const MOST_INPUT = 1 << 16;

interface Job {
  readonly target: string;
  readonly seconds: number;
  readonly seed: number;
  /** Number of inputs begun, length of the last one, and its bytes. */
  readonly current: SharedArrayBuffer;
}

/** In the thread: until the time is over, or something is found. */
function work({ target: name, seconds, seed, current }: Job): void {
  const target = TARGETS.find((each) => each.name === name)!;
  const [head, bytes] = [new Int32Array(current, 0, 2), new Uint8Array(current, 8)];
  const attempt = (input: Uint8Array): void => {
    bytes.set(input);
    head[1] = input.length;
    Atomics.add(head, 0, 1);
    tryInput(target, input);
  };
  const corpus = [...target.seeds(), ...readCorpus(name)];
  const coverage = new Coverage();
  const pick = chance(seed);
  const end = performance.now() + seconds * 1000;
  let added = 0;
  try {
    for (const input of corpus) attempt(input);
    coverage.news();
    while (performance.now() < end) {
      const batch = Array.from({ length: BATCH }, () => nextInput(target, corpus, pick));
      batch.forEach(attempt);
      // Rare after a while: which of them was it?
      if (coverage.news() > 0) added += keepNew(target, batch, corpus, attempt);
    }
    parentPort!.postMessage({ inputs: Atomics.load(head, 0), parts: coverage.parts, added });
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    parentPort!.postMessage({ finding: error.message, input: error.input });
  }
}

/**
 * Runs a batch again under a coverage of its own, and keeps the inputs that reach what neither the corpus nor those
 * before them reach.
 */
function keepNew(
  target: Target,
  batch: readonly Uint8Array[],
  corpus: Uint8Array[],
  attempt: (input: Uint8Array) => void,
): number {
  const coverage = new Coverage();
  for (const input of corpus) attempt(input);
  coverage.news();
  const before = corpus.length;
  for (const input of batch) {
    attempt(input);
    if (coverage.news() === 0) continue;
    corpus.push(input.slice());
    writeCorpus(target.name, input, 'input');
  }
  return corpus.length - before;
}

function found(target: string, what: string, input: Uint8Array): void {
  const path = writeCorpus(target, input, 'crash');
  console.error(`${what}\n  input: ${path}\n  again: npm run fuzz -- --replay ${path}`);
}

/** @returns false when something was found */
function run(target: string, seconds: number, seed: number): Promise<boolean> {
  const current = new SharedArrayBuffer(8 + MOST_INPUT);
  const head = new Int32Array(current, 0, 2);
  const worker = new Worker(new URL(import.meta.url), { workerData: { target, seconds, seed, current } satisfies Job });
  return new Promise((resolve, reject) => {
    let last = -1;
    const watch = setInterval(() => {
      const now = Atomics.load(head, 0);
      if (now === last && now > 0) {
        found(
          target,
          `${target}: has not ended after ${HANG_MS / 1000} s`,
          new Uint8Array(current, 8, head[1]).slice(),
        );
        clearInterval(watch);
        void worker.terminate().then(() => resolve(false));
      }
      last = now;
    }, HANG_MS);
    worker.on('error', reject);
    worker.on(
      'message',
      (message: { finding?: string; input?: Uint8Array; inputs: number; parts: number; added: number }) => {
        clearInterval(watch);
        if (message.finding !== undefined) found(target, message.finding, message.input!);
        else
          console.log(
            `${target.padEnd(18)} ${message.inputs} inputs, ${message.parts} parts of the code reached, ` +
              `${message.added} inputs added to the corpus`,
          );
        resolve(message.finding === undefined);
      },
    );
  });
}

function replay(file: string): void {
  const target = TARGETS.find(({ name }) => name === basename(dirname(file)));
  if (!target) throw new Error(`${file} is not in the folder of a target: test/fuzz/corpus/TARGET/FILE`);
  tryInput(target, new Uint8Array(readFileSync(file)));
  console.log(`${target.name}: keeps its promises on ${file}`);
}

async function main(): Promise<number> {
  const options = {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const unknown = positionals.filter((name) => !TARGETS.some((target) => target.name === name));
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (unknown.length > 0 || !(seconds > 0) || !Number.isInteger(seed)) {
    console.error(unknown.length > 0 ? `fuzz: no such target: ${unknown.join(' ')}\n${USAGE}` : USAGE);
    return 2;
  }
  if (values.replay !== undefined) {
    replay(values.replay);
    return 0;
  }
  let clean = true;
  for (const { name } of TARGETS)
    if (positionals.length === 0 || positionals.includes(name)) clean = (await run(name, seconds, seed)) && clean;
  return clean ? 0 : 1;
}

if (isMainThread) process.exitCode = await main();
else work(workerData as Job);
