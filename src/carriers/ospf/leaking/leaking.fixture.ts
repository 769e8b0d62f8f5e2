// For tests: agents in areas, one of them between areas, and inter-area copies.
import { sendersOf } from '../../../model/advertisement.fixture.ts';
import { address } from '../../../model/address.ts';
import type { ExtendedPrefixLsa } from '../../../packet/ospf/lsa/types.ts';
import { type AnyVersion, type ContentAgent, ContentNet, declaration, proxyAddress } from '../content.fixture.ts';
import { lsaWith } from '../kinds/reading.fixture.ts';
import type { PrefixEntry } from '../kinds/sender-prefix-reader.ts';

export const VERSIONS: readonly AnyVersion[] = [2, 3];
export const LEAF = 0x01010101;
export const BORDER = 0x02020202;
export const SECOND = 0x03030303;
export const CORE = 0x04040404;
export const FAR = 0x05050505;
/** Longer than agents wait before they copy. */
export const SETTLED = 5000;

export const entriesOf = (agent: ContentAgent, areaId: number): PrefixEntry[] =>
  [...agent.content.areas.get(areaId)!.placements.values()].flatMap(({ lsas }) =>
    lsas.flatMap(({ entries }) => [...entries.values()].map(({ entry }) => entry as PrefixEntry)),
  );

export interface Line {
  readonly net: ContentNet;
  readonly leaf: ContentAgent;
  readonly border: ContentAgent;
  readonly core: ContentAgent;
}

/** A leaf in area 1, a border agent, an agent in the backbone. */
export function line(version: AnyVersion, borderAreas: readonly number[] = [0, 1]): Line {
  const net = new ContentNet(version);
  const [leaf, border, core] = [net.agent(LEAF, [1]), net.agent(BORDER, borderAreas), net.agent(CORE, [0])];
  net.run(SETTLED);
  return { net, leaf, border, core };
}

export interface Offer {
  readonly areaId?: number;
  readonly router?: number;
  readonly route?: PrefixEntry['route'];
  /** Counts in OSPFv3, whose LSAs have one. */
  readonly metric?: number;
  /** 0: it names none. */
  readonly proxy: number;
  readonly lsa?: number;
}

/** What the border hears of sender prefix 1, an LSA each. */
export function hear({ net, border }: Pick<Line, 'net' | 'border'>, offers: readonly Offer[]): void {
  const { version } = border;
  border.now = net.now;
  for (const { areaId = 1, router = LEAF, route = 'intra-area', metric = 1, proxy, lsa = 1 } of offers) {
    const entry: PrefixEntry = {
      ...plain(version),
      route,
      proxy: proxy > 0 ? address(proxyAddress(version, proxy)) : undefined,
    };
    const own = lsaWith(version, router, [entry], lsa);
    const body = own.body as unknown as { tlvs: object[] };
    const tlvs = body.tlvs.map((tlv) => ({ ...tlv, ...(version === 3 && { metric }) }));
    border.hears(areaId, router, { ...own, body: { ...body, tlvs } as unknown as ExtendedPrefixLsa });
  }
}

function plain(version: AnyVersion): PrefixEntry {
  const { prefix } = sendersOf(declaration(version, [1]))[0]!;
  return {
    kind: 'sender-prefix',
    prefix,
    pnc: true,
    metric: 1,
    route: 'intra-area',
    flags: Uint8Array.of(0x20, 0, 0, 0),
    node: false,
    attached: false,
  };
}
