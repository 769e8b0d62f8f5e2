// Nodes of the trie that wait to be processed, each once, in order of arrival. It replaces a Set, which rebuilds its
// table as it grows and shrinks: with thousands of nodes added and removed in one burst, that was an eighth of the
// burst's garbage.

const INITIAL_CAPACITY = 1024;

export class NodeQueue {
  private nodes = new Int32Array(INITIAL_CAPACITY);
  /** Whether the node of this number waits. */
  private waiting = new Uint8Array(INITIAL_CAPACITY);
  private first = 0;
  private end = 0;

  get size(): number {
    return this.end - this.first;
  }

  has(node: number): boolean {
    return this.waiting[node] === 1;
  }

  /** A node that waits already keeps its place. */
  add(node: number): void {
    if (this.waiting[node] === 1) return;
    if (node >= this.waiting.length)
      this.waiting = enlarged(this.waiting, new Uint8Array(2 * Math.max(node, this.waiting.length)));
    this.waiting[node] = 1;
    if (this.end === this.nodes.length) this.makeRoom();
    this.nodes[this.end++] = node;
  }

  /** The node that has waited longest; undefined: none waits. */
  take(): number | undefined {
    if (this.first === this.end) return undefined;
    const node = this.nodes[this.first++]!;
    this.waiting[node] = 0;
    if (this.first === this.end) this.first = this.end = 0;
    return node;
  }

  private makeRoom(): void {
    if (this.first < this.nodes.length / 2) this.nodes = enlarged(this.nodes, new Int32Array(2 * this.nodes.length));
    this.nodes.copyWithin(0, this.first, this.end);
    this.end -= this.first;
    this.first = 0;
  }
}

function enlarged<T extends Int32Array | Uint8Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
