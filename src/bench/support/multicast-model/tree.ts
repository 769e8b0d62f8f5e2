// Trees of the model: which node replicates to whom in which epoch, and what the agent writes about it.
import { BRANCHING, EDGE, type ModelDriver } from './driver.ts';
import type { Receiver } from './endpoints.ts';

/** A router. `sid` is the last word of its only SID. */
export interface Node {
  readonly number: number;
  readonly sid: number;
}

export interface Place {
  readonly node: Node;
  readonly parent: Place | null;
  readonly children: Place[];
  readonly receivers: Receiver[];
  treeList: number;
  edgeList: number;
  /** Of both lists. */
  readonly slots: number[];
}

export interface Tree {
  readonly epoch: number;
  readonly root: Place;
  readonly places: ReadonlyMap<number, Place>;
  readonly receivers: readonly Receiver[];
  /** What the agent wrote for it: to be removed with it. */
  readonly written: (() => void)[];
}

export const placeOf = (node: Node, parent: Place | null): Place => ({
  node,
  parent,
  children: [],
  receivers: [],
  treeList: 0,
  edgeList: 0,
  slots: [],
});

export function treeFrom(root: Place, epoch: number): Tree {
  const places = new Map<number, Place>();
  const receivers: Receiver[] = [];
  const visit = (place: Place): void => {
    places.set(place.node.number, place);
    receivers.push(...place.receivers);
    place.children.forEach(visit);
  };
  visit(root);
  return { epoch: epoch & 0xfffff, root, places, receivers, written: [] };
}

/** Numbers that are used again after the last one. */
export class Numbers {
  readonly #from: number;
  readonly #to: number;
  #next: number;

  constructor(from: number, to: number) {
    this.#from = this.#next = from;
    this.#to = to;
  }

  take(count: number): number {
    if (this.#next + count > this.#to) this.#next = this.#from;
    const taken = this.#next;
    this.#next += count;
    return taken;
  }
}

/** Writes the lists of every node, as the agents do before the root uses the tree. */
export function install(tree: Tree, driver: ModelDriver, lists: Numbers, slots: Numbers): void {
  for (const place of tree.places.values()) {
    const group = place.node.number;
    const put = (role: number, hasLocal: boolean, branches: readonly number[]): number =>
      write(
        tree,
        driver,
        { list: lists.take(1), first: slots.take(branches.length), group, role, hasLocal },
        branches,
        place,
      );
    if (place.receivers.length > 0)
      place.edgeList = put(
        EDGE,
        false,
        place.receivers.map((r) => r.address),
      );
    if (place.children.length === 0) continue;
    const hasLocal = place.receivers.length > 0;
    const branches = [...(hasLocal ? [0] : []), ...place.children.map((child) => child.node.sid)];
    place.treeList = put(BRANCHING, hasLocal, branches);
  }
}

function write(
  tree: Tree,
  driver: ModelDriver,
  into: { list: number; first: number; group: number; role: number; hasLocal: boolean },
  branches: readonly number[],
  place: Place,
): number {
  const { list, first } = into;
  branches.forEach((address, i) => {
    driver.branch(first + i, list, address);
    place.slots.push(first + i);
  });
  driver.list(list, { ...into, count: branches.length });
  tree.written.push(() => branches.forEach((address) => driver.forget(list, address)));
  return list;
}

/** What a world is made of. */
export interface Shape {
  readonly seed: number;
  /** Of its nodes, its lists and its slots. */
  readonly firstNode: number;
  readonly lists: Numbers;
  readonly slots: Numbers;
  readonly packets: number;
}
