// What the runs of the scene `arn` have to show, claim by claim. Each failure is a sentence. Pure.
//
// What a service delivers is compared with what its host has sent in the same time: on a busy machine a process sends
// less than it was told to, and that is not the network's doing.
import type { Check } from '../check.ts';
import type { ArnResult, ServiceResult, WireResult } from './results.ts';
import { PASSES_BPS, type RunName, SERVICES, type ServiceName, WIRES } from './scene.ts';
import { serviceText } from './wire.ts';

/** Of what its host sends, B keeps at least this part when A's service is paused … */
const KEPT = 0.98;
/** … and at most this one when the whole priority is: half, if h1 gets the CPU to send what it was told to. */
const HINDERED = 0.9;
/** Of what the narrow port passes, A gets at least this part when it is paused. */
const USED = 0.85;
/** When its packets are dropped, at least this part of what its host sends is sent again: everything behind a gap. */
const REPEATED = 0.3;
/** Source of the tunnels: pe1. */
const TUNNEL_SOURCE = '2001:db8:ffff::1';

/** Part of what was sent that was received, while both services were there. */
export const keptOf = ({ sent, received }: ServiceResult): number =>
  sent.togetherBps === 0 ? 0 : received.togetherBps / sent.togetherBps;
export const mbit = (bps: number): string => `${(bps / 1e6).toFixed(2)} Mbit/s`;
export const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
export const dropsOf = ({ ports }: ArnResult): number => ports.reduce((sum, { drops }) => sum + drops, 0);

type Runs = Readonly<Record<RunName, ArnResult>>;

function byName(runs: readonly ArnResult[]): Runs | undefined {
  const found = (name: RunName): ArnResult | undefined => runs.find((run) => run.name === name);
  const [none, priority, service] = [found('none'), found('priority'), found('service')];
  return none && priority && service && { none, priority, service };
}

const noDrop = (run: ArnResult): string[] =>
  run.ports
    .filter(({ drops }) => drops !== 0)
    .map(({ port, drops }) => `${run.name}: ${port} dropped ${drops} packets`);

/** What a receiving process is too slow for is lost as well, but not in the network. */
const noRepetition = (run: ArnResult, name: ServiceName): string[] => {
  const { retransmitted, outOfOrder, hostDrops } = run.services[name];
  return hostDrops === 0 && (retransmitted !== 0 || outOfOrder !== 0)
    ? [`${run.name}: service ${name} repeated ${retransmitted} packets, and ${outOfOrder} arrived behind a gap`]
    : [];
};

export const repeatedOf = ({ packets, retransmitted }: ServiceResult): number =>
  packets === 0 ? 0 : retransmitted / packets;

function collapse(none: ArnResult, service: ArnResult): string[] {
  const { port, drops } = none.ports[0]!;
  const failures = drops === 0 ? [`none: ${port} dropped nothing`] : [];
  const repeated = repeatedOf(none.services.A);
  if (repeated < REPEATED) failures.push(`none: h1 repeated ${percent(repeated)} of what it sent, expected more`);
  const [lost, paused] = [none, service].map(({ services }) => services.A.received.togetherBps);
  if (lost! >= paused!)
    failures.push(`none: service A got ${mbit(lost!)} through, no less than ${mbit(paused!)} when it is paused`);
  return failures;
}

const narrowUsed = (run: ArnResult): string[] => {
  const part = run.services.A.received.togetherBps / PASSES_BPS;
  return part >= USED ? [] : [`${run.name}: service A got ${percent(part)} of what the port to h2 passes`];
};

function kept(run: ArnResult): string[] {
  const part = keptOf(run.services.B);
  return part >= KEPT ? [] : [`${run.name}: service B delivered ${percent(part)} of what h3 sent`];
}

function hindered(run: ArnResult): string[] {
  const part = keptOf(run.services.B);
  return part <= HINDERED ? [] : [`${run.name}: service B delivered ${percent(part)} of what h3 sent, in spite of A`];
}

const wiresBetweenRouters = new Set(WIRES.filter(({ asked }) => asked).map(({ name }) => name));
const between = ({ wires }: ArnResult): readonly WireResult[] =>
  wires.filter(({ wire }) => wiresBetweenRouters.has(wire));
const total = ({ asks, ends, unsound }: WireResult): number => Math.max(asks + ends, unsound);

const nowhere = (run: ArnResult, wires: readonly WireResult[]): string[] =>
  wires.filter((wire) => total(wire) > 0).map((wire) => `${run.name}: ${total(wire)} ARNs on the wire ${wire.wire}`);

const NAMED: Readonly<Record<Exclude<RunName, 'none'>, string>> = {
  priority: 'priority 0',
  service: serviceText(TUNNEL_SOURCE, SERVICES.A.sid),
};

function arns(run: ArnResult, name: Exclude<RunName, 'none'>): string[] {
  return between(run).flatMap(({ wire, asks, traffic, unsound }) => {
    const failures = asks === 0 ? [`${name}: no ARN asked for a pause on the wire ${wire}`] : [];
    if (unsound !== 0) failures.push(`${name}: ${unsound} ARNs on the wire ${wire} are not as they must be`);
    for (const other of traffic.filter((text) => text !== NAMED[name]))
      failures.push(`${name}: ARNs on the wire ${wire} name ${other}, expected ${NAMED[name]}`);
    return failures;
  });
}

/** pe2 asks p, then p asks pe1; each pauses after it was asked, and pe1, before which there are hosts, asks nobody. */
function nodeByNode(run: ArnResult): string[] {
  const [first, second] = between(run);
  const failures: string[] = [];
  if (first?.firstMs !== null && second?.firstMs !== null && first!.firstMs > second!.firstMs)
    failures.push(`${run.name}: the first ARN on the wire ${second!.wire} precedes that on ${first!.wire}`);
  for (const [i, { node, asked, paused }] of run.routers.entries()) {
    const isLast = i === run.routers.length - 1;
    if (isLast === asked > 0) failures.push(`${run.name}: ${node} sent ${asked} ARNs that ask for a pause`);
    if ((i === 0) === paused > 0) failures.push(`${run.name}: ${node} paused traffic ${paused} times`);
  }
  return failures;
}

const claimsOf = ({ none, priority, service }: Runs): Check[] => [
  {
    claim:
      `Without flow control the port to h2 drops packets. h1 repeats ${percent(REPEATED)} of what it sends at least, ` +
      'and gets less through than when it is paused.',
    failures: collapse(none, service),
  },
  {
    claim: 'With the priority paused nothing is dropped, and service A gets what the port to h2 passes …',
    failures: [...noDrop(priority), ...noRepetition(priority, 'A'), ...narrowUsed(priority)],
  },
  {
    claim: `… but service B, whose path is free, delivers ${percent(HINDERED)} of what its host sends at most.`,
    failures: hindered(priority),
  },
  {
    claim: 'With the service paused nothing is dropped, and service A gets what the port to h2 passes …',
    failures: [...noDrop(service), ...noRepetition(service, 'A'), ...narrowUsed(service)],
  },
  {
    claim: `… and service B delivers ${percent(KEPT)} of what its host sends at least, and repeats nothing.`,
    failures: [...kept(service), ...noRepetition(service, 'B')],
  },
  {
    claim:
      'ARNs on both wires of the WAN are UDP port 1022 to 1022, hop limit 255, class CS6, and name what is paused.',
    failures: [...arns(priority, 'priority'), ...arns(service, 'service')],
  },
  {
    claim: 'Pauses go node by node: pe2 asks p, then p asks pe1, which asks nobody.',
    failures: [...nodeByNode(priority), ...nodeByNode(service)],
  },
  {
    claim: 'No ARN reaches a host; without flow control there is none at all.',
    failures: [
      ...nowhere(none, none.wires),
      ...[priority, service].flatMap((run) =>
        nowhere(
          run,
          run.wires.filter(({ wire }) => !wiresBetweenRouters.has(wire)),
        ),
      ),
    ],
  },
];

export function arnChecks(runs: readonly ArnResult[]): Check[] {
  const all = byName(runs);
  return all ? claimsOf(all) : [{ claim: 'All runs were made.', failures: ['not all three runs were made'] }];
}

export const arnVerdict = (runs: readonly ArnResult[]): string[] => arnChecks(runs).flatMap(({ failures }) => failures);
