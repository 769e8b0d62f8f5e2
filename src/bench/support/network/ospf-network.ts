// What the measured agent learns from OSPF: the neighbor's LSAs with the sender prefixes, packed as cnpd packs them,
// and the database of a large area behind it.
import { LSA_CAPACITY, SIGNALING_METRIC } from '../../../carriers/ospf/constants.ts';
import type { Content } from '../../../carriers/ospf/content-state.ts';
import { createContent, handleContent } from '../../../carriers/ospf/content.ts';
import { contentWake } from '../../../carriers/ospf/content-tasks.ts';
import type { PrefixEntry } from '../../../carriers/ospf/kinds/sender-prefix-reader.ts';
import { OSPF_ROWS, OspfKinds } from '../../../carriers/ospf/kinds/table.ts';
import { OSPFV2, OSPFV3, type OspfVersion, type OwnLsa } from '../../../carriers/ospf/version.ts';
import { type IpAddress, address, addressBits } from '../../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { DEFAULT_PRIVATE_TYPES, decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { TYPE_V2, TYPE_V3 } from '../../../packet/ospf/lsa-type.ts';
import type { RouterLinkV2, RouterLinkV3 } from '../../../packet/ospf/lsa/types.ts';
import { INITIAL_SEQUENCE, OPTION_V3, type Version } from '../../../packet/ospf/numbers.ts';
import { extendedFlags } from '../../../packet/ospf/prefix-sub-tlvs.ts';
import type { Lsa } from '../../../packet/ospf/types.ts';
import { SENDERS } from './isis-network.ts';

export const OSPF_AGENT = '192.0.2.201';
export const OSPF_LINK = 't-bench-ospf';
/** Ends of OSPFv2's link: the neighbor's, then the agent's. */
export const OSPF_LINK_ADDRESSES = ['169.254.89.0', '169.254.89.1'] as const;

const PNC_BIT = 2;
export const OSPF_VERSIONS = { 2: OSPFV2, 3: OSPFV3 } as const;
const KINDS = { 2: new OspfKinds(2, OSPF_ROWS), 3: new OspfKinds(3, OSPF_ROWS) } as const;
const SENDER_BASE = { 2: '10.0.0.0', 3: '2001:db8:1::' } as const;
const SENDER_LENGTH = { 2: 24, 3: 64 } as const;
const PROXY_BASE = { 2: '198.51.100.0', 3: '2001:db8:ffff::' } as const;

const nth = (base: string, length: number, n: number): Prefix => {
  const { family, value } = address(base);
  return prefixOf({ family, value: value + (BigInt(n) << BigInt(addressBits(family) - length)) }, length);
};
/** 10.X.Y.0/24, or 2001:db8:1:I::/64. */
export const ospfSenderPrefix = (version: Version, i: number): Prefix =>
  nth(SENDER_BASE[version], SENDER_LENGTH[version], i);
/** @param n 0-239 */
export const ospfProxy = (version: Version, n: number): IpAddress => {
  const { family, value } = address(PROXY_BASE[version]);
  return { family, value: value + BigInt(n + 0x10) };
};

/** An LSA as it travels. */
function lsaOf(version: Version, advertisingRouter: number, sequence: number, { type, lsId, body }: OwnLsa): Lsa {
  const lsa = decodeLsa(
    version,
    encodeLsa(
      version,
      { age: 1, options: OSPF_VERSIONS[version].lsaOptions, sequence, type, lsId, advertisingRouter },
      body,
    ),
  );
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return lsa.value;
}

/**
 * The neighbor's LSAs with all sender prefixes, placed once; each time with another proxy, so that every one of them
 * changes.
 */
export class SenderLsas {
  readonly #version: Version;
  readonly #routerId: number;
  readonly #content: Content;
  readonly #lsas: OwnLsa[] = [];
  readonly #count: number;

  constructor(version: Version, routerId: number, count = SENDERS) {
    this.#version = version;
    this.#count = count;
    this.#routerId = routerId;
    this.#content = createContent({
      version,
      name: OSPF_VERSIONS[version].name,
      routerId,
      areas: [{ areaId: 0, capacity: LSA_CAPACITY }],
      codePoints: DEFAULT_CODE_POINTS,
      privateTypes: DEFAULT_PRIVATE_TYPES,
      holdUnreachableMs: 0,
    });
  }

  /** @param n counts the versions, from 0 */
  version(n: number, proxy: IpAddress): Lsa[] {
    const origination = Array.from(
      { length: this.#count },
      (_, i) => ({ kind: 'sender-prefix', prefix: ospfSenderPrefix(this.#version, i), proxy }) as const,
    );
    this.#take({ type: 'declare', origination });
    while (contentWake(this.#content) <= 0) this.#take({ type: 'timer' });
    return this.#lsas.map((lsa) => lsaOf(this.#version, this.#routerId, INITIAL_SEQUENCE + n, lsa));
  }

  #take(event: Parameters<typeof handleContent>[1]): void {
    for (const effect of handleContent(this.#content, event, 0))
      if (effect.type === 'originate') this.#lsas.splice(0, Infinity, ...effect.lsas);
  }
}

const ROUTERS = 4000;
export const AREA_LSAS = 5 * ROUTERS;
const CHILDREN = 4;
const LINK_METRIC = 10;
const firstRouter = 0x0a000001;

/** What makes the neighbor a transit router with a tree of routers behind it. */
export function withArea(version: OspfVersion): OspfVersion {
  const transit = ({ body, ...key }: OwnLsa): OwnLsa => {
    if (body.kind === 'router-v2') return { ...key, body: { ...body, links: [...body.links, linkV2(firstRouter)] } };
    if (body.kind === 'router-v3')
      return {
        ...key,
        body: { ...body, options: body.options | OPTION_V3.router, links: [...body.links, linkV3(firstRouter)] },
      };
    return { ...key, body };
  };
  return { ...version, topology: (place) => version.topology(place).map(transit) };
}

/** Point-to-point links of Router-LSAs. */
const linkV2 = (to: number): RouterLinkV2 => ({
  type: 1,
  linkId: to,
  linkData: 0,
  metric: LINK_METRIC,
  tosMetrics: new Uint8Array(),
});
const linkV3 = (to: number): RouterLinkV3 => ({
  type: 1,
  metric: LINK_METRIC,
  interfaceId: 1,
  neighborInterfaceId: 1,
  neighborRouterId: to,
});

/**
 * The LSAs of an area: 4,000 routers, a tree behind the neighbor, each with a Router-LSA, three LSAs of routes, and a
 * sender prefix with its own proxy.
 * @param round makes another version: every metric and proxy is another one
 */
export function areaLsas(version: Version, neighbor: number, round: number): Lsa[] {
  return Array.from({ length: ROUTERS }, (_, i) => {
    const parent = i === 0 ? neighbor : firstRouter + Math.floor((i - 1) / CHILDREN);
    const children = Array.from({ length: CHILDREN }, (_, c) => i * CHILDREN + 1 + c).filter((c) => c < ROUTERS);
    const own = [
      routerLsa(version, firstRouter + i, [parent, ...children.map((c) => firstRouter + c)]),
      ...routes(version, i, LINK_METRIC + round),
      senderLsa(version, i, round),
    ];
    return own.map((lsa) => lsaOf(version, firstRouter + i, INITIAL_SEQUENCE + round, lsa));
  }).flat();
}

function routerLsa(version: Version, router: number, ends: readonly number[]): OwnLsa {
  if (version === 2)
    return { type: TYPE_V2.router, lsId: router, body: { kind: 'router-v2', flags: 0, links: ends.map(linkV2) } };
  return {
    type: TYPE_V3.router,
    lsId: 0,
    body: {
      kind: 'router-v3',
      flags: 0,
      options: OPTION_V3.v6 | OPTION_V3.router | OPTION_V3.external,
      links: ends.map(linkV3),
    },
  };
}

const AS_EXTERNAL = { 2: 5, 3: 0x4005 } as const;
const SLASH_64 = 64 << 24;

/** AS-External-LSAs (RFC 2328 §A.4.5: mask, metric, no forwarding address, no tag; RFC 5340 §A.4.7: metric, a /64). */
function routes(version: Version, router: number, metric: number): OwnLsa[] {
  return [1, 2, 3].map((n) => {
    const words = version === 2 ? [0xffffff00, metric, 0, 0] : [metric, SLASH_64, 0x20010db9, (router << 4) | n];
    const content = new Uint8Array(4 * words.length);
    words.forEach((word, at) => new DataView(content.buffer).setUint32(4 * at, word));
    const lsId = version === 2 ? (0x14000000 | ((router * 4 + n) << 8)) >>> 0 : n;
    return { type: AS_EXTERNAL[version], lsId, body: { kind: 'unknown', content } };
  });
}

/** In an LSA of its own, as cnpd writes it. */
function senderLsa(version: Version, i: number, round: number): OwnLsa {
  const kinds = KINDS[version];
  const entry: PrefixEntry = {
    kind: 'sender-prefix',
    prefix: ospfSenderPrefix(version, i),
    pnc: true,
    metric: SIGNALING_METRIC,
    route: 'intra-area',
    flags: extendedFlags(PNC_BIT),
    node: false,
    attached: false,
    proxy: ospfProxy(version, round),
    sourceRouter: firstRouter + i,
  };
  const { type, firstId, body } = kinds.lsas[kinds.lsaOf(entry)]!;
  return {
    type: type(DEFAULT_PRIVATE_TYPES),
    lsId: firstId(DEFAULT_PRIVATE_TYPES),
    body: body([entry], firstRouter + i),
  };
}
