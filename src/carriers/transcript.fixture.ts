// For tests: what a simulated carrier sends and reports, as text that does not depend on how its files are split:
// frames in hex, reports line by line. same-effects.test.ts compares its digest with the recorded one.
import { createHash } from 'node:crypto';
import { formatAddress } from '../model/address.ts';
import { byKind } from '../model/advertisement.fixture.ts';
import type { LearnedReport } from '../model/advertisement.ts';
import { formatPrefix } from '../model/prefix.ts';

export interface Digest {
  /** Lines of each kind. */
  readonly [kind: string]: number | string;
  /** First 16 hex digits of the SHA-256 of all lines. */
  readonly digest: string;
}

/** One line for each learned item, sorted: the order inside a report has no meaning. */
function reportLines({ source, originator, advertisements }: LearnedReport): string[] {
  const { prefixes, sids, routerAddresses } = byKind(advertisements);
  const lines = [
    ...prefixes.map(
      (p) => `prefix ${formatPrefix(p.prefix)} ${p.pnc} ${p.proxy ? formatAddress(p.proxy) : '-'} ${p.metric}`,
    ),
    ...sids.map((s) => `sid ${formatAddress(s.sid)} ${s.behavior}`),
    ...routerAddresses.map((a) => `router ${formatAddress(a)}`),
  ];
  return lines.map((line) => `${source} ${originator} ${line}`).sort();
}

export class Transcript {
  private readonly hash = createHash('sha256');
  private readonly counts = new Map<string, number>();

  add(kind: string, ...fields: readonly (string | number | boolean | undefined)[]): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.hash.update(`${kind} ${fields.join(' ')}\n`);
  }

  report(at: number, who: string, report: LearnedReport): void {
    this.add('report', at, who, report.source, ...reportLines(report));
  }

  counters(who: string, counters: ReadonlyMap<string, number>): void {
    for (const [name, value] of [...counters].sort(([a], [b]) => (a < b ? -1 : 1)))
      this.add('counter', who, name, value);
  }

  get result(): Digest {
    return {
      ...Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1))),
      digest: this.hash.copy().digest('hex').slice(0, 16),
    };
  }
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
