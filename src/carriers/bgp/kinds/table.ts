// The kinds of advertisement that BGP carries.
import type { AdvertisementKind, AdvertisementOf } from '../../../model/advertisement.ts';
import type { BgpKind, EntryCodec, NextHopRules, OwnEntry, ReadEntry } from './kind.ts';
import { GROUP_MEMBERSHIP } from './group-membership.ts';
import { ROUTER_ADDRESS } from './router-address.ts';
import { SENDER_PREFIX } from './sender-prefix.ts';
import { SID } from './sid.ts';

/**
 * The rows. Their order is that in which paths are made and container TLVs are written: sender prefixes come first, so
 * that their paths are with gobgpd early.
 */
const ROWS = {
  'sender-prefix': SENDER_PREFIX,
  sid: SID,
  'group-membership': GROUP_MEMBERSHIP,
  'router-address': ROUTER_ADDRESS,
} satisfies { readonly [K in AdvertisementKind]: BgpKind<AdvertisementOf<K>> };

export class BgpKinds {
  readonly rows: readonly BgpKind[];
  /** Those of which a path can have the entries of its next hop's host route. */
  readonly viaNextHop: readonly ViaNextHop[];
  readonly #codecs: ReadonlyMap<string, EntryCodec<OwnEntry>>;

  constructor(rows: readonly BgpKind[]) {
    this.rows = rows;
    this.viaNextHop = rows.flatMap(({ kind, viaNextHop }) => (viaNextHop === 'never' ? [] : [{ kind, ...viaNextHop }]));
    this.#codecs = new Map(rows.map(({ kind, own }) => [kind, own.entries]));
  }

  /** @throws for an entry that none of the rows has made */
  codecOf({ kind }: OwnEntry): EntryCodec<OwnEntry> {
    const codec = this.#codecs.get(kind);
    if (!codec) throw new Error(`no kind of BGP places entries of ${kind}`);
    return codec;
  }
}

interface ViaNextHop extends NextHopRules<ReadEntry> {
  readonly kind: string;
}

export const BGP_KINDS = new BgpKinds(Object.values(ROWS));
