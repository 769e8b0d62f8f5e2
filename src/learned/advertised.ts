// By node of the trie: the advertisements of its prefix, and which of them is in force. A linked list a node, since most have one; where they are very
// many, crowd.ts chooses.
import { Column } from './column.ts';
import { Crowds } from './crowd.ts';
import { NodeQueue } from './node-queue.ts';
import type { Advertisement } from './preference.ts';

export class Advertised {
  private readonly heads = new Column<Advertisement>();
  private readonly crowds = new Crowds();
  /** Nodes where something has changed since it was taken from here. Chosen among only once, however many changes there were. */
  readonly changed = new NodeQueue();
  count = 0;

  /** The first of the node's list, in no order. */
  first(node: number): Advertisement | undefined {
    return this.heads.get(node);
  }

  /** The one in force; undefined: none counts. */
  best(node: number): Advertisement | undefined {
    return this.crowds.best(node, this.heads.get(node));
  }

  link(a: Advertisement): void {
    const head = this.heads.get(a.node);
    a.next = head;
    if (head) head.previous = a;
    this.heads.set(a.node, a);
    this.crowds.add(a);
    this.changed.add(a.node);
    this.count++;
  }

  unlink(a: Advertisement): void {
    if (a.previous) a.previous.next = a.next;
    else this.heads.set(a.node, a.next);
    if (a.next) a.next.previous = a.previous;
    a.previous = a.next = undefined;
    this.crowds.remove(a);
    this.changed.add(a.node);
    this.count--;
  }

  /** Whether an advertisement of the node may be written into (and its node marked as changed) instead of being replaced: in a crowd, its place would be wrong then. */
  changeable(node: number): boolean {
    return !this.crowds.has(node);
  }

  /** What the advertisements of a node are ordered by has changed. */
  reorder(node: number): void {
    this.crowds.reorder(node);
    this.changed.add(node);
  }
}
