// The table of the kinds of advertisement that OSPF supports.
import type { AdvertisementKind, AdvertisementOf } from '../../../model/advertisement.ts';
import type { LsaBody } from '../../../packet/ospf/lsa/types.ts';
import type { Version } from '../../../packet/ospf/numbers.ts';
import type { LsaKey, RawLsa } from '../../../packet/ospf/types.ts';
import type {
  BodyReader,
  Entry,
  EntryLsa,
  KindOptions,
  LeakingRules,
  LowestCounts,
  OspfKind,
  OwnEntries,
  Walk,
  Walked,
  Warn,
} from './kind.ts';
import { GROUP_MEMBERSHIP } from './group-membership.ts';
import { ROUTER_ADDRESS } from './router-address.ts';
import { SENDER_PREFIX } from './sender-prefix.ts';
import { SID } from './sid.ts';

/** The rows, in the order in which our LSAs are built. */
const ROWS = {
  'router-address': ROUTER_ADDRESS,
  'sender-prefix': SENDER_PREFIX,
  sid: SID,
  'group-membership': GROUP_MEMBERSHIP,
} satisfies { readonly [K in AdvertisementKind]: OspfKind<AdvertisementOf<K>> };

export const OSPF_ROWS: readonly OspfKind[] = Object.values(ROWS);

type AnyEntries = OwnEntries<{ readonly kind: string }, Entry>;

/** Entries of one kind, and the row of that kind. */
export interface OfKind {
  readonly row: OspfKind;
  readonly entries: readonly Entry[];
}

/** The rows, for one version of OSPF. */
export class OspfKinds {
  readonly version: Version;
  readonly rows: readonly OspfKind[];
  /** The LSAs of all rows, concatenated. */
  readonly lsas: readonly EntryLsa[];
  readonly #byName: ReadonlyMap<string, OspfKind>;
  readonly #firstLsa = new Map<string, number>();
  readonly #walks: Walk<Entry>[] = [];
  readonly #lowest: LowestCounts<Entry>[] = [];
  readonly #readers = new Map<string, BodyReader<LsaBody, Entry>[]>();

  constructor(version: Version, rows: readonly OspfKind[]) {
    this.version = version;
    this.rows = rows;
    this.#byName = new Map(rows.map((row) => [row.kind, row]));
    const lsas: EntryLsa[] = [];
    for (const { kind, own, received } of rows) {
      this.#firstLsa.set(kind, lsas.length);
      if (own.entries !== 'none') lsas.push(...own.entries.encoding[version].lsas);
      const { walk, bodies } = received.reading[version];
      if (walk !== 'none') this.#walks.push(walk);
      if (received.repeated !== 'all-count') this.#lowest.push(received.repeated);
      for (const [body, reader] of Object.entries(bodies))
        this.#readers.set(body, [...(this.#readers.get(body) ?? []), reader as BodyReader<LsaBody, Entry>]);
    }
    this.lsas = lsas;
  }

  /** @throws Error for an entry that no row has made */
  rowOf({ kind }: Entry): OspfKind {
    const row = this.#byName.get(kind);
    if (!row) throw new Error(`no kind of OSPF has entries of ${kind}`);
    return row;
  }

  /** @throws Error for an entry of a kind that is not written into our LSAs */
  entriesOf(entry: Entry): AnyEntries {
    const { entries } = this.rowOf(entry).own;
    if (entries === 'none') throw new Error(`no kind of OSPF places entries of ${entry.kind}`);
    return entries;
  }

  keyOf(entry: Entry): string {
    return this.entriesOf(entry).keyOf(entry);
  }

  /** Index in `lsas`. */
  lsaOf(entry: Entry): number {
    return this.#firstLsa.get(entry.kind)! + this.entriesOf(entry).encoding[this.version].lsaOf(entry);
  }

  isLeakable(entry: Entry): boolean {
    const { leaking } = this.rowOf(entry);
    return leaking !== 'never' && leaking.isLeakable(entry);
  }

  /** @throws Error for an entry of a kind that is never copied between areas */
  leakingOf(entry: Entry): LeakingRules<Entry> {
    const { leaking } = this.rowOf(entry);
    if (leaking === 'never') throw new Error(`no kind of OSPF copies entries of ${entry.kind} between areas`);
    return leaking;
  }

  /** The entries of an LSA whose encoded bytes a row reads; undefined: no row does. */
  walk(lsa: RawLsa, options: KindOptions, warn: Warn): Walked<Entry> | undefined {
    for (const walk of this.#walks) {
      const walked = walk(lsa, options, warn);
      if (walked) return walked;
    }
    return undefined;
  }

  /** The entries of any other LSA, kind by kind. */
  read(body: LsaBody, lsa: RawLsa, options: KindOptions, warn: Warn): readonly Entry[] {
    const readers = this.#readers.get(body.kind) ?? [];
    return readers.length === 1
      ? readers[0]!(body, lsa, options, warn)
      : readers.flatMap((reader) => reader(body, lsa, options, warn));
  }

  /** Defined if, of several such LSAs of a router with one key, only the one with the lowest link-state ID is used. */
  lowestCounts(lsa: LsaKey): LowestCounts<Entry> | undefined {
    return this.#lowest.find((rule) => rule.appliesTo(this.version, lsa));
  }

  /** The entries of one LSA by kind: usually they have one kind. */
  byKind(entries: readonly Entry[]): readonly OfKind[] {
    const first = entries[0]?.kind;
    if (first === undefined) return [];
    if (entries.every(({ kind }) => kind === first)) return [{ row: this.rowOf(entries[0]!), entries }];
    return this.rows
      .map((row) => ({ row, entries: entries.filter(({ kind }) => kind === row.kind) }))
      .filter(({ entries: ofKind }) => ofKind.length > 0);
  }

  proxyPrefixes(entries: readonly Entry[]): number {
    return this.byKind(entries).reduce((sum, { row, entries: ofKind }) => sum + row.proxyPrefixes(ofKind), 0);
  }
}
