// The sender prefixes of one source: its new report replaces the previous one in the trie and in the lists of
// advertisements. Only differences are counted as changes. The usual cases have a path of their own, because BGP has
// sources of one prefix by the hundred thousand.
import type { Count } from '../model/log.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Advertised } from './advertised.ts';
import { newKey, setPrefix } from './key.ts';
import type { SenderAdvertisement } from './kinds.ts';
import { type Advertisement, type Source, advertisementsOf, comparePreference } from './preference.ts';
import type { PrefixTrie } from './trie.ts';

interface SourceReportsDependencies {
  readonly trie: PrefixTrie;
  readonly advertised: Advertised;
  readonly count: Count;
}

export class SourceReports {
  private readonly trie: PrefixTrie;
  private readonly advertised: Advertised;
  private readonly count: Count;
  private readonly key = newKey();

  constructor({ trie, advertised, count }: SourceReportsDependencies) {
    this.trie = trie;
    this.advertised = advertised;
    this.count = count;
  }

  /** Replaces all advertisements of the source. Never throws; invalid prefixes are counted and skipped. */
  replace(source: Source, senders: readonly SenderAdvertisement[]): void {
    const { advertisements: old } = source;
    if (senders.length <= 1 && (!old || 'node' in old))
      source.advertisements = this.replaceOne(source, old, senders[0]);
    else source.advertisements = this.replaceMany(source, senders);
  }

  private replaceMany(source: Source, senders: readonly SenderAdvertisement[]): Source['advertisements'] {
    const old = advertisementsOf(source);
    if (this.samePrefixes(old, senders)) return this.changeEach(old, senders);
    const nodes = senders.map(({ prefix }) => this.nodeOf(prefix));
    const before = new Map(old.map((a) => [a.node, a]));
    const after = new Map<number, Advertisement>();
    for (const [i, node] of nodes.entries()) {
      if (node !== undefined) this.merge(after, this.advertised.stated(before.get(node), node, source, senders[i]!));
    }
    for (const [node, a] of before) if (after.get(node) !== a) this.advertised.unlink(a);
    for (const [node, a] of after) if (before.get(node) !== a) this.advertised.link(a);
    return after.size > 0 ? [...after.values()] : undefined;
  }

  /** Whether the new report has the prefixes of the previous one, in the same order. */
  private samePrefixes(old: readonly Advertisement[], senders: readonly SenderAdvertisement[]): boolean {
    if (old.length !== senders.length) return false;
    for (let i = 0; i < old.length; i++)
      if (!setPrefix(this.key, senders[i]!.prefix) || !this.trie.is(old[i]!.node, this.key)) return false;
    return true;
  }

  /** For the same prefixes as before, the usual case: it saves the look-ups and the new advertisements. */
  private changeEach(
    advertisements: Advertisement[],
    senders: readonly SenderAdvertisement[],
  ): Advertisement[] | undefined {
    for (let i = 0; i < advertisements.length; i++)
      advertisements[i] = this.advertised.change(advertisements[i]!, senders[i]!);
    return advertisements.length > 0 ? advertisements : undefined;
  }

  /** For a source of at most one prefix, before and after. */
  private replaceOne(
    source: Source,
    old: Advertisement | undefined,
    learned: SenderAdvertisement | undefined,
  ): Advertisement | undefined {
    const node = learned && this.nodeOf(learned.prefix);
    if (old && old.node === node) return this.advertised.change(old, learned!);
    const now = node === undefined ? undefined : this.advertised.stated(undefined, node, source, learned!);
    if (old) this.advertised.unlink(old);
    if (now) this.advertised.link(now);
    return now;
  }

  /** Undefined for an invalid prefix. */
  private nodeOf(prefix: Prefix): number | undefined {
    if (setPrefix(this.key, prefix)) return this.trie.insert(this.key);
    this.count('learned.prefix.invalid');
    return undefined;
  }

  /** A source that advertises a prefix twice contradicts itself; the preferred of the two counts. */
  private merge(after: Map<number, Advertisement>, a: Advertisement): void {
    const twin = after.get(a.node);
    if (twin) this.count('learned.prefix.duplicate');
    if (!twin || comparePreference(a, twin) < 0) after.set(a.node, a);
  }
}
