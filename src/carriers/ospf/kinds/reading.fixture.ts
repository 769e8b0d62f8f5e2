// For tests: what one LSA contains, by kind, and how entries are written into one.
import { type CodePointValues, DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../../packet/ospf/lsa.ts';
import type { RawLsa } from '../../../packet/ospf/types.ts';
import { type AnyVersion, ContentAgent, contentConfig } from '../content.fixture.ts';
import type { LsaContent } from '../content-state.ts';
import { NO_TOPOLOGY, type Topology } from '../learning/topology.ts';
import type { OwnLsa } from '../version.ts';
import type { Entry, EntryLsa } from './kind.ts';
import type { PrefixEntry } from './sender-prefix-reader.ts';
import type { SidEntry } from './sid.ts';
import { OSPF_ROWS, OspfKinds } from './table.ts';

export const KINDS = { 2: new OspfKinds(2, OSPF_ROWS), 3: new OspfKinds(3, OSPF_ROWS) } as const;

export const prefixesOf = (content: LsaContent): PrefixEntry[] => ofKind(content, 'sender-prefix');
export const sidsOf = (content: LsaContent): SidEntry[] => ofKind(content, 'sid');
const ofKind = <E extends Entry>({ entries }: LsaContent, kind: E['kind']): E[] =>
  entries.filter((entry): entry is E => entry.kind === kind);

const NOTHING: LsaContent = { topology: NO_TOPOLOGY, entries: [] };

export interface ReadByKind {
  readonly topology: Topology;
  readonly prefixes: readonly PrefixEntry[];
  readonly sids: readonly SidEntry[];
  /** What was ignored, without `learn.`. */
  readonly warnings: readonly string[];
}

/** Another router's LSA. */
export function readByKind(
  version: AnyVersion,
  { raw, ...key }: RawLsa,
  codePoints: Partial<CodePointValues> = {},
): ReadByKind {
  const reader = 0x7f000001;
  const agent = new ContentAgent(
    contentConfig(version, reader, [0], { codePoints: { ...DEFAULT_CODE_POINTS, ...codePoints } }),
  );
  const effects = agent.event({ type: 'database', areaId: 0, key, lsa: { raw } });
  const content = [...agent.content.areas.get(0)!.lsas.values()][0]?.content ?? NOTHING;
  const ignored = `ospfv${version}.learn.`;
  return {
    topology: content.topology,
    prefixes: prefixesOf(content),
    sids: sidsOf(content),
    warnings: effects.flatMap((effect) =>
      effect.type === 'count' && effect.name.startsWith(ignored) ? [effect.name.slice(ignored.length)] : [],
    ),
  };
}

export const entryLsa = (version: AnyVersion, entry: Entry): EntryLsa =>
  KINDS[version].lsas[KINDS[version].lsaOf(entry)]!;

/**
 * The LSA in which a router advertises this.
 * @param number counts the LSAs of the kind
 */
export function lsaWith(version: AnyVersion, router: number, entries: readonly Entry[], number = 0): OwnLsa {
  const { type, firstId, body } = entryLsa(version, entries[0]!);
  return {
    type: type(DEFAULT_PRIVATE_TYPES),
    lsId: firstId(DEFAULT_PRIVATE_TYPES) + number,
    body: body(entries, router),
  };
}
