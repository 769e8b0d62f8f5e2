// The network that the measured agent learns from: LSPs of its neighbor with the sender prefixes, and of thousands of
// routers behind it.
import { type IpAddress, address } from '../../../model/address.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { flagsOf } from '../../../packet/isis/attribute-flags.ts';
import { encodePdu } from '../../../packet/isis/pdu.ts';
import { parseSystemId } from '../../../packet/isis/lsp-id.ts';
import type { IsNeighbor, IsisTlv, PrefixReachability } from '../../../packet/isis/tlv/types.ts';

export const SENDERS = 10_000;
/** What fits into one LSP fragment of 1492 bytes with sub-TLVs 4 and 12. */
export const SENDERS_A_FRAGMENT = 40;
/** Fragments with sender prefixes, beside fragment 0. */
export const SENDER_FRAGMENTS = SENDERS / SENDERS_A_FRAGMENT;
const PNC_BIT = 7;
const LINK_METRIC = 10;

export const AGENT_SYSTEM = '0000.0000.c001';
export const NEIGHBOR_SYSTEM = '0000.0000.0001';
export const systemId = (text: string): Uint8Array => parseSystemId(text)!;

/** 2001:db8:1:I::/64. */
export const senderPrefix = (i: number): Prefix =>
  prefixOf({ family: 6, value: address('2001:db8:1::').value + (BigInt(i) << 64n) }, 64);

interface LspVersion {
  readonly system: Uint8Array;
  readonly fragment: number;
  readonly sequence: number;
}

export const lsp = ({ system, fragment, sequence }: LspVersion, tlvs: readonly IsisTlv[]): Uint8Array =>
  encodePdu({
    kind: 'lsp',
    level: 2,
    remainingLifetime: 1200,
    lspId: { systemId: system, pseudonode: 0, fragment },
    sequence,
    checksum: 0,
    partitionRepair: false,
    attached: false,
    overload: false,
    isType: 3,
    tlvs,
  });

const neighbor = (system: Uint8Array): IsNeighbor => ({
  systemId: system,
  pseudonode: 0,
  metric: LINK_METRIC,
  subTlvs: new Uint8Array(0),
});
/** TLVs of a fragment 0. */
export const router = (adjacent: readonly Uint8Array[], prefixes: readonly PrefixReachability[] = []): IsisTlv[] => [
  { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] },
  { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] },
  { kind: 'extended-is-reachability', neighbors: adjacent.map(neighbor) },
  ...(prefixes.length > 0 ? [{ kind: 'ipv6-reachability', prefixes } as const] : []),
];

const flagged = (prefix: Prefix, proxy: IpAddress): PrefixReachability => ({
  prefix,
  metric: 0xfe000001,
  down: false,
  external: false,
  subTlvs: [
    { kind: 'prefix-attribute-flags', flags: flagsOf(PNC_BIT) },
    { kind: 'ipv6-source-router-id', address: proxy },
  ],
});

/** The neighbor's fragment 0: it reaches the agent, and the first of the routers behind it. */
export const neighborLsp = (sequence: number, behind: boolean): Uint8Array =>
  lsp(
    { system: systemId(NEIGHBOR_SYSTEM), fragment: 0, sequence },
    router([systemId(AGENT_SYSTEM), ...(behind ? [routerSystem(0)] : [])]),
  );

/** The neighbor's other fragments: all sender prefixes, behind one proxy. */
export function senderLsps(sequence: number, proxy: IpAddress): Uint8Array[] {
  const system = systemId(NEIGHBOR_SYSTEM);
  return Array.from({ length: SENDER_FRAGMENTS }, (_, n) => {
    const prefixes = Array.from({ length: SENDERS_A_FRAGMENT }, (_, i) =>
      flagged(senderPrefix(n * SENDERS_A_FRAGMENT + i), proxy),
    );
    const perTlv = 7;
    const tlvs = Array.from({ length: Math.ceil(prefixes.length / perTlv) }, (_, i): IsisTlv => ({
      kind: 'ipv6-reachability',
      prefixes: prefixes.slice(i * perTlv, (i + 1) * perTlv),
    }));
    return lsp({ system, fragment: n + 1, sequence }, tlvs);
  });
}

/** System 1000.0000.RRRR, counted from 16. */
export const routerSystem = (i: number): Uint8Array => Uint8Array.of(0x10, 0, 0, 0, (i + 16) >> 8, (i + 16) & 255);
const CHILDREN = 4;

/**
 * One LSP a router, of a tree behind the neighbor: a link to its parent, links to its children, its loopback and a
 * prefix of hosts.
 * @param metric of the prefixes: another one makes another version
 */
export function routerLsps(count: number, sequence: number, metric: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const parent = i === 0 ? systemId(NEIGHBOR_SYSTEM) : routerSystem(Math.floor((i - 1) / CHILDREN));
    const children = Array.from({ length: CHILDREN }, (_, c) => i * CHILDREN + 1 + c).filter((c) => c < count);
    const plain = (prefix: Prefix): PrefixReachability => ({
      prefix,
      metric,
      down: false,
      external: false,
      subTlvs: [],
    });
    const base = address('2001:db8:8000::').value + (BigInt(i) << 64n);
    const prefixes = [
      plain(prefixOf({ family: 6, value: base }, 64)),
      plain(prefixOf({ family: 6, value: address('2001:db8:ffff:1::').value + BigInt(i) }, 128)),
    ];
    return lsp(
      { system: routerSystem(i), fragment: 0, sequence },
      router([parent, ...children.map(routerSystem)], prefixes),
    );
  });
}
