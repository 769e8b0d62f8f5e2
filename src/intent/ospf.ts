// The sections `ospfv2` and `ospfv3`: the OSPF carriers, each a separate router beside FRR with one adjacency per area
// (PNC §5.2, §5.3). The keys of an area are in ospf-authentication.ts.
import type * as z from 'zod';
import { type IpAddress, formatAddress } from '../model/address.ts';
import { type Prefix, formatPrefix, prefixContains } from '../model/prefix.ts';
import { AUTHENTICATION, type OspfKey, checkKeys, keyOf, keys2, keys3 } from './ospf-authentication.ts';
import { endsOf, linkOf, ospfArea, ospfLink, ospfRouterId } from './ospf-values.ts';
import {
  type Defaults,
  defaulted,
  defaultsOf,
  enabled,
  filled,
  holdUnreachable,
  list,
  section,
  value,
} from './schema-parts.ts';
import { type Report, type Rule, type Seen, each, unique } from './seen.ts';
import { integer, interfaceName, onOff, time } from './values.ts';
import type { Path } from './words.ts';

/** One area: one veth, one adjacency with FRR. */
interface OspfAreaIntent {
  /** 32 bits. */
  readonly areaId: number;
  /** Name of the veth end in the router's namespace, on which FRR runs OSPF. cnpd creates and removes it. */
  readonly interface: string;
  readonly mtu: number;
  /** Accept a neighbor whose MTU is larger. */
  readonly ignoreMtu: boolean;
  /** OSPFv3 only; 0 with OSPFv2. */
  readonly instanceId: number;
  /** OSPFv2 only: the IPv4 addresses of the veth's two ends, FRR's and cnpd's. */
  readonly link?: { readonly router: IpAddress; readonly own: IpAddress; readonly length: number };
  /** The first signs, all are accepted; none: no authentication. */
  readonly keys: readonly OspfKey[];
}

export interface OspfIntent {
  readonly version: 2 | 3;
  /** 32 bits, not 0; cnpd is a router of its own beside FRR, so this differs from FRR's. */
  readonly routerId: number;
  /** Never empty, each area once. */
  readonly areas: readonly OspfAreaIntent[];
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  readonly retransmitMs: number;
  /** How long entries outlive the reachability of their originator. */
  readonly holdUnreachableMs: number;
}

/** The interface of the n-th area, n from 0. */
const interfaceOf = (version: 2 | 3, n: number): string => (version === 2 ? `cnpd-ospf${n}` : `cnpd-ospf6-${n}`);

const AREA = {
  area: value(ospfArea, 'the area, as in FRR'),
  mtu: defaulted(integer(1280, 9000), '1500', 'MTU of the veth'),
  'ignore-mtu': defaulted(onOff, 'off', 'on: a neighbor with a larger MTU is accepted'),
};

const area2 = section(
  {
    ...AREA,
    interface: value(
      interfaceName,
      'veth end on which FRR runs OSPF; cnpd creates and removes it; ' +
        `default ${interfaceOf(2, 0)} for the first area, ${interfaceOf(2, 1)} for the second`,
    ).optional(),
    link: value(
      ospfLink,
      `addresses of the veth, FRR's end first; default ${formatPrefix(linkOf(0))} ` +
        `for the first area, ${formatPrefix(linkOf(1))} for the second`,
    ).optional(),
    authentication: list(keys2, AUTHENTICATION).optional(),
  },
  'an area with an adjacency of its own',
);
const area3 = section(
  {
    ...AREA,
    interface: value(
      interfaceName,
      `veth end on which FRR runs OSPFv3; cnpd creates and removes it; default ${interfaceOf(3, 0)} for the first area`,
    ).optional(),
    'instance-id': defaulted(integer(0, 31), '0', 'instance ID of the link (RFC 5340)'),
    authentication: list(keys3, AUTHENTICATION).optional(),
  },
  'an area with an adjacency of its own',
);

/** The intervals are FRR's own defaults, so that it needs no lines for them. */
const OSPF = {
  enabled: enabled(),
  'router-id': value(ospfRouterId, "cnpd's own router ID; it differs from FRR's"),
  'hello-interval': defaulted(time('1s', '65535s'), '10s', 'time between two hellos, as FRR has it on the veth'),
  'dead-interval': defaulted(
    time('2s', '65535s'),
    '40s',
    'time without a hello after which a neighbor is lost, as FRR has it on the veth',
  ),
  'retransmit-interval': defaulted(time('1s', '3600s'), '5s', 'time after which an unacknowledged LSA is sent again'),
  'hold-unreachable': holdUnreachable(),
};

const AREAS =
  'areas that this router has, each with an adjacency of its own; ' +
  'if one of several is the backbone, cnpd advertises between them (PNC §5.2, §5.3)';

export const schema2 = section(
  { ...OSPF, areas: list(area2, AREAS) },
  'the OSPFv2 carrier, for IPv4 senders: a stub router beside FRR',
);
export const schema3 = section(
  { ...OSPF, areas: list(area3, AREAS) },
  'the OSPFv3 carrier, for IPv6 senders: a stub router beside FRR',
);

interface Sections {
  readonly ospfv2?: Seen<typeof schema2> | undefined;
  readonly ospfv3?: Seen<typeof schema3> | undefined;
}

const NAMES = ['ospfv2', 'ospfv3'] as const;
type Both = NonNullable<Sections['ospfv2']> | NonNullable<Sections['ospfv3']>;

const sections = (file: Sections): (readonly [(typeof NAMES)[number], Both])[] =>
  NAMES.flatMap((name) => (file[name] ? [[name, file[name]] as const] : []));

/** Area IDs are compared by value, not by spelling. */
const areaText = (area: number): string => formatAddress({ family: 4, value: BigInt(area) });

function areas(file: Sections, report: Report): void {
  for (const [name, ospf] of sections(file)) {
    if (ospf.areas?.length === 0)
      report(
        [name, 'areas'],
        'at least one area',
        'without areas there is no adjacency: remove the section or set enabled: off',
      );
    unique(
      ospf.areas,
      (i) => [name, 'areas', i, 'area'],
      ({ area }) => (area === undefined ? undefined : areaText(area)),
      'area',
      report,
    );
  }
}

/** Each area's veth, with its place in the file and its name; an interface that could not be read has none. */
export function interfaces(file: Sections): { readonly path: Path; readonly name: string | undefined }[] {
  return sections(file).flatMap(([section, ospf]) =>
    each<Seen<typeof area2> | Seen<typeof area3>>(ospf.areas).map(([i, area]) => ({
      path: 'interface' in area ? [section, 'areas', i, 'interface'] : [section, 'areas', i],
      name: 'interface' in area ? area.interface : interfaceOf(section === 'ospfv2' ? 2 : 3, i),
    })),
  );
}

function timers(file: Sections, report: Report): void {
  const fallback = defaultsOf(schema2);
  for (const [name, ospf] of sections(file)) {
    for (const key of ['hello-interval', 'dead-interval'] as const) {
      const ms = ospf[key];
      if (ms !== undefined && ms % 1000 !== 0)
        report([name, key], 'whole seconds', 'OSPF counts this time in whole seconds');
    }
    const hello = ospf['hello-interval'] ?? fallback['hello-interval'];
    const dead = ospf['dead-interval'] ?? fallback['dead-interval'];
    if (dead > hello) continue;
    report(
      [name, 'dead-interval' in ospf ? 'dead-interval' : 'hello-interval'],
      'dead-interval above hello-interval',
      `a neighbor that sends a hello every ${hello / 1000} s is lost after ${dead / 1000} s`,
    );
  }
}

/** Two links with one address would be one link to the kernel. */
function links({ ospfv2 }: Sections, report: Report): void {
  const seen: { readonly i: number; readonly link: Prefix }[] = [];
  for (const [i, area] of each(ospfv2?.areas)) {
    const link = 'link' in area ? area.link : linkOf(i);
    if (!link) continue;
    const other = seen.find((s) => prefixContains(s.link, link.address) || prefixContains(link, s.link.address));
    if (other)
      report(
        ['ospfv2', 'areas', i, ...('link' in area ? ['link'] : [])],
        'a prefix for each link',
        `${formatPrefix(link)} is also the link of ospfv2.areas[${other.i}]`,
      );
    seen.push({ i, link });
  }
}

function keys(file: Sections, report: Report): void {
  for (const [name, ospf] of sections(file))
    for (const [i, area] of each<Seen<typeof area2> | Seen<typeof area3>>(ospf.areas))
      checkKeys(name, [name, 'areas', i, 'authentication'], area.authentication, report);
}

export const rules: readonly Rule<Sections>[] = [areas, timers, links, keys];

type Ospfv2 = z.output<typeof schema2>;
type Ospfv3 = z.output<typeof schema3>;

export const build2 = (declared: Ospfv2): OspfIntent => ({
  version: 2,
  ...common(filled(schema2, declared)),
  areas: declared.areas.map((area, n) => ({
    ...buildArea(2, filled(area2, area), n),
    instanceId: 0,
    link: endsOf(area.link ?? linkOf(n)),
  })),
});

export const build3 = (declared: Ospfv3): OspfIntent => ({
  version: 3,
  ...common(filled(schema3, declared)),
  areas: declared.areas.map((declaredArea, n) => {
    const area = filled(area3, declaredArea);
    return { ...buildArea(3, area, n), instanceId: area['instance-id'] };
  }),
});

type Filled<S extends z.ZodObject> = z.output<S> & Defaults<S>;

const common = (ospf: Filled<typeof schema2> | Filled<typeof schema3>): Omit<OspfIntent, 'version' | 'areas'> => ({
  routerId: ospf['router-id'],
  helloSeconds: ospf['hello-interval'] / 1000,
  deadSeconds: ospf['dead-interval'] / 1000,
  retransmitMs: ospf['retransmit-interval'],
  holdUnreachableMs: ospf['hold-unreachable'],
});

const buildArea = (
  version: 2 | 3,
  area: Filled<typeof area2> | Filled<typeof area3>,
  n: number,
): Omit<OspfAreaIntent, 'instanceId'> => ({
  areaId: area.area,
  interface: area.interface ?? interfaceOf(version, n),
  mtu: area.mtu,
  ignoreMtu: area['ignore-mtu'],
  keys: (area.authentication ?? []).map(keyOf),
});
