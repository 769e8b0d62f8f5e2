// The learned table against a reference that scans everything: same answers, and a dataplane table that adds up and is
// minimal.
import { byKind, origination } from '../model/advertisement.fixture.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address, compareAddresses, formatAddress } from '../model/address.ts';
import type { LearnedOf, LearnedReport } from '../model/advertisement.ts';
import { type Prefix, formatPrefix, prefix, prefixContains } from '../model/prefix.ts';
import { LearnedTable } from './table.ts';

const HOLD = 100;
const PREFIXES = [
  '0.0.0.0/0',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.1.0/24',
  '10.1.1.1/32',
  '10.2.0.0/16',
  '192.0.2.0/24',
  '::/0',
  '::/90',
  '2001:db8::/32',
  '2001:db8:1::/48',
  '2001:db8:1:1::/64',
  '2001:db8:1:1::1/128',
  '2001:db8:2::/48',
].map(prefix);
const PROBES = [
  '10.1.1.1',
  '10.1.1.2',
  '10.1.2.1',
  '10.2.0.1',
  '10.3.0.1',
  '192.0.2.9',
  '203.0.113.1',
  '2001:db8:1:1::1',
  '2001:db8:1:1::2',
  '2001:db8:1:2::1',
  '2001:db8:2::1',
  '2001:db8:3::1',
  '3fff::1',
  '::1:0:1',
].map(address);
const PROXIES = ['10.255.0.1', '10.255.0.2', '2001:db8:ffff::1', '2001:db8:ffff::2'].map(address);

const learnedPrefix: fc.Arbitrary<LearnedOf<'sender-prefix'>> = fc.record(
  {
    kind: fc.constant('sender-prefix'),
    prefix: fc.constantFrom(...PREFIXES),
    pnc: fc.boolean(),
    proxy: fc.constantFrom(...PROXIES),
    metric: fc.constantFrom(1, 10, 0xfe000001),
  },
  { requiredKeys: ['kind', 'prefix', 'pnc', 'metric'] },
);
type Step =
  | { readonly kind: 'report'; readonly report: LearnedReport }
  | { readonly kind: 'reachable'; readonly carrier: 'isis' | 'bgp'; readonly names: readonly string[] }
  | { readonly kind: 'own'; readonly prefixes: readonly Prefix[] }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'take'; readonly limit: number };

const carrier = fc.constantFrom('isis' as const, 'bgp' as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        carrier,
        fc.nat({ max: 1 }),
        fc.nat({ max: 2 }),
        fc.uniqueArray(learnedPrefix, { maxLength: 6, selector: (p) => formatPrefix(p.prefix) }),
      )
      .map(([c, fragment, o, prefixes]): Step => ({
        kind: 'report',
        report: { carrier: c, source: `r${o}-${fragment}`, originator: `r${o}`, advertisements: prefixes },
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(carrier, fc.subarray(['r0', 'r1', 'r2']))
      .map(([c, names]): Step => ({ kind: 'reachable', carrier: c, names })),
  },
  {
    weight: 1,
    arbitrary: fc.subarray(PREFIXES, { maxLength: 2 }).map((prefixes): Step => ({ kind: 'own', prefixes })),
  },
  { weight: 2, arbitrary: fc.constantFrom(1, HOLD / 2, HOLD).map((ms): Step => ({ kind: 'wait', ms })) },
  { weight: 2, arbitrary: fc.constantFrom(1, 3, Infinity).map((limit): Step => ({ kind: 'take', limit })) },
);

interface Listed extends LearnedOf<'sender-prefix'> {
  readonly carrier: 'local' | 'isis' | 'bgp';
  readonly originator: string;
  readonly source: string;
}

/** All advertisements in a list; every question is answered by a scan. */
class Reference {
  now = 0;
  private readonly reports = new Map<string, readonly Listed[]>();
  private readonly reachable = new Map<string, boolean>();
  private readonly lostAt = new Map<string, number>();
  private readonly known = new Map<string, readonly string[]>();

  apply(s: Step): void {
    if (s.kind === 'wait') this.now += s.ms;
    if (s.kind === 'own')
      this.reports.set(
        'own',
        s.prefixes.map((p) => ({
          kind: 'sender-prefix',
          prefix: p,
          pnc: true,
          proxy: PROXIES[0]!,
          metric: 0,
          carrier: 'local',
          originator: 'this router',
          source: 'own',
        })),
      );
    if (s.kind === 'report') {
      const { carrier: c, originator, source, advertisements } = s.report;
      const id = `${c} ${originator}`;
      const isNew = !this.listed().some((a) => `${a.carrier} ${a.originator}` === id);
      this.reports.set(
        `${c} ${source}`,
        byKind(advertisements).prefixes.map((p) => ({ ...p, carrier: c as 'isis' | 'bgp', originator, source })),
      );
      // With the last advertisement of an originator the table forgets its reachability; so does this list.
      if (isNew) {
        this.reachable.set(id, this.known.get(c)?.includes(originator) ?? false);
        this.lostAt.delete(id);
      }
    }
    if (s.kind === 'reachable') {
      this.known.set(s.carrier, s.names);
      for (const name of ['r0', 'r1', 'r2']) {
        const id = `${s.carrier} ${name}`;
        const reachable = s.names.includes(name);
        if (this.reachable.get(id) === true && !reachable) this.lostAt.set(id, this.now);
        if (reachable) this.lostAt.delete(id);
        this.reachable.set(id, reachable);
      }
    }
  }

  private listed(): Listed[] {
    return [...this.reports.values()].flat();
  }

  private reachabilityOf(a: Listed): 'reachable' | 'held' | 'dormant' {
    if (a.carrier === 'local') return 'reachable';
    const id = `${a.carrier} ${a.originator}`;
    if (this.reachable.get(id)) return 'reachable';
    const lost = this.lostAt.get(id);
    return lost !== undefined && this.now < lost + HOLD ? 'held' : 'dormant';
  }

  /** Longest match, then D7. */
  best(probe: IpAddress): Listed | undefined {
    const covering = this.listed().filter(
      (a) => prefixContains(a.prefix, probe) && this.reachabilityOf(a) !== 'dormant',
    );
    const longest = Math.max(...covering.map((a) => a.prefix.length));
    const usable = (a: Listed): boolean => a.pnc && a.proxy !== undefined;
    const held = (a: Listed): number => Number(this.reachabilityOf(a) === 'held');
    return covering
      .filter((a) => a.prefix.length === longest)
      .sort(
        (a, b) =>
          Number(usable(b)) - Number(usable(a)) ||
          held(a) - held(b) ||
          Number(a.carrier === 'bgp') - Number(b.carrier === 'bgp') ||
          a.metric - b.metric ||
          (usable(a) && usable(b) ? compareAddresses(a.proxy!, b.proxy!) : 0),
      )[0];
  }
}

const show = (proxy: IpAddress | null | undefined): string => (proxy ? formatAddress(proxy) : 'none');

/** The longest match of a kernel LPM map with 16-byte keys: IPv4 at ::ffff:0:0/96. */
function kernelLookup(map: Kernel, probe: IpAddress): IpAddress | null {
  const wide = (p: Prefix): Prefix =>
    p.address.family === 6
      ? p
      : { address: { family: 6, value: (0xffffn << 32n) | p.address.value }, length: 96 + p.length };
  const target = wide({ address: probe, length: 0 }).address;
  const covers = [...map]
    .map(([text, proxy]) => ({ p: wide(prefix(text)), proxy }))
    .filter(({ p }) => prefixContains(p, target));
  return covers.sort((a, b) => b.p.length - a.p.length)[0]?.proxy ?? null;
}

type Kernel = ReadonlyMap<string, IpAddress | null>;

/** While changes are applied one by one, every address has its old answer or its new one. */
function expectNoThirdAnswer(before: Kernel, passed: readonly Kernel[], after: Kernel): void {
  for (const probe of PROBES) {
    const answers = new Set([before, after].map((map) => show(kernelLookup(map, probe))));
    for (const map of passed) expect(answers).toContain(show(kernelLookup(map, probe)));
  }
}

test('PNC-5-c, A14: after any reports, losses and withdrawals, lookup and dataplane agree with a scan of all advertisements', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const reference = new Reference();
      const table = new LearnedTable({ holdMs: HOLD }, { clock: { now: () => reference.now }, count: () => {} });
      const kernel = new Map<string, IpAddress | null>();
      const take = (limit?: number): void => {
        const before = new Map(kernel);
        const { upserts, deletes } = table.takeChanges(limit);
        const passed: Map<string, IpAddress | null>[] = [];
        for (const { prefix: p, proxy } of upserts) passed.push(new Map(kernel.set(formatPrefix(p), proxy)));
        for (const p of deletes) {
          expect(kernel.delete(formatPrefix(p))).toBe(true);
          passed.push(new Map(kernel));
        }
        if (limit === undefined) expectNoThirdAnswer(before, passed, kernel);
      };
      for (const s of steps) {
        reference.apply(s);
        if (s.kind === 'report') table.learned(s.report);
        if (s.kind === 'reachable') table.reachability({ carrier: s.carrier, reachable: new Set(s.names) });
        if (s.kind === 'own')
          table.declareOwn(origination({ proxies: s.prefixes.map((p) => ({ prefix: p, proxy: PROXIES[0]! })) }));
        if (s.kind === 'take') take(s.limit);
        // The daemon ticks at each deadline; here time moves only in steps.
        table.tick();
      }
      take();
      expect(table.takeChanges()).toEqual({ upserts: [], deletes: [], more: false });

      for (const probe of PROBES) {
        const best = reference.best(probe);
        const found = table.lookup(probe);
        const expected = best?.pnc ? best.proxy : undefined;
        expect({
          probe: formatAddress(probe),
          prefix: found && formatPrefix(found.prefix),
          proxy: show(found?.proxy),
        }).toEqual({ probe: formatAddress(probe), prefix: best && formatPrefix(best.prefix), proxy: show(expected) });
        expect({ probe: formatAddress(probe), show: show(kernelLookup(kernel, probe)) }).toEqual({
          probe: formatAddress(probe),
          show: show(expected),
        });
      }
      expect(new Map([...table.forwarding()].map((e) => [formatPrefix(e.prefix), e.proxy]))).toEqual(kernel);
      // Minimal: each "none" is there because a shorter prefix would answer otherwise.
      for (const [text, proxy] of kernel) {
        if (proxy !== null) continue;
        const without = new Map([...kernel].filter(([other]) => other !== text));
        expect([
          text,
          kernelLookup(without, prefix(text).address) !== null ||
            [...without].some(([other, p]) => p !== null && prefix(other).length < prefix(text).length + 96),
        ]).toEqual([text, true]);
      }
    }),
    { numRuns: 1500 },
  );
});
