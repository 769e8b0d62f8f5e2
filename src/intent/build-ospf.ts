// The sections `ospfv2` and `ospfv3` with their defaults applied.
import type { IpAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';
import type { OspfAreaIntent, OspfIntent, OspfKey } from './intent.ts';
import type { Declared } from './schema.ts';

type Ospfv2 = NonNullable<Declared['ospfv2']>;
type Ospfv3 = NonNullable<Declared['ospfv3']>;

/** Milliseconds. The intervals are FRR's own defaults, so that it needs no lines for them. */
export const OSPF_DEFAULTS = {
  mtu: 1500,
  helloMs: 10_000,
  deadMs: 40_000,
  retransmitMs: 5000,
  holdUnreachableMs: 120_000,
} as const;

/** The interface of the n-th area, n from 0. */
export const ospfInterface = (version: 2 | 3, n: number): string =>
  version === 2 ? `cnpd-ospf${n}` : `cnpd-ospf6-${n}`;

/**
 * 169.254.89.0/31 and those after it: link-local (RFC 3927), so that they clash with nobody's plan; the block has room
 * for 128 areas.
 */
const FIRST_LINK = 0xa9fe_5900n;
export const ospfLinkOf = (n: number): Prefix => ({
  address: { family: 4, value: FIRST_LINK + 2n * BigInt(n) },
  length: 31,
});

export const buildOspfv2 = (declared: Ospfv2): OspfIntent => ({
  version: 2,
  ...common(declared),
  areas: declared.areas.map((area, n) => ({
    ...areaOf(2, area, n),
    instanceId: 0,
    link: endsOf(area.link ?? ospfLinkOf(n)),
  })),
});

export const buildOspfv3 = (declared: Ospfv3): OspfIntent => ({
  version: 3,
  ...common(declared),
  areas: declared.areas.map((area, n) => ({ ...areaOf(3, area, n), instanceId: area['instance-id'] ?? 0 })),
});

function common(declared: Ospfv2 | Ospfv3): Omit<OspfIntent, 'version' | 'areas'> {
  return {
    routerId: declared['router-id'],
    helloSeconds: (declared['hello-interval'] ?? OSPF_DEFAULTS.helloMs) / 1000,
    deadSeconds: (declared['dead-interval'] ?? OSPF_DEFAULTS.deadMs) / 1000,
    retransmitMs: declared['retransmit-interval'] ?? OSPF_DEFAULTS.retransmitMs,
    holdUnreachableMs: declared['hold-unreachable'] ?? OSPF_DEFAULTS.holdUnreachableMs,
  };
}

function areaOf(
  version: 2 | 3,
  declared: Ospfv2['areas'][number] | Ospfv3['areas'][number],
  n: number,
): Omit<OspfAreaIntent, 'instanceId'> {
  return {
    areaId: declared.area,
    interface: declared.interface ?? ospfInterface(version, n),
    mtu: declared.mtu ?? OSPF_DEFAULTS.mtu,
    ignoreMtu: declared['ignore-mtu'] ?? false,
    keys: (declared.authentication ?? []).map(keyOf),
  };
}

/** Exactly one algorithm is there (rules-ospf.ts). */
function keyOf({
  'key-id': id,
  ...secrets
}: { readonly 'key-id': number } & Partial<Record<OspfKey['algorithm'], string | undefined>>): OspfKey {
  const [algorithm, key] = Object.entries(secrets).find(
    (entry): entry is [OspfKey['algorithm'], string] => entry[1] !== undefined,
  )!;
  return { id, algorithm, key };
}

/** FRR's end is the lower address. */
function endsOf({ address, length }: Prefix): NonNullable<OspfAreaIntent['link']> {
  const first = length === 31 ? address.value : address.value + 1n;
  const end = (value: bigint): IpAddress => ({ family: 4, value });
  return { router: end(first), own: end(first + 1n), length };
}
