// One part of a subscription that is sent in intervals, and what ONCE and POLL send: the values as they are now. With
// suppress_redundant it remembers what was sent, and sends what differs, and what is gone.
import type { StateSource } from '../../model/state.ts';
import type { Steps } from '../../model/work.ts';
import { RpcError } from '../rpc-error.ts';
import { Sections } from '../select.ts';
import type { Outlet } from './outlet.ts';
import { type LeafName, type Place, type Row, idOf, leavesOf, walkPlaces } from './places.ts';
import { isSelected } from './queue.ts';
import type { Remembered } from './remembered.ts';
import type { Part } from './request.ts';
import { same } from './watch.ts';

/** Leaves that one subscription may have the server remember. All together: remembered.ts. */
const MAX_REMEMBERED = 100_000;

interface Sent {
  readonly place: Place;
  row: Row;
  only: LeafName;
  sample: number;
}

interface SampleOptions {
  /** Also what is as it was sent last. */
  readonly isWhole: boolean;
  /** Only remembers. */
  readonly isSilent?: boolean;
  /** Samples before this one that were left out. */
  readonly missed?: number;
}

export class Sampler {
  readonly part: Part;
  readonly #outlet: Outlet;
  readonly #sent = new Map<string, Sent>();
  readonly #remembered: Remembered | undefined;
  #sample = 0;
  #leaves = 0;

  /** @param remembered absent: remembers nothing */
  constructor(part: Part, outlet: Outlet, remembered?: Remembered) {
    this.part = part;
    this.#outlet = outlet;
    this.#remembered = part.suppressRedundant ? remembered : undefined;
  }

  /** What the client was sent is no longer what it has, or it is gone itself. */
  forget(): void {
    this.#sent.clear();
    this.#remembered?.giveBack(this.#leaves);
    this.#leaves = 0;
  }

  /** @param sections one reading, which several parts may share */
  *send(sections: Sections, { isWhole, isSilent = false, missed = 0 }: SampleOptions): Steps {
    this.#sample++;
    const visit = (place: Place, row: Row, only: LeafName): void => {
      const before = this.#remembered && this.#remember(place, row, only, this.#remembered);
      if (isSilent) return;
      const isPart = only !== null || this.part.leaves !== 'all';
      const leaves = leavesOf(place.node);
      for (let i = 0; i < leaves.length; i++) {
        const leaf = leaves[i]!;
        if (isPart && !isSelected({ only, leaves: this.part.leaves }, place, i)) continue;
        if (before && row[i] === undefined && before[i] !== undefined) this.#outlet.delete(place, leaf);
        else if (isWhole || !before || !same(before[i], row[i])) this.#outlet.update(place, leaf, row[i], missed);
      }
    };
    yield* walkPlaces(this.part.path, sections, { visit, pause: () => this.#outlet.pause() });
    if (this.#remembered) yield* this.#sendGone(this.#remembered);
  }

  /** @returns the row that was sent before */
  #remember(place: Place, row: Row, only: LeafName, remembered: Remembered): Row | undefined {
    const id = idOf(place);
    const known = this.#sent.get(id);
    if (known) {
      const before = known.row;
      known.row = row;
      known.sample = this.#sample;
      return before;
    }
    if (this.#leaves + row.length > MAX_REMEMBERED)
      throw tooMany(`at most ${MAX_REMEMBERED} leaves: subscribe to less, or without it`);
    if (!remembered.take(row.length))
      throw tooMany(
        `all subscriptions together have at most ${remembered.most} leaves: try again later, or without it`,
      );
    this.#leaves += row.length;
    this.#sent.set(id, { place, row, only, sample: this.#sample });
    return undefined;
  }

  *#sendGone(remembered: Remembered): Steps {
    for (const [id, { place, row, only, sample }] of this.#sent) {
      if (sample === this.#sample) continue;
      this.#sent.delete(id);
      this.#leaves -= row.length;
      remembered.giveBack(row.length);
      this.#outlet.delete(place, only === null ? undefined : leavesOf(place.node).find(({ name }) => name === only));
      yield* this.#outlet.settle();
    }
  }
}

const tooMany = (limit: string): RpcError => new RpcError('RESOURCE_EXHAUSTED', `suppress_redundant: ${limit}`);

/** The values of all parts from one reading. */
export function* sendNow(parts: readonly Part[], source: StateSource, outlet: Outlet): Steps {
  const sections = new Sections(source);
  for (const part of parts) yield* new Sampler(part, outlet).send(sections, { isWhole: true });
}
