// The section `router`: who this router is.
import type * as z from 'zod';
import { DEFAULT_SUITE, SUITE_NAMES, type SuiteName } from '../model/router-suite.ts';
import type { Family, IpAddress } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import { hostAddress } from './address-values.ts';
import { grpcTarget, isLocalTarget } from './bgp-values.ts';
import type * as notifications from './notifications.ts';
import type * as ports from './ports.ts';
import type * as proxy from './proxy.ts';
import { defaulted, filled, list, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, each } from './seen.ts';
import type * as stamp from './stamp.ts';
import { hostname, interfaceName, oneOf, onOff } from './values.ts';

export interface RouterIntent {
  readonly name: string;
  /** Source of the notices that this router sends; at most one per family. */
  readonly loopback4?: IpAddress;
  readonly loopback6?: IpAddress;
  /**
   * Whether notices, probes and packets that teach Queue Pairs count only on a port to which the route back to their
   * source leads. False where routing is asymmetric towards hosts or borders.
   */
  readonly reversePathCheck: boolean;
  /** Interfaces towards other routers of the domain; absent: those with a route through a gateway. */
  readonly corePorts?: readonly string[];
  /** The routing suite beside cnpd. Absent: DEFAULT_SUITE. */
  readonly suite?: SuiteIntent;
}

/** `target`: Holo's gRPC northbound, `HOST:PORT`. */
export type SuiteIntent =
  | { readonly name: Exclude<SuiteName, 'holo'> }
  | { readonly name: 'holo'; readonly target: string };

const holo = section(
  { grpc: defaulted(grpcTarget, '127.0.0.1:50051', "Holo's gRPC northbound, on this machine") },
  'where Holo is asked and configured; used with suite: holo',
);

export const schema = section(
  {
    name: value(hostname, 'name of this router in logs and in its IS-IS hostname'),
    loopback: section(
      {
        ipv4: value(hostAddress(4), 'source of notifications over IPv4').optional(),
        ipv6: value(hostAddress(6), 'source of notifications over IPv6').optional(),
      },
      'addresses of this router that never go down; required as soon as a port has k-max, and by stamp',
    ).optional(),
    'reverse-path-check': defaulted(
      onOff,
      'on',
      'on: notifications, STAMP probes and packets that teach Queue Pairs count only ' +
        'on a port to which the route back to their source leads',
    ),
    'core-ports': list(
      value(interfaceName, 'interface'),
      'interfaces to other routers of the domain, for that check; default: those with a route through a gateway',
    ).optional(),
    suite: defaulted(
      oneOf(...SUITE_NAMES),
      DEFAULT_SUITE,
      'the routing suite beside cnpd; none: one that the operator configures',
    ),
    holo: holo.optional(),
  },
  'who this router is',
);

/** As declared. */
export type Loopback = NonNullable<z.output<typeof schema>['loopback']>;

interface Sections {
  readonly router?: Seen<typeof schema> | undefined;
  readonly ports?: Seen<typeof ports.schema> | undefined;
  readonly proxy?: Seen<typeof proxy.schema> | undefined;
  readonly notifications?: Seen<typeof notifications.schema> | undefined;
  readonly stamp?: Seen<typeof stamp.schema> | undefined;
}

interface Need {
  /** `any`: of either family. */
  readonly family: Family | 'any';
  readonly reason: string;
}

/**
 * Which loopback addresses the declared features need as their sources (FCNP-4-c; PNC §4; LHCNP §9: senders know this
 * node by its address).
 */
function* needs(file: Sections): Generator<Need> {
  const notifying = each(file.ports).find(([, port]) => 'k-max' in port);
  if (notifying)
    yield {
      family: 'any',
      reason:
        `${notifying[1].interface === undefined ? `ports[${notifying[0]}]` : `port ${notifying[1].interface}`} ` +
        'sends notices (k-max), which need a loopback address of this router as their source',
    };
  const { notifications: formats, stamp: probes } = file;
  for (const [, { prefix, order }] of each(formats?.enabled === false ? [] : formats?.senders)) {
    if (!prefix) continue;
    const own = (order ?? []).find((format) => format !== undefined && format !== 'proxy');
    if (own)
      yield {
        family: prefix.address.family,
        reason:
          `${own} for ${formatPrefix(prefix)} needs an IPv${prefix.address.family} ` +
          'loopback address of this router as its source',
      };
  }
  for (const [, { prefix, format }] of each(file.proxy?.senders)) {
    if (!prefix || format === undefined || format === 'standard-cnp') continue;
    yield {
      family: prefix.address.family,
      reason:
        `${format} for ${formatPrefix(prefix)} needs an IPv${prefix.address.family} ` +
        'loopback address of this router as its source',
    };
  }
  if (!probes || probes.enabled === false) return;
  yield {
    family: 'any',
    reason: 'stamp needs a loopback address of this router: probes are sent from it and answered at it',
  };
  for (const [, { family }] of each(probes.targets))
    yield {
      family,
      reason: `stamp has IPv${family} targets, which are probed from an IPv${family} loopback address of this router`,
    };
}

/** A loopback that is there but could not be read has been reported already. */
function loopbacks(file: Sections, report: Report): void {
  const loopback = file.router?.loopback ?? {};
  const has = { 4: 'ipv4' in loopback, 6: 'ipv6' in loopback };
  for (const { family, reason } of needs(file)) {
    if (family === 'any' ? has[4] || has[6] : has[family]) continue;
    report(
      family === 'any' ? ['router', 'loopback'] : ['router', 'loopback', `ipv${family}`],
      family === 'any' ? 'ipv6, ipv4 or both' : `an IPv${family} address`,
      reason,
    );
  }
}

function suites({ router }: Sections, report: Report): void {
  const target = router?.holo?.grpc;
  if (target === undefined || isLocalTarget(target)) return;
  const reason = `${target} is another machine: cnpd configures the suite of its own router, and without TLS`;
  report(['router', 'holo', 'grpc'], 'a target on this machine', reason);
}

export const rules: readonly Rule<Sections>[] = [loopbacks, suites];

export function build(declared: z.output<typeof schema>): RouterIntent {
  const { name, loopback, suite, ...rest } = filled(schema, declared);
  const { 'reverse-path-check': reversePathCheck, 'core-ports': corePorts } = rest;
  return {
    name,
    ...(loopback?.ipv4 && { loopback4: loopback.ipv4 }),
    ...(loopback?.ipv6 && { loopback6: loopback.ipv6 }),
    reversePathCheck,
    ...(corePorts && { corePorts }),
    ...(suite !== DEFAULT_SUITE && { suite: suiteOf(suite, rest.holo) }),
  };
}

const suiteOf = (name: SuiteName, declared: z.output<typeof holo> | undefined): SuiteIntent =>
  name === 'holo' ? { name, target: filled(holo, declared).grpc } : { name };
