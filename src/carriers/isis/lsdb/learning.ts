// Reports LSPs to the learned table: what each kind of advertisement makes of its entries. Our own LSPs are never
// reported.
import { sameOptional } from '../../../model/address.ts';
import type { LearnedAdvertisement } from '../../../model/advertisement.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { NodeAddresses } from '../kinds/attributes.ts';
import type { LspAddresses, NodeLookup } from '../kinds/kind.ts';
import type { LevelState, Speaker } from '../state.ts';
import { type ReadLsp, readLsp, joined } from './content.ts';
import { type StoredLsp, fragmentsOf } from './lsdb.ts';

function addressesChanged(before: StoredLsp | undefined, after: StoredLsp | undefined): boolean {
  const pairs: [NodeAddresses | undefined, NodeAddresses | undefined][] = [
    [before?.content.routerIds, after?.content.routerIds],
    [before?.content.interfaces, after?.content.interfaces],
  ];
  return pairs.some(([a, b]) => !sameOptional(a?.v4, b?.v4) || !sameOptional(a?.v6, b?.v6));
}

/** Reports again the fragments whose entries depend on the node's addresses (decision D6), which have changed. */
export function siblingsChanged(
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
): void {
  if (!addressesChanged(before, after)) return;
  const changed = (after ?? before)!;
  for (const lsp of fragmentsOf(level.lsdb, changed.node)) {
    if (lsp.key === changed.key || !lsp.content.needsAddress || !lsp.expanded) continue;
    report(s, level, lsp, readStored(s, lsp), lsp.reported);
    for (const notify of s.subscribers.entriesChanged) notify(s, level, lsp, lsp);
  }
}

/**
 * Reports the content of an LSP to the learned table. @param read undefined: it is not expanded, and nothing is learned
 */
export function report(
  s: Speaker,
  level: LevelState,
  lsp: StoredLsp,
  read: ReadLsp | undefined,
  reportedBefore: boolean,
): void {
  const node = nodeLookup(level, lsp);
  let advertisements: readonly LearnedAdvertisement[] = [];
  for (const [i, { entries }] of read?.found.entries() ?? [])
    advertisements = joined(advertisements, s.kinds.rows[i]!.received.learned(entries, node));
  lsp.reported = advertisements.length > 0;
  if (lsp.reported || reportedBefore) push(s, level, lsp, advertisements);
}

function push(
  s: Speaker,
  { level }: LevelState,
  lsp: StoredLsp,
  advertisements: readonly LearnedAdvertisement[],
): void {
  s.effects.push({
    type: 'learned',
    report: { carrier: 'isis', source: `L${level} ${lsp.key}`, originator: `L${level} ${lsp.system}`, advertisements },
  });
}

/** The addresses from all fragments of the node; the lowest fragment takes precedence. */
export const nodeLookup =
  (level: LevelState, { node }: StoredLsp): NodeLookup =>
  () => {
    const [routerIds, interfaces]: { -readonly [K in keyof NodeAddresses]: NodeAddresses[K] }[] = [{}, {}];
    for (const { content } of fragmentsOf(level.lsdb, node)) {
      fill(routerIds!, content.routerIds);
      fill(interfaces!, content.interfaces);
    }
    return { routerIds: routerIds!, interfaces: interfaces! } satisfies LspAddresses;
  };

function fill(into: { -readonly [K in keyof NodeAddresses]: NodeAddresses[K] }, { v4, v6 }: NodeAddresses): void {
  if (v4) into.v4 ??= v4;
  if (v6) into.v6 ??= v6;
}

/** The full content of a stored LSP, for an SNP or a report. */
export function readStored(s: Speaker, lsp: StoredLsp): ReadLsp | undefined {
  const pdu = decodePdu(lsp.raw);
  return pdu.ok && pdu.value.kind === 'lsp' ? readLsp(pdu.value, s.kinds, s.config, s.levels.size > 1) : undefined;
}

/** Reports that an LSP is gone. */
export function reportGone(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  if (lsp.reported) push(s, level, lsp, []);
}
