// Many worlds in step, so that a batch of events is long. A world that has completed makes room for a new one.
import { type ModelDriver } from './driver.ts';
import { Numbers } from './tree.ts';
import { World, nodesPerWorld } from './world.ts';

const WORLDS = 20;
/** Of a world, until faults end. */
const PACKETS = 1500;
/** Steps that a world has to complete in, once faults have ended. */
const PATIENCE = 4000;

export interface Outcome {
  readonly events: number;
  readonly worlds: number;
  readonly joined: number;
  readonly moved: number;
  readonly restarted: number;
  readonly timeouts: number;
  /** Packets of the sources, and how many of them were repetitions. */
  readonly sent: number;
  readonly repeated: number;
  /** NAKs that receivers sent, and those that left the roots. */
  readonly naks: number;
  readonly naksAtSource: number;
  /** Invariants broken, and worlds that did not complete. */
  readonly violations: readonly string[];
}

export class Simulation {
  readonly #driver: ModelDriver;
  readonly #seed: number;
  #made = 0;
  #events = 0;
  readonly #total = {
    ...{ worlds: 0, joined: 0, moved: 0, restarted: 0 },
    ...{ timeouts: 0, sent: 0, repeated: 0, naks: 0, naksAtSource: 0 },
  };
  #violations: string[] = [];

  constructor(driver: ModelDriver, seed: number) {
    this.#driver = driver;
    this.#seed = seed;
  }

  /** Until so many events have happened and the worlds at work have completed; or until an invariant is broken. */
  run(events: number, isEnough: () => boolean = () => false): Outcome {
    const places = Array.from({ length: WORLDS }, (_, i) => ({
      firstNode: i * nodesPerWorld,
      lists: new Numbers(1 + i * 800, 1 + (i + 1) * 800),
      slots: new Numbers(i * 3200, (i + 1) * 3200),
    }));
    let step = 10_000;
    const fresh = (i: number): { world: World; from: number } => ({
      world: new World({ seed: this.#seed + this.#made++, packets: PACKETS, ...places[i]! }, this.#driver, step),
      from: step,
    });
    let running = places.map((_, i) => ({ i, ...fresh(i) }));
    while (running.length > 0 && this.#violations.length === 0) {
      this.#step(running.map(({ world }) => world));
      step++;
      const isOver = this.#events >= events || isEnough();
      running = running.flatMap((place) => {
        const { world, from, i } = place;
        this.#violations.push(...world.violations);
        if (step - from === PATIENCE || (isOver && step - from < PATIENCE)) world.calm();
        if (world.source.isDone) {
          this.#account(world);
          return isOver ? [] : [{ i, ...fresh(i) }];
        }
        if (step - from > 3 * PATIENCE)
          this.#violations.push(`seed ${world.seed} has not completed: ${world.source.una} of ${world.source.end}`);
        return [place];
      });
    }
    return { events: this.#events, ...this.#total, violations: this.#violations };
  }

  #account(world: World): void {
    world.forgetTrees(true);
    const { timeouts, sent, repeated } = world.source;
    const { joined, moved, restarted, naks, naksAtSource } = world;
    const all = { worlds: 1, joined, moved, restarted, timeouts, sent, repeated, naks, naksAtSource };
    for (const [name, value] of Object.entries(all)) this.#total[name as keyof typeof all] += value;
  }

  #step(worlds: readonly World[]): void {
    for (const world of worlds) world.begin();
    const batch: { world: World; index: number; at: number }[] = [];
    const flush = (): void => {
      this.#driver.run();
      for (const { world, index, at } of batch) world.handle(world.items[index]!, this.#driver.memory, at);
      batch.length = 0;
    };
    for (const world of worlds)
      world.items.forEach((item, index) => {
        this.#events++;
        if (item.kind === 'copy' || item.kind === 'source') {
          world.handle(item, this.#driver.memory, 0);
          return;
        }
        if (this.#driver.isFull) flush();
        const at = this.#driver.add();
        world.write(item, this.#driver.memory, at);
        batch.push({ world, index, at });
      });
    if (batch.length > 0) flush();
  }
}
