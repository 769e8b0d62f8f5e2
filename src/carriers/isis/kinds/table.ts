// The kinds of advertisement that IS-IS supports.
import type { AdvertisementKind, AdvertisementOf } from '../../../model/advertisement.ts';
import type { EntryCodec, IsisKind, LeakingRules, OwnEntry, Packing, ReadEntry } from './kind.ts';
import { GROUP_MEMBERSHIP } from './group-membership.ts';
import { ROUTER_ADDRESS } from './router-address.ts';
import { SENDER_PREFIX } from './sender-prefix.ts';
import { SID } from './sid.ts';

/**
 * The rows. Their order is that of the TLVs in fragment 0 and of the entries in other fragments. TLV 242 takes its
 * address from the first row that has one: loopbacks come first.
 */
const ROWS = {
  'router-address': ROUTER_ADDRESS,
  'sender-prefix': SENDER_PREFIX,
  sid: SID,
  'group-membership': GROUP_MEMBERSHIP,
} satisfies { readonly [K in AdvertisementKind]: IsisKind<AdvertisementOf<K>> };

export class IsisKinds {
  readonly rows: readonly IsisKind[];
  /** The packings of all rows, concatenated. */
  readonly packings: readonly Packing[];
  /** TLV types that some row walks itself. */
  readonly walked: ReadonlySet<number>;
  readonly #byName: ReadonlyMap<string, IsisKind>;
  readonly #firstPacking = new Map<string, number>();

  constructor(rows: readonly IsisKind[]) {
    this.rows = rows;
    this.#byName = new Map(rows.map((row) => [row.kind, row]));
    const packings: Packing[] = [];
    for (const { kind, own } of rows) {
      this.#firstPacking.set(kind, packings.length);
      if (own.entries !== 'none') packings.push(...own.entries.packings);
    }
    this.packings = packings;
    this.walked = new Set(rows.flatMap(({ received }) => received.walked));
  }

  /** @throws for an entry of a kind without a codec */
  codecOf({ kind }: OwnEntry): EntryCodec<OwnEntry> {
    const codec = this.#byName.get(kind)?.own.entries;
    if (codec === undefined || codec === 'none') throw new Error(`no kind of IS-IS places entries of ${kind}`);
    return codec;
  }

  /** Index in `packings`. */
  packingOf(entry: OwnEntry): number {
    return this.#firstPacking.get(entry.kind)! + this.codecOf(entry).packingOf(entry);
  }

  /** @throws for an entry of a kind that is never leaked */
  leakingOf({ kind }: ReadEntry): LeakingRules<OwnEntry, ReadEntry> {
    const rules = this.#byName.get(kind)?.leaking;
    if (rules === undefined || rules === 'never') throw new Error(`no kind of IS-IS leaks entries of ${kind}`);
    return rules;
  }
}

export const ISIS_KINDS = new IsisKinds(Object.values(ROWS));
