// What an LSP says, as far as the speaker cares: neighbours for the graph, prefixes for the learned table, addresses for the proxy fallback
// (codec facts §9 D5, D6), overload bit and hostname. Only prefixes with the P-flag are kept; the others are reported once and read again
// from the raw LSP when needed, so that a large database stays small.
import { type IpAddress, isUnicastHost } from '../../model/address.ts';
import type { LearnedPrefix } from '../../model/advertisement.ts';
import type { Prefix } from '../../model/prefix.ts';
import { hasFlag } from '../../packet/isis/attribute-flags.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';
import type { IsNeighbor, IsisTlv, Lsp, PrefixReachability } from '../../packet/isis/types.ts';

export interface Edge {
  /** `0000.0000.0001.00`. */
  readonly node: string;
  readonly metric: number;
}

/** One prefix entry of TLV 135, 235, 236 or 237. */
export interface PrefixEntry {
  readonly prefix: Prefix;
  readonly metric: number;
  readonly down: boolean;
  readonly external: boolean;
  /** Sub-TLV 4, empty when absent. */
  readonly flags: Uint8Array;
  readonly pnc: boolean;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress;
  readonly source6?: IpAddress;
}

/** Usable addresses of the node itself: TLVs 134/140 first, then 132/232. */
export interface NodeAddresses {
  readonly v4?: IpAddress;
  readonly v6?: IpAddress;
}

export interface LspContent {
  readonly overload: boolean;
  readonly hostname: string | undefined;
  readonly edges: readonly Edge[];
  readonly flagged: readonly PrefixEntry[];
  readonly routerIds: NodeAddresses;
  readonly interfaces: NodeAddresses;
}

export const NO_CONTENT: LspContent = { overload: false, hostname: undefined, edges: [], flagged: [], routerIds: {}, interfaces: {} };

/** Topologies that are not unicast routing of the network's own traffic (RFC 5120 §7.5): in-band management and multicast. */
const FOREIGN_TOPOLOGIES: ReadonlySet<number> = new Set([0, 1, 3, 4, 5]);

export interface ReadLsp {
  readonly content: LspContent;
  readonly prefixes: readonly PrefixEntry[];
  /** Prefixes that the LSP lists both with and without the P-flag in TLVs of one kind. */
  readonly contradictions: number;
}

export function readLsp(lsp: Lsp, pncFlagBit: number): ReadLsp {
  const edges: Edge[] = [];
  let hostname: string | undefined;
  const routerIds: { v4?: IpAddress; v6?: IpAddress } = {};
  const interfaces: { v4?: IpAddress; v6?: IpAddress } = {};
  for (const tlv of lsp.tlvs) {
    if (tlv.kind === 'extended-is-reachability' || tlv.kind === 'mt-is-reachability') edges.push(...tlv.neighbors.map(edgeOf));
    else if (tlv.kind === 'hostname') hostname ??= tlv.name;
    else noteAddresses(tlv, routerIds, interfaces);
  }
  const { prefixes, contradictions } = readPrefixes(lsp, pncFlagBit);
  const flagged = prefixes.filter((p) => p.pnc);
  return { content: { overload: lsp.overload, hostname, edges, flagged, routerIds, interfaces }, prefixes, contradictions };
}

const edgeOf = (n: IsNeighbor): Edge => ({
  node: `${formatSystemId(n.systemId)}.${n.pseudonode.toString(16).padStart(2, '0')}`,
  metric: n.metric,
});

function noteAddresses(tlv: IsisTlv, routerIds: { v4?: IpAddress; v6?: IpAddress }, interfaces: { v4?: IpAddress; v6?: IpAddress }): void {
  if (tlv.kind === 'ipv4-te-router-id' && isUnicastHost(tlv.address)) routerIds.v4 ??= tlv.address;
  else if (tlv.kind === 'ipv6-te-router-id' && isUnicastHost(tlv.address)) routerIds.v6 ??= tlv.address;
  else if (tlv.kind === 'ipv4-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v4 ??= usable;
  } else if (tlv.kind === 'ipv6-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v6 ??= usable;
  }
}

/** One entry a prefix and proxy: a prefix that is flagged anywhere is flagged, and repetitions count once. */
function readPrefixes(lsp: Lsp, pncFlagBit: number): { prefixes: PrefixEntry[]; contradictions: number } {
  const byKey = new Map<string, PrefixEntry[]>();
  let contradictions = 0;
  for (const tlv of lsp.tlvs) {
    if (tlv.kind === 'mt-ipv4-reachability' || tlv.kind === 'mt-ipv6-reachability') {
      if (FOREIGN_TOPOLOGIES.has(tlv.mtId)) continue;
    } else if (tlv.kind !== 'ipv4-reachability' && tlv.kind !== 'ipv6-reachability') continue;
    for (const reach of tlv.prefixes) {
      const entry = entryOf(reach, pncFlagBit);
      const key = prefixKey(entry.prefix);
      const others = byKey.get(key);
      if (!others) byKey.set(key, [entry]);
      else if (merge(others, entry)) contradictions++;
    }
  }
  return { prefixes: [...byKey.values()].flat(), contradictions };
}

/** @returns whether the entries contradict each other */
function merge(entries: PrefixEntry[], entry: PrefixEntry): boolean {
  const flagged = entries[0]!.pnc;
  if (flagged && !entry.pnc) return true;
  if (!flagged && entry.pnc) {
    entries.splice(0, entries.length, entry);
    return true;
  }
  const repeated = entries.some((e) => sameOptional(e.source4, entry.source4) && sameOptional(e.source6, entry.source6));
  if (entry.pnc && !repeated) entries.push(entry);
  return false;
}

export const sameOptional = (a: IpAddress | undefined, b: IpAddress | undefined): boolean => a?.value === b?.value && a?.family === b?.family;

function entryOf(reach: PrefixReachability, pncFlagBit: number): PrefixEntry {
  let flags: Uint8Array = NO_FLAGS;
  let source4: IpAddress | undefined;
  let source6: IpAddress | undefined;
  for (const sub of reach.subTlvs) {
    if (sub.kind === 'prefix-attribute-flags') flags = sub.flags;
    else if (sub.kind === 'ipv4-source-router-id') source4 ??= sub.address;
    else if (sub.kind === 'ipv6-source-router-id') source6 ??= sub.address;
  }
  return {
    prefix: reach.prefix,
    metric: reach.metric,
    down: reach.down,
    external: reach.external,
    flags,
    pnc: hasFlag(flags, pncFlagBit),
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
}

const NO_FLAGS = new Uint8Array(0);

/** Cheaper than text and as unique: what maps of thousands of prefixes are keyed by. */
export const prefixKey = (p: Prefix): string => `${p.address.family}:${p.address.value.toString(36)}/${p.length}`;

/** Where notices for an entry go (facts §9 D6): its own sub-TLVs 12/11, else the node's TLVs 140/134, else 232/132; own family first. */
export function proxyOf(entry: PrefixEntry, routerIds: NodeAddresses, interfaces: NodeAddresses): IpAddress | undefined {
  const own = { ...(entry.source4 && { v4: entry.source4 }), ...(entry.source6 && { v6: entry.source6 }) };
  for (const { v4, v6 } of [own, routerIds, interfaces]) {
    const candidates = entry.prefix.address.family === 4 ? [v4, v6] : [v6, v4];
    const usable = candidates.find((a) => a !== undefined && isUnicastHost(a));
    if (usable) return usable;
  }
  return undefined;
}

export function learnedPrefix(entry: PrefixEntry, routerIds: NodeAddresses, interfaces: NodeAddresses): LearnedPrefix {
  const proxy = entry.pnc ? proxyOf(entry, routerIds, interfaces) : undefined;
  return { prefix: entry.prefix, pnc: entry.pnc, metric: entry.metric, ...(proxy && { proxy }) };
}

export function sameEdges(a: readonly Edge[], b: readonly Edge[]): boolean {
  return a.length === b.length && a.every((edge, i) => edge.node === b[i]!.node && edge.metric === b[i]!.metric);
}
