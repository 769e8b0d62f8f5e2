// The thresholds of a watched port (LHCNP §5.3.2): K_max from the bandwidth-delay product or as declared, K_min below
// it, and what they were computed from. Pure and cheap: plan runs again whenever a rate or a round-trip time changes
// (LHCNP-5.3.2-h). Depths are bytes, rates bit/s, times nanoseconds.
import type { PortIntent } from '../intent/intent.ts';
import { DEEPEST } from '../intent/ports.ts';
import type { Problem } from '../model/problem.ts';
import type { LinkFact, QdiscFact } from './facts.ts';
import { nanoseconds } from './token-bucket.ts';
import { formatBitRate, formatMs } from './quantities.ts';

/** A quantity and where it comes from, for the operator. */
interface Sourced {
  readonly value: number;
  readonly source: string;
}

export interface Thresholds {
  readonly kMin: number | null;
  readonly kMax: number | null;
  /** RTT_est, ns; null: not known. */
  readonly rttNs: number | null;
  /** One line a threshold and one an input: `K_max …`, `R …`, `RTT …`, `K_min …`. */
  readonly explanation: readonly string[];
  readonly problems: readonly Problem[];
}

/** What is known of the port besides its declaration. */
interface PortFacts {
  readonly link: LinkFact;
  readonly qdisc: QdiscFact;
  /** As measured. Null: not yet. Absent: this process does not measure, which is no problem of the port. */
  readonly rttMs?: number | null | undefined;
  /** Whether Long-haul CNPs are sent, at most one per flow and RTT. */
  readonly longHaul: boolean;
}

/**
 * alpha × R × RTT / 8, whole bytes, exactly: 100 Gbit/s over 10 ms is 125,000,000 bytes (A1). `alpha` has at most three
 * decimals.
 */
export function bandwidthDelayBytes(rateBitPerS: number, rttNs: number, alpha: number): number {
  const bits = BigInt(Math.round(alpha * 1000)) * BigInt(Math.round(rateBitPerS)) * BigInt(rttNs);
  return Number(bits / (8n * 1000n * 1_000_000_000n));
}

/** R_port: the declared bandwidth, else the qdisc's rate, else the link's speed. */
function rateOf(port: PortIntent, { link, qdisc }: PortFacts): Sourced | undefined {
  if (port.bandwidth !== undefined) return { value: port.bandwidth, source: 'configured' };
  const shaped = qdisc.rateBitPerS;
  const ofQdisc =
    qdisc.rootKind === 'htb'
      ? 'sum of the top-level classes of the HTB'
      : `rate of the ${qdisc.rootKind.toUpperCase()}`;
  // A shaper set above the link's speed shapes nothing.
  if (shaped !== undefined && shaped > 0 && !(link.speedBitPerS !== undefined && link.speedBitPerS < shaped))
    return { value: shaped, source: ofQdisc };
  return link.speedBitPerS === undefined ? undefined : { value: link.speedBitPerS, source: 'speed of the link' };
}

/** RTT_est, ns (LHCNP-5.3.1-d, LHCNP-5.3.1-e). */
function rttOf(port: PortIntent, { rttMs }: PortFacts): Sourced | undefined {
  if (typeof port.rtt === 'number') return { value: nanoseconds(port.rtt), source: 'configured' };
  return port.rtt === 'probe' && rttMs && rttMs > 0 ? { value: nanoseconds(rttMs), source: 'measured' } : undefined;
}

const rttLine = (port: PortIntent, rtt: Sourced | undefined): string =>
  `RTT: ${rtt ? `${formatMs(rtt.value)} = ${rtt.source}` : port.rtt === 'probe' ? 'not measured yet' : 'not known'}`;

interface Maximum {
  readonly value: number | null;
  /** The bandwidth-delay product, if it exceeds the largest depth that the kernel counts; bytes. */
  readonly beyond?: number;
  readonly lines: readonly string[];
}

function maximumOf(port: PortIntent, rate: Sourced | undefined, rtt: Sourced | undefined): Maximum {
  const { 'k-max': kMax, 'k-base': kBase, alpha } = port;
  if (kMax !== 'auto')
    return kMax === undefined
      ? { value: null, lines: ['k-max: none, no notices'] }
      : { value: kMax, lines: [`k-max: ${kMax} B = configured`] };
  const inputs = [
    `  R: ${rate ? `${formatBitRate(rate.value)} = ${rate.source}` : 'not known'}`,
    `  ${rttLine(port, rtt)}`,
  ];
  if (!rate || !rtt)
    return {
      value: kBase,
      lines: [`k-max: ${kBase} B = k-base, because ${rate ? 'RTT' : 'R'} is not known`, ...inputs],
    };
  const product = bandwidthDelayBytes(rate.value, rtt.value, alpha);
  const value = Math.min(Math.max(kBase, product), DEEPEST);
  const capped = value < product ? `, at most ${DEEPEST} B` : '';
  return {
    value,
    ...(value < product && { beyond: product }),
    lines: [
      `k-max: ${value} B = max(k-base ${kBase} B, alpha ${alpha} × R × RTT / 8 = ${product} B)${capped}`,
      ...inputs,
    ],
  };
}

/**
 * K_min (LHCNP-5.3.2-f, LHCNP-5.3.2-g): declared, or half of K_max. The rules of the intent (src/intent/ports.ts)
 * ensure that it is less than K_max.
 */
function minimumOf(port: PortIntent, kMax: number | null): { readonly value: number | null; readonly line: string } {
  if (!port.ecn) return { value: null, line: 'k-min: none, no CE marking' };
  const half = kMax === null ? null : Math.floor(kMax / 2);
  const value = port['k-min'] ?? half;
  if (value === null) return { value, line: 'k-min: none, no CE marking' };
  return { value, line: `k-min: ${value} B = ${port['k-min'] === undefined ? 'k-max / 2' : 'configured'}` };
}

/** The thresholds of a port of which only the declaration is known. */
export function declaredThresholds(port: PortIntent): Pick<Thresholds, 'kMin' | 'kMax'> {
  const kMax = typeof port['k-max'] === 'number' ? port['k-max'] : null;
  return { kMin: minimumOf(port, kMax).value, kMax };
}

export function thresholdsOf(port: PortIntent, facts: PortFacts): Thresholds {
  const [rate, rtt] = [rateOf(port, facts), rttOf(port, facts)];
  const kMax = maximumOf(port, rate, rtt);
  const kMin = minimumOf(port, kMax.value);
  // With a fixed K_max, the RTT still spaces Long-haul CNPs.
  const spacing = port['k-max'] !== 'auto' && (rtt || port.rtt === 'probe') ? [rttLine(port, rtt)] : [];
  return {
    kMin: kMin.value,
    kMax: kMax.value,
    rttNs: rtt?.value ?? null,
    explanation: [...kMax.lines, kMin.line, ...spacing],
    problems: [
      ...unknownInputs(port, facts, rate, rtt),
      ...capped(port, kMax.beyond, facts.qdisc.limitBytes),
      ...beyondLimit(port, { 'k-max': kMax.value, 'k-min': kMin.value }, facts.qdisc.limitBytes),
    ],
  };
}

/** Without R or RTT K_max stays at its floor, which is far too sensitive for a long path. */
function unknownInputs(
  port: PortIntent,
  { qdisc, longHaul, rttMs }: PortFacts,
  rate: Sourced | undefined,
  rtt: Sourced | undefined,
): Problem[] {
  const problems: Problem[] = [];
  const floor = port['k-max'] === 'auto' ? `k-max is k-base, ${port['k-base']} bytes` : undefined;
  if (!rate && floor) {
    const why = qdisc.rootKind === 'htb' ? 'its HTB has no classes' : 'neither its qdisc nor its driver reports it';
    problems.push({
      code: 'ports.rate-unknown',
      feature: 'ports',
      problem: `the rate of ${port.interface} is not known (${why}): ${floor}`,
      remedy: `set \`bandwidth:\` under ports for ${port.interface}`,
    });
  }
  if (!rtt && rttMs !== undefined && port.rtt === 'probe' && (floor || longHaul)) {
    const effect = floor ?? `Long-haul CNPs for one flow are ${port['per-flow-interval']} ms apart (per-flow-interval)`;
    const remedy =
      `\`cnpctl show rtt\` shows which targets answer; a router behind ${port.interface} must run a STAMP ` +
      `reflector that accepts probes from here, or set \`rtt:\` under ports`;
    problems.push({
      code: 'ports.rtt-unknown',
      feature: 'ports',
      problem: `no round-trip time through ${port.interface} has been measured yet: ${effect}`,
      remedy,
    });
  }
  return problems;
}

/** 400 Gbit/s over 80 ms are 4 GB. Below that the formula holds exactly (LHCNP-5.3.2-a). */
function capped(port: PortIntent, product: number | undefined, limitBytes: number | undefined): Problem[] {
  // If the queue drops before, beyondLimit reports that instead.
  if (product === undefined || (limitBytes !== undefined && limitBytes <= DEEPEST)) return [];
  return [
    {
      code: 'ports.k-max-capped',
      feature: 'ports',
      problem:
        `k-max of ${port.interface} is ${DEEPEST} bytes instead of ${product}: ` +
        'the kernel counts a queue in 32 bits',
      remedy: `lower alpha, or set k-max for ${port.interface} to what its queue may hold, at most 4GB`,
    },
  ];
}

function beyondLimit(
  port: PortIntent,
  thresholds: Readonly<Record<'k-max' | 'k-min', number | null>>,
  limitBytes: number | undefined,
): Problem[] {
  if (limitBytes === undefined) return [];
  return (['k-max', 'k-min'] as const).flatMap((name): Problem[] => {
    const bytes = thresholds[name];
    if (bytes === null || bytes < limitBytes) return [];
    const lower = port['k-max'] === 'auto' ? 'lower alpha' : `lower ${name}`;
    return [
      {
        code: 'ports.never-exceeded',
        feature: 'ports',
        problem:
          `${name} of ${port.interface} (${bytes} bytes) is never exceeded: ` +
          `its queue drops at ${limitBytes} bytes`,
        remedy: `${lower}, or raise the limit of the qdisc above it`,
      },
    ];
  });
}
