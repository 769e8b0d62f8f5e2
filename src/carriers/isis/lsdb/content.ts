// The content of an LSP that the speaker uses: neighbors for the graph, overload bit and hostname, the node's addresses
// for the proxy fallback (decision D6), and the entries of each kind of advertisement (kinds/). Of the entries only
// leakable ones are kept. The rest is reported once and read again from the raw LSP when needed, so that a large
// database stays small.
import { isUnicastHost } from '../../../model/address.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import { lspIdTextAt } from '../../../packet/isis/lsp-id.ts';
import { LSP_HEADER_LENGTH } from '../../../packet/isis/pdu-format.ts';
import { decodeTlv } from '../../../packet/isis/tlvs.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import type { BadTlv, Lsp, Received } from '../../../packet/isis/types.ts';
import { forEachNeighbor } from '../../../packet/isis/walk.ts';
import type { NodeAddresses } from '../kinds/attributes.ts';
import type { Found, KindOptions, LspAddresses, ReadEntry } from '../kinds/kind.ts';
import type { IsisKinds } from '../kinds/table.ts';

export interface Edge {
  /** `0000.0000.0001.00`. */
  readonly node: string;
  readonly metric: number;
}

export interface LspContent extends LspAddresses {
  readonly overload: boolean;
  readonly hostname: string | undefined;
  readonly edges: readonly Edge[];
  /** Kept only by a router that leaks between levels. */
  readonly leakable: readonly ReadEntry[];
  /** Prefixes with a proxy, kept or not. */
  readonly proxyPrefixes: number;
  /** Whether an entry depends on the addresses of the node. */
  readonly needsAddress: boolean;
}

export const NO_CONTENT: LspContent = {
  overload: false,
  hostname: undefined,
  edges: [],
  leakable: [],
  proxyPrefixes: 0,
  needsAddress: false,
  routerIds: {},
  interfaces: {},
};

/** The content fields of a purge, or of an LSP that has not been read. */
export const UNREAD = { content: NO_CONTENT, entries: 0, expanded: false, odd: false, reported: false };

/** The content without the entries, which only expanded LSPs keep (expansion.ts). */
export const withoutEntries = (content: LspContent): LspContent =>
  content.leakable.length > 0 ? { ...content, leakable: NONE } : content;

export type ReceivedLsp = Lsp & Received;

export interface ReadLsp {
  readonly content: LspContent;
  /** In the order of the table of kinds; empty when the LSP is unusable. */
  readonly found: readonly Found<ReadEntry>[];
  readonly badTlvs: readonly Pick<BadTlv, 'subType' | 'error'>[];
}

/** TLVs of neighbors, which are walked. Other TLVs are few in an LSP and are decoded one by one. */
const NEIGHBOR_TLVS: readonly number[] = [2, 22, 222];

/** @param keepLeakable whether this router leaks between levels */
export function readLsp(lsp: ReceivedLsp, kinds: IsisKinds, options: KindOptions, keepLeakable: boolean): ReadLsp {
  if (lsp.unusable)
    return { content: { ...NO_CONTENT, overload: lsp.overload }, found: NONE, badTlvs: [{ error: lsp.unusable }] };
  const { raw } = lsp;
  const badTlvs: Pick<BadTlv, 'subType' | 'error'>[] = [];
  const report = (subType: number, error: DecodeError): void => void badTlvs.push({ subType, error });
  const info: NodeInfo = { routerIds: {}, interfaces: {} };
  const readers = kinds.rows.map(({ received }) => received.reader(lsp, options));
  for (let at = LSP_HEADER_LENGTH; at < raw.length; at += 2 + raw[at + 1]!) {
    const type = raw[at]!;
    if (NEIGHBOR_TLVS.includes(type) || kinds.walked.has(type)) continue;
    const tlv = decodeTlv(type, raw.subarray(at + 2, at + 2 + raw[at + 1]!), report);
    if (!tlv.ok) {
      badTlvs.push({ error: tlv.error });
      continue;
    }
    note(tlv.value, info);
    for (const reader of readers) reader.tlv(tlv.value, report);
  }
  const edges: Edge[] = [];
  const badNeighbors = forEachNeighbor(raw, (bytes, offset, metric) =>
    edges.push({ node: nodeAt(bytes, offset), metric }),
  );
  const found = readers.map((reader) => reader.end(info, keepLeakable));
  // A walked TLV is malformed: the full decoder names the error.
  if (badNeighbors > 0 || found.some(isFaulty)) badTlvs.push(...lsp.badTlvs);
  return { content: contentOf(lsp, info, edges, found), found, badTlvs };
}

const isFaulty = ({ faulty }: Found<ReadEntry>): boolean => faulty;

function contentOf(
  { overload }: ReceivedLsp,
  { hostname, routerIds, interfaces }: NodeInfo,
  edges: readonly Edge[],
  found: readonly Found<ReadEntry>[],
): LspContent {
  let leakable: readonly ReadEntry[] = NONE;
  let proxyPrefixes = 0;
  let needsAddress = false;
  for (const each of found) {
    leakable = joined(leakable, each.leakable);
    proxyPrefixes += each.proxyPrefixes;
    needsAddress ||= each.needsAddress;
  }
  return { overload, hostname, edges, leakable, proxyPrefixes, needsAddress, routerIds, interfaces };
}

/** Both lists as one. Usually one is empty; then the other is returned without a copy. */
export const joined = <T>(a: readonly T[], b: readonly T[]): readonly T[] =>
  b.length === 0 ? a : a.length === 0 ? b : [...a, ...b];

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface NodeInfo {
  hostname?: string;
  readonly routerIds: Writable<NodeAddresses>;
  readonly interfaces: Writable<NodeAddresses>;
}

const NONE: readonly never[] = [];

/**
 * `0000.0000.0001.00` of the 7 bytes at `offset`: the first 17 characters of an LSP ID's text (the 8th byte is another
 * byte of the TLV).
 */
const nodeAt = (bytes: Uint8Array, offset: number): string => lspIdTextAt(bytes, offset).slice(0, 17);

function note(tlv: IsisTlv, info: NodeInfo): void {
  const { routerIds, interfaces } = info;
  if (tlv.kind === 'hostname') info.hostname ??= tlv.name;
  else if (tlv.kind === 'ipv4-te-router-id' && isUnicastHost(tlv.address)) routerIds.v4 ??= tlv.address;
  else if (tlv.kind === 'ipv6-te-router-id' && isUnicastHost(tlv.address)) routerIds.v6 ??= tlv.address;
  else if (tlv.kind === 'ipv4-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v4 ??= usable;
  } else if (tlv.kind === 'ipv6-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v6 ??= usable;
  }
}

export function sameEdges(a: readonly Edge[], b: readonly Edge[]): boolean {
  return a.length === b.length && a.every((edge, i) => edge.node === b[i]!.node && edge.metric === b[i]!.metric);
}
