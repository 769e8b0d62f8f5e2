// The dataplane's part of the learned table: the smallest longest-match table that gives every source address the same
// answer. It has prefixes with a proxy, and prefixes whose senders are said to understand something. Any other prefix
// is in it, with nothing, only directly below one of these: an unflagged best match means "no proxy" (decision D5), and
// what a router says of its prefix is not about a longer one. The table is updated incrementally: a change costs the
// nodes that it touches, whatever the size of the table.
//
// IPv4 lies inside the IPv6 space (key.ts), so a flagged ::/0 would also match IPv4 senders. The IPv4 default route is
// therefore always in the table, unflagged when no router advertises it.
import { type IpAddress, sameOptional } from '../model/address.ts';
import { type Prefix, formatPrefix } from '../model/prefix.ts';
import type { Understood } from '../model/understood.ts';
import { Column } from './column.ts';
import { keyLength } from './key.ts';
import { NodeQueue } from './node-queue.ts';
import { ROOT, type PrefixTrie } from './trie.ts';

export interface ForwardingEntry {
  /** The prefix as text, the key of the entry; one string for as long as the prefix is in the table. */
  readonly id: string;
  readonly prefix: Prefix;
  /** The destination of notices about senders in the prefix; null: no notice is sent. */
  readonly proxy: IpAddress | null;
  /** What the senders in the prefix are said to understand. */
  readonly supports?: Understood;
}

/** What is known of the senders in a prefix: a proxy, what they are said to understand, or both. */
export interface Answer {
  readonly proxy: IpAddress | null;
  readonly supports: Understood | undefined;
}

/**
 * The changes since the last call. Apply them in this order: upserts first, longest prefixes before shorter ones, then
 * deletes, shortest first. Then each source address has its old answer or its new one at any moment in between, never a
 * third.
 */
export interface ForwardingChanges {
  readonly upserts: readonly ForwardingEntry[];
  readonly deletes: readonly Prefix[];
  /** Whether the limit cut them short; the order is kept within a piece only. */
  readonly more: boolean;
}

/** null: no answer; undefined: not in the table. */
type Value = Answer | null | undefined;

const same = (a: Value, b: Value): boolean =>
  a === b || (!!a && !!b && a.supports === b.supports && sameOptional(a.proxy, b.proxy));
const says = (entry: ForwardingEntry | undefined, { proxy, supports }: Answer): boolean =>
  entry !== undefined && entry.supports === supports && sameOptional(entry.proxy, proxy);

/** In the table, of a prefix that is there only because a shorter one has an answer. */
const NO_ANSWER: Answer = { proxy: null, supports: undefined };

export class Forwarding {
  /** By node: the answer for addresses whose longest match it is. */
  private readonly values = new Column<Value>();
  /** By node: what takeChanges has reported of it. */
  private readonly taken = new Column<ForwardingEntry>();
  private readonly changed = new NodeQueue();
  private readonly trie: PrefixTrie;
  private readonly ipv4Base: number;
  private readonly proxies = { 4: 0, 6: 0 };

  constructor(trie: PrefixTrie, ipv4Base: number) {
    this.trie = trie;
    this.ipv4Base = ipv4Base;
    this.values.set(ipv4Base, null);
  }

  /** How many prefixes have a proxy, by the family of its address. */
  get sizes(): { readonly proxies4: number; readonly proxies6: number } {
    return { proxies4: this.proxies[4], proxies6: this.proxies[6] };
  }

  get pending(): boolean {
    return this.changed.size > 0;
  }

  inUse(node: number): boolean {
    return this.values.get(node) !== undefined || this.taken.get(node) !== undefined || this.changed.has(node);
  }

  /** @param value undefined: no router advertises the prefix any more */
  set(node: number, value: Value): void {
    const before = this.values.get(node);
    const after = value === undefined && node === this.ipv4Base ? null : value;
    if (same(before, after)) return;
    const hadAnswer = this.hasAnswerAt(node, before);
    this.values.set(node, after);
    if (before?.proxy) this.proxies[before.proxy.family]--;
    if (after?.proxy) this.proxies[after.proxy.family]++;
    this.changed.add(node);
    if (hadAnswer !== this.hasAnswerAt(node, after)) this.touchPlainBelow(node);
  }

  /** @param limit nodes to visit */
  take(limit: number, idle: (node: number) => void): ForwardingChanges {
    const upserts: ForwardingEntry[] = [];
    const deletes: Prefix[] = [];
    for (let looked = 0; looked < limit; looked++) {
      const node = this.changed.take();
      if (node === undefined) break;
      const before = this.taken.get(node);
      const after = this.needed(node);
      if (after ? !says(before, after) : before) {
        const entry = after && this.entry(node, after);
        this.taken.set(node, entry);
        if (entry) upserts.push(entry);
        else deletes.push(before!.prefix);
      }
      idle(node);
    }
    upserts.sort((a, b) => keyLength(b.prefix) - keyLength(a.prefix));
    deletes.sort((a, b) => keyLength(a) - keyLength(b));
    return { upserts, deletes, more: this.pending };
  }

  /** The whole table, including changes that were not taken yet. */
  *all(): Generator<ForwardingEntry> {
    const nodes: number[] = [ROOT];
    this.trie.forEachBelow(ROOT, (node) => nodes.push(node) > 0);
    for (const node of nodes) {
      const answer = this.needed(node);
      if (answer) yield this.entry(node, answer);
    }
  }

  private entry(node: number, { proxy, supports }: Answer): ForwardingEntry {
    const prefix = this.taken.get(node)?.prefix ?? this.trie.prefix(node);
    const id = this.taken.get(node)?.id ?? formatPrefix(prefix);
    return supports ? { id, prefix, proxy, supports } : { id, prefix, proxy };
  }

  private needed(node: number): Answer | undefined {
    const value = this.values.get(node);
    return value === null ? (this.inheritsAnswer(node) ? NO_ANSWER : undefined) : value;
  }

  /** Whether nodes directly below this one would be below an answer if this one had the value. */
  private hasAnswerAt(node: number, value: Value): boolean {
    return value === undefined ? this.inheritsAnswer(node) : value !== null;
  }

  /** Whether the next shorter prefix in the table has an answer. */
  private inheritsAnswer(node: number): boolean {
    while (node !== ROOT) {
      node = this.trie.parent(node);
      const value = this.values.get(node);
      if (value !== undefined) return value !== null;
    }
    return false;
  }

  private touchPlainBelow(node: number): void {
    this.trie.forEachBelow(node, (below) => {
      const value = this.values.get(below);
      if (value === null) this.changed.add(below);
      return value === undefined;
    });
  }
}
