// What the rules of cnpd.yaml see: whatever could be read of the file, and how they report. A value that could not be
// read is undefined, and a rule that needs it stays silent; presence is therefore asked of the key.
import { type Family, type IpAddress, formatAddress } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Declared } from './schema.ts';
import { MAIN_TABLE, allocatedSid } from './sid-allocation.ts';
import type { Path } from './words.ts';

export interface RuleViolation {
  readonly path: Path;
  readonly allowed: string;
  readonly reason: string;
}

export type Report = (path: Path, allowed: string, reason: string) => void;

export type Port = NonNullable<Declared['ports']>[number];
type Notifications = NonNullable<Declared['notifications']>;
export type LongHaul = NonNullable<Notifications['long-haul']>;
export type Policy = Notifications['senders'][number];
type Srv6 = NonNullable<Declared['srv6']>;
export type EndCon = NonNullable<Srv6['end-con']>[number];
type Stamp = NonNullable<Declared['stamp']>;
type CodePoints = NonNullable<Declared['code-points']>;
type Proxy = NonNullable<Declared['proxy']>;
type Isis = NonNullable<Declared['isis']>;
type Ospf = NonNullable<Declared['ospfv2']> & NonNullable<Declared['ospfv3']>;
type OspfArea = Ospf['areas'][number];
type OspfAreaView = Omit<Partial<OspfArea>, 'authentication'> & {
  readonly authentication?:
    readonly (Partial<NonNullable<OspfArea['authentication']>[number]> | undefined)[] | undefined;
};
type Bgp = NonNullable<Declared['bgp']>;
type Gobgp = NonNullable<Bgp['gobgp']>;
type Lists = 'next-hop' | 'communities' | 'large-communities' | 'domain' | 'confederation';
export type BgpView = Omit<Partial<Bgp>, Lists | 'gobgp'> & {
  readonly [K in Lists]?: readonly (NonNullable<Bgp[K]>[number] | undefined)[] | undefined;
};
export type GobgpView = Omit<Partial<Gobgp>, 'tls'> & { readonly tls?: Partial<NonNullable<Gobgp['tls']>> | undefined };
/** Of both versions: what only one has is absent in the other. */
export type OspfView = Omit<Partial<Ospf>, 'areas'> & {
  readonly areas?: readonly (OspfAreaView | undefined)[] | undefined;
};

/** What could be read: any key may be missing, an element that is not what it should be is undefined. */
export interface View {
  readonly loopback?: Partial<NonNullable<Declared['router']['loopback']>> | undefined;
  readonly isis?: Partial<Isis> | undefined;
  readonly keys?: Partial<NonNullable<Isis['authentication']>> | undefined;
  readonly ospfv2?: OspfView | undefined;
  readonly ospfv3?: OspfView | undefined;
  readonly bgp?: BgpView | undefined;
  readonly gobgp?: GobgpView | undefined;
  readonly codePoints?: Partial<CodePoints> | undefined;
  readonly ports: readonly (Partial<Port> | undefined)[];
  readonly borderPorts: readonly (string | undefined)[];
  readonly senders?: readonly (Partial<Proxy['senders'][number]> | undefined)[] | undefined;
  readonly acceptFrom?: readonly (Prefix | undefined)[] | undefined;
  /** One that stands alone is a list of one. */
  readonly proxyAddresses?: readonly (IpAddress | undefined)[] | undefined;
  readonly proxyInterfaces: readonly (string | undefined)[];
  readonly borderAllow?: {
    readonly inbound: readonly (Prefix | undefined)[];
    readonly outbound: readonly (Prefix | undefined)[];
  };
  /** `enabled` is asked by rules about what runs, not by those about what is written. */
  readonly notifications?: {
    readonly enabled: boolean;
    readonly policies?: readonly (Partial<Policy> | undefined)[] | undefined;
    readonly longHaul: Partial<LongHaul>;
  };
  readonly srv6?: {
    readonly endCon: readonly (Partial<EndCon> | undefined)[];
    readonly corePorts?: readonly (string | undefined)[] | undefined;
  };
  readonly stamp?:
    | (Omit<Partial<Stamp>, 'targets' | 'accept-from'> & {
        readonly targets: readonly (IpAddress | undefined)[];
        readonly acceptFrom?: readonly (Prefix | undefined)[] | undefined;
      })
    | undefined;
}

type Unread = Readonly<Record<string, unknown>>;
const mapping = <T>(raw: unknown): Partial<T> | undefined =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? raw : undefined;
const mappings = <T>(raw: unknown): (Partial<T> | undefined)[] | undefined =>
  Array.isArray(raw) ? raw.map((element) => mapping<T>(element)) : undefined;
const values = <T>(raw: unknown): (T | undefined)[] | undefined =>
  Array.isArray(raw) ? (raw as (T | undefined)[]) : undefined;

export function viewOf(declared: unknown): View {
  const root = mapping<Unread>(declared) ?? {};
  const [router, isis, proxy] = [
    mapping<Unread>(root['router']),
    mapping<Isis>(root['isis']),
    mapping<Unread>(root['proxy']),
  ];
  return {
    loopback: mapping(router?.['loopback']),
    isis,
    keys: mapping(isis?.authentication),
    ospfv2: ospfOf(root['ospfv2']),
    ospfv3: ospfOf(root['ospfv3']),
    bgp: bgpOf(root['bgp']),
    gobgp: shaped<GobgpView>(mapping(mapping<Bgp>(root['bgp'])?.gobgp), { tls: mapping }),
    codePoints: mapping(root['code-points']),
    ports: mappings<Port>(root['ports']) ?? [],
    borderPorts: values<string>(root['border-ports']) ?? [],
    senders: mappings(proxy?.['senders']),
    acceptFrom: values<Prefix>(proxy?.['accept-from']),
    proxyAddresses: proxy && ([proxy['address']].flat() as (IpAddress | undefined)[]),
    proxyInterfaces: values<string>(proxy?.['interfaces']) ?? [],
    ...sectionsOf(root),
  };
}

/**
 * A mapping whose lists are lists, and whose mappings are mappings, or undefined: whatever else stands there has been
 * reported.
 */
function shaped<T>(
  raw: Partial<T> | undefined,
  kinds: Readonly<Partial<Record<keyof T & string, (raw: unknown) => unknown>>>,
): Partial<T> | undefined {
  const keys = Object.keys(kinds).filter((key) => raw && key in raw) as (keyof T & string)[];
  return raw && { ...raw, ...Object.fromEntries(keys.map((key) => [key, kinds[key]!(raw[key])])) };
}

const policyOf = (raw: Partial<Policy> | undefined): Partial<Policy> | undefined =>
  shaped<Policy>(raw, { order: values });
/** With the SID that it is given when it names none: one that was misspelt is not there either, but its name is. */
function endConOf(raw: Partial<EndCon> | undefined): Partial<EndCon> | undefined {
  const entry = shaped<EndCon>(raw, { interfaces: values, senders: values });
  if (!entry?.locator || 'sid' in entry) return entry;
  const sid = allocatedSid(entry.locator, entry.table ?? MAIN_TABLE);
  return sid ? { ...entry, sid } : entry;
}
const ospfOf = (raw: unknown): OspfView | undefined =>
  shaped<OspfView>(mapping(raw), {
    areas: (areas) => mappings<OspfArea>(areas)?.map((area) => shaped<OspfArea>(area, { authentication: mappings })),
  });
const bgpOf = (raw: unknown): BgpView | undefined =>
  shaped<BgpView>(mapping(raw), {
    'next-hop': values,
    communities: values,
    'large-communities': values,
    domain: values,
    confederation: values,
  });
const longHaulOf = (raw: unknown): Partial<LongHaul> =>
  shaped<LongHaul>(mapping(raw), {
    early: mapping,
    resume: mapping,
    objects: mapping,
    severity: mappings,
    escalation: mappings,
  }) ?? {};

function sectionsOf(root: Unread): Partial<View> {
  const [allow, notifications, srv6, stamp] = ['border-allow', 'notifications', 'srv6', 'stamp'].map((name) =>
    mapping<Unread>(root[name]),
  );
  return {
    ...(allow && {
      borderAllow: {
        inbound: values<Prefix>(allow['inbound']) ?? [],
        outbound: values<Prefix>(allow['outbound']) ?? [],
      },
    }),
    ...(notifications && {
      notifications: {
        enabled: notifications['enabled'] !== false,
        policies: mappings<Policy>(notifications['senders'])?.map(policyOf),
        longHaul: longHaulOf(notifications['long-haul']),
      },
    }),
    ...(srv6 && {
      srv6: {
        endCon: mappings<EndCon>(srv6['end-con'])?.map(endConOf) ?? [],
        corePorts: values<string>(srv6['core-ports']),
      },
    }),
    ...(stamp && {
      stamp: {
        ...(stamp as Partial<Stamp>),
        targets: values<IpAddress>(stamp['targets']) ?? [],
        acceptFrom: values<Prefix>(stamp['accept-from']),
      },
    }),
  };
}

export type Rule = (view: View, report: Report) => void;

/** The elements that could be read, with their places in the list. */
export const each = <T>(list: readonly (T | undefined)[] | undefined): (readonly [number, T])[] =>
  [...(list ?? []).entries()].flatMap(([i, element]) => (element === undefined ? [] : [[i, element] as const]));

/** Reports the second and later occurrences of a name. */
export function unique<T>(
  list: readonly (T | undefined)[] | undefined,
  path: (i: number) => Path,
  nameOf: (element: T) => string | undefined,
  what: string,
  report: Report,
): void {
  const first = new Map<string, number>();
  for (const [i, element] of each(list)) {
    const name = nameOf(element);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, i);
    else report(path(i), `each ${what} once`, `${name} stands in this list already, as entry ${earlier}`);
  }
}

/** A list of addresses that may stand alone, one or one of each family. `what`: "the IPv4 WHAT". */
export function oneAFamily(
  addresses: readonly (IpAddress | undefined)[] | undefined,
  path: Path,
  what: string,
  report: Report,
): void {
  const first = new Map<Family, string>();
  for (const [i, address] of each(addresses)) {
    const earlier = first.get(address.family);
    if (earlier === undefined) first.set(address.family, formatAddress(address));
    else report([...path, i], 'one address a family', `${earlier} is the IPv${address.family} ${what} already`);
  }
}
