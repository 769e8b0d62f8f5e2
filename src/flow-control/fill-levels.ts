// How full the queues are that neighbors are asked about: classes that hold traffic, and ports. The dataplane hears
// which classes are too full, and what is held at a port. All of it is read in one pass, during which other work goes
// on: there may be thousands of classes.
import type { FillingTraffic, HeldBytes } from '../model/flow-control.ts';
import type { AskedQueue } from './asked.ts';
import type { FlowControlDataplane } from './dataplane.ts';
import type { OccupiedClass } from './paused.ts';
import { type Work, nextTurn } from '../model/work.ts';

export interface Thresholds {
  readonly above: number;
  readonly below: number;
}

export interface LookedAt {
  /** Classes that hold traffic, as they are at the moment of the call. */
  readonly classes: () => Iterable<OccupiedClass>;
  /** Ports that neighbors are asked about. */
  readonly asked: () => ReadonlySet<number>;
  /** Thresholds of watched queues, bytes, by ifindex. */
  readonly watched: ReadonlyMap<number, Thresholds>;
  /** Of each class. */
  readonly held: Thresholds;
}

interface FillLevelsDependencies {
  readonly dataplane: FlowControlDataplane;
  readonly work: Work;
  /** Something cannot be read: it counts as empty. */
  readonly onError: (error: unknown) => void;
}

/** Classes that one turn of the event loop looks at. */
const AT_ONCE = 64;

interface Classes {
  /** By key. */
  readonly present: ReadonlySet<string>;
  readonly portsWithFull: ReadonlySet<number>;
}

export class FillLevels {
  readonly #dependencies: FillLevelsDependencies;
  /** Ports whose classes were not empty at the last look. */
  readonly #holding: Set<number>;
  /** Classes that are too full, by key. */
  readonly #full = new Set<string>();

  /** @param ports those that hold: what an earlier machine has told the dataplane of them may no longer be so */
  constructor(ports: Iterable<number>, dependencies: FillLevelsDependencies) {
    this.#holding = new Set(ports);
    this.#dependencies = dependencies;
  }

  /** Whether classes may have to be looked at even if nothing is paused. */
  get isHolding(): boolean {
    return this.#holding.size > 0;
  }

  /** Whether a queue is short again. @throws KernelError (a change of the maps was refused) */
  async look(at: LookedAt): Promise<(queue: AskedQueue) => boolean> {
    const held = await this.#lookAtHeld(at);
    const classes = await this.#lookAtClasses(at, held);
    const queued = this.#lookAtPorts(at, held);
    const isShort = ({ egress }: FillingTraffic): boolean =>
      (queued.get(egress) ?? 0) <= (at.watched.get(egress)?.below ?? Infinity);
    return (queue) => (queue.reason === 'queue' ? isShort(queue) : !this.#isFull(queue, classes));
  }

  /** What is held at each port, of which it tells the dataplane. */
  async #lookAtHeld({ classes }: LookedAt): Promise<ReadonlyMap<number, HeldBytes>> {
    const { dataplane, onError } = this.#dependencies;
    const found = new Map<number, HeldBytes>();
    for (const port of portsOf(classes())) this.#holding.add(port);
    for (const port of [...this.#holding])
      try {
        const entered = dataplane.enteredBytes(port);
        const held = await dataplane.heldBytes(port);
        dataplane.setPortHeld(port, held.total, entered);
        found.set(port, held);
      } catch (error) {
        onError(error);
      }
    // Not before it is known to be empty: what has entered a class since the last look counts as held.
    const holding = portsOf(classes());
    for (const [port, { total }] of found) if (total === 0 && !holding.has(port)) this.#holding.delete(port);
    return found;
  }

  /** Which classes are too full, so that the neighbors before them are asked. */
  async #lookAtClasses(at: LookedAt, levels: ReadonlyMap<number, HeldBytes>): Promise<Classes> {
    const { above, below } = at.held;
    const present = new Set<string>();
    const portsWithFull = new Set<number>();
    for (const held of [...at.classes()]) {
      const { key, egress, slot, isPaused } = held;
      present.add(key);
      if (present.size % AT_ONCE === 0) await nextTurn(this.#dependencies.work);
      const bytes = levels.get(egress)?.ofSlot(slot) ?? 0;
      // What leaves a full class goes on waiting for its neighbors: at their rate the class would never get shorter.
      const isFull = this.#full.has(key) ? bytes > below : isPaused && bytes > above;
      // Each time: a class that traffic has got anew since the last look is not full there.
      if (isFull || this.#full.has(key)) this.#dependencies.dataplane.setFull(held, isFull);
      if (isFull) this.#full.add(key);
      else this.#full.delete(key);
      if (isFull) portsWithFull.add(egress);
    }
    for (const key of this.#full) if (!present.has(key)) this.#full.delete(key);
    return { present, portsWithFull };
  }

  /** Bytes in the queues that neighbors are asked about, held ones not included. */
  #lookAtPorts({ asked, watched }: LookedAt, held: ReadonlyMap<number, HeldBytes>): ReadonlyMap<number, number> {
    const { dataplane, onError } = this.#dependencies;
    const queued = new Map<number, number>();
    for (const port of asked())
      try {
        if (watched.has(port)) queued.set(port, dataplane.queueBytes(port) - (held.get(port)?.total ?? 0));
      } catch (error) {
        onError(error);
      }
    return queued;
  }

  /** Where a tunnel's segment ends here, the class has another name than the traffic on arrival: any class counts. */
  #isFull({ egress, key }: AskedQueue, { present, portsWithFull }: Classes): boolean {
    return this.#full.has(key) || (!present.has(key) && portsWithFull.has(egress));
  }
}

const portsOf = (classes: Iterable<OccupiedClass>): ReadonlySet<number> =>
  new Set([...classes].map(({ egress }) => egress));
