// The link-state database of one level: LSPs by LSP ID, in order for CSNPs, and by node for the graph. ISO/IEC 10589
// §7.3.16 defines which of two versions is newer. flooding.ts acts on that; content.ts reads an LSP.
import { type Headroom, newHeadroom } from '../../headroom.ts';
import { type LspId, lspIdTextAt, readLspId } from '../../../packet/isis/lsp-id.ts';
import { EDGE_COST, ENTRY_COST, LSP_COST } from '../constants.ts';
import type { LspContent } from './content.ts';
import { lowerBound } from '../../sorted.ts';

export interface StoredLsp {
  /** `0000.0000.0001.00-03`. */
  readonly key: string;
  /** `0000.0000.0001`. */
  readonly system: string;
  /** `0000.0000.0001.00`: system and pseudonode. */
  readonly node: string;
  readonly fragment: number;
  readonly own: boolean;
  /** As received or issued, including digest and checksum. Only Remaining Lifetime is ever overwritten. */
  readonly raw: Uint8Array;
  readonly sequence: number;
  readonly checksum: number;
  /** When Remaining Lifetime reaches 0; for a purge, when it may be forgotten (ZeroAge). */
  readonly expiresAt: number;
  readonly purged: boolean;
  /** Without prefixes and SIDs unless the LSP is expanded. */
  content: LspContent;
  /** How many prefixes and SIDs the LSP lists. */
  readonly entries: number;
  /** Whether these are read, for the learned table and for leaking (expansion.ts). */
  expanded: boolean;
  /** Whether FRR may have refused it because of its content (doubt.ts). */
  readonly odd: boolean;
  /** Whether the learned table holds entries of the LSP. */
  reported: boolean;
}

/** `bytes` counts what LSPs cost here and in the learned table (costOf). */
export interface Lsdb extends Headroom {
  readonly byKey: Map<string, StoredLsp>;
  /** Keys ascending: the text form sorts like the bytes. */
  readonly order: string[];
  /** Live (not purged) fragments of each node. */
  readonly nodes: Map<string, Map<number, StoredLsp>>;
  /** When the next LSP may have expired. */
  sweepAt: number;
}

export const newLsdb = (limit: number, byteLimit: number): Lsdb => ({
  ...newHeadroom(limit, byteLimit),
  byKey: new Map(),
  order: [],
  nodes: new Map(),
  sweepAt: Infinity,
});

/** Approximate bytes of memory: the LSP itself, and its prefixes and SIDs in the learned table while they are there. */
export const costOf = ({
  raw,
  content,
  entries,
  expanded,
}: Pick<StoredLsp, 'raw' | 'content' | 'entries' | 'expanded'>): number =>
  LSP_COST + raw.length + EDGE_COST * content.edges.length + (expanded ? ENTRY_COST * entries : 0);

export interface Version {
  readonly sequence: number;
  readonly checksum: number;
  /** Seconds; 0 is a purge. */
  readonly remainingLifetime: number;
}

/** `confused`: same sequence number, both alive, different contents (ISO/IEC 10589 §7.3.16.2). */
export type Relation = 'newer' | 'same' | 'older' | 'confused';

/** How `a` relates to `b`. */
export function compareVersions(a: Version, b: Version): Relation {
  if (a.sequence !== b.sequence) return a.sequence > b.sequence ? 'newer' : 'older';
  const [deadA, deadB] = [a.remainingLifetime === 0, b.remainingLifetime === 0];
  if (deadA !== deadB) return deadA ? 'newer' : 'older';
  return deadA || a.checksum === b.checksum ? 'same' : 'confused';
}

/** Seconds, at least 1 while alive. */
export function lifetimeOf(lsp: StoredLsp, now: number): number {
  return lsp.purged ? 0 : Math.max(1, Math.min(0xffff, Math.floor((lsp.expiresAt - now) / 1000)));
}

export const versionOf = (lsp: StoredLsp, now: number): Version => ({
  sequence: lsp.sequence,
  checksum: lsp.checksum,
  remainingLifetime: lifetimeOf(lsp, now),
});

/** @returns the version stored before, if any */
export function put(db: Lsdb, lsp: StoredLsp): StoredLsp | undefined {
  const old = db.byKey.get(lsp.key);
  if (!old) db.order.splice(lowerBound(db.order, lsp.key), 0, lsp.key);
  db.byKey.set(lsp.key, lsp);
  db.bytes += costOf(lsp) - (old ? costOf(old) : 0);
  if (old) unlinkNode(db, old);
  if (!lsp.purged) linkNode(db, lsp);
  db.sweepAt = Math.min(db.sweepAt, lsp.expiresAt);
  return old;
}

export function remove(db: Lsdb, lsp: StoredLsp): void {
  if (!db.byKey.delete(lsp.key)) return;
  db.bytes -= costOf(lsp);
  db.order.splice(lowerBound(db.order, lsp.key), 1);
  unlinkNode(db, lsp);
}

/** Sets whether the prefixes and SIDs of an LSP are read. */
export function setExpanded(db: Lsdb, lsp: StoredLsp, expanded: boolean, content: LspContent): void {
  db.bytes -= costOf(lsp);
  lsp.expanded = expanded;
  lsp.content = content;
  db.bytes += costOf(lsp);
}

/** Every LSP of a system: its own and those of its pseudonodes. */
export function* lspsOf({ order, byKey }: Lsdb, system: string): Generator<StoredLsp> {
  for (let i = lowerBound(order, system); i < order.length && order[i]!.startsWith(system); i++)
    yield byKey.get(order[i]!)!;
}

function linkNode(db: Lsdb, lsp: StoredLsp): void {
  const fragments = db.nodes.get(lsp.node);
  if (fragments) fragments.set(lsp.fragment, lsp);
  else db.nodes.set(lsp.node, new Map([[lsp.fragment, lsp]]));
}

function unlinkNode(db: Lsdb, lsp: StoredLsp): void {
  const fragments = db.nodes.get(lsp.node);
  if (!fragments || fragments.get(lsp.fragment) !== lsp) return;
  fragments.delete(lsp.fragment);
  if (fragments.size === 0) db.nodes.delete(lsp.node);
}

/** The live fragments of a node in order. */
export function fragmentsOf(db: Lsdb, node: string): StoredLsp[] {
  return [...(db.nodes.get(node)?.values() ?? [])].sort((a, b) => a.fragment - b.fragment);
}

/** The names of an LSP, read from its bytes. */
export function identityOf(raw: Uint8Array): Pick<StoredLsp, 'key' | 'system' | 'node' | 'fragment'> {
  const key = lspIdTextAt(raw, 12);
  return { key, system: key.slice(0, 14), node: key.slice(0, 17), fragment: raw[19]! };
}

/** The LSP ID, a view of its bytes. */
export const storedId = ({ raw }: StoredLsp): LspId => readLspId(raw, 12);

/** Which LSPs must be expanded or collapsed (expansion.ts). */
export interface Expansion {
  /** LSPs to decide about. */
  readonly outdated: Set<string>;
  /** LSPs for which there was no headroom. */
  readonly starved: Set<string>;
  retryAt: number;
}

export const newExpansion = (): Expansion => ({ outdated: new Set(), starved: new Set(), retryAt: Infinity });
