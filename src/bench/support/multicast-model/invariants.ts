// What must hold in every world of the model, whatever is lost, repeated or late.
import type { Source } from './endpoints.ts';
import type { Tree } from './tree.ts';

/** RMC-5.3.1-a and RMC-5.3.2-a, at the moment at which an answer leaves the root: `m` and everything before it. */
export function violationsOf(m: number, tree: Tree, source: Source, what: string): string[] {
  const early = tree.receivers
    .filter(({ expected, start }) => expected < m && start < m)
    .map(({ address, expected }) => `${what} of ${m}, ${address} is at ${expected}`);
  return m > source.top ? [...early, `${m} was never sent`] : early;
}

export const isNak = (syndrome: number): boolean => (syndrome & 0x60) !== 0;

/** Of each node: no more NAKs go up than have come. Repetitions of one on a link have come, too. */
export class NakBalance {
  readonly #come = new Map<number, number>();
  readonly #gone = new Map<number, number>();

  come(node: number): void {
    this.#come.set(node, (this.#come.get(node) ?? 0) + 1);
  }

  /** Returns what is wrong. */
  go(node: number): string[] {
    const [gone, come] = [(this.#gone.get(node) ?? 0) + 1, this.#come.get(node) ?? 0];
    this.#gone.set(node, gone);
    return gone > come ? [`node ${node} has sent ${gone} NAKs and got ${come}`] : [];
  }
}
