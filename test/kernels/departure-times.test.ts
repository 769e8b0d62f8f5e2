// Flows held by departure times, with a real fq: in a guest of Debian's kernel, since this machine's may have none. The
// times that the program gives are in test/bpf/hold/departure-times.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Guest } from '../guests/guest.ts';
import { WHY_NOT, runInGuest } from './guest-program.ts';
import { LIMIT_MS, bootKernel, kernels } from './kernels.ts';

interface Seen {
  readonly features: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly queues: Readonly<Record<string, unknown>>;
  readonly rate: Readonly<Record<'ms' | 'sent' | 'stamped' | 'entered', number>> & { readonly qpns: number[] };
  readonly pause: { readonly first: number; readonly psns: number[] };
  readonly order: { readonly sent: number; readonly psns: number[] };
  readonly dead: { readonly psns: number[] };
  readonly enforcement: {
    readonly made: string;
    readonly restored: string;
    readonly sent: number;
    readonly psns: number[];
    readonly states: string[];
    readonly counts: Readonly<Record<string, number>>;
  };
  readonly unfit: Readonly<Record<string, unknown>>;
  readonly life: {
    readonly steps: Readonly<Record<string, { readonly ok: boolean; readonly sent: number; readonly psns: number[] }>>;
    readonly kept: string[];
    readonly keptOfDead: string[];
    readonly counts: Readonly<Record<string, number>>;
  };
  readonly both: Readonly<Record<'stamped' | 'entered', number>>;
  readonly vanished: { readonly before: boolean; readonly after: boolean; readonly failed: number };
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, psn) => psn);

describe.skipIf(WHY_NOT !== undefined).each(kernels('backported'))(WHY_NOT ?? 'in a guest with %s', (_, tested) => {
  let guest: Guest | undefined;
  let whyNot: string | undefined;
  let seen: Seen;
  beforeAll(async () => {
    const modules = ['veth', 'sch_fq', 'sch_htb', 'sch_tbf', 'sch_ingress', 'tun'];
    ({ guest, whyNot } = await bootKernel(tested, { name: 'departure-times', modules, part: 'enforce' }));
    if (whyNot === undefined) seen = (await runInGuest(guest, 'departure-times', LIMIT_MS)) as Seen;
  }, 2 * LIMIT_MS);
  beforeEach(({ skip }) => skip(whyNot !== undefined, whyNot));
  afterAll(() => guest?.stop());

  test('the kernel is found to have fq, by trying', () => {
    expect(seen.features.find(({ name }) => name === 'fq')).toMatchObject({ ok: true });
  });

  test('an fq is made where the file asks for it, another one is used as it is, and any other queue stays', () => {
    const own = (flowLimit: number): unknown =>
      expect.stringMatching(
        new RegExp(`^qdisc fq 6e71: root .*limit 1000000p flow_limit ${flowLimit}p buckets 16384 orphan_mask 1048575`),
      );
    expect(seen.queues).toMatchObject({
      ...{ auto: false, own: true, made: own(4000), again: true, changed: own(8000), back: false },
      ...{ restored: seen.queues['before'], theirs: true, taken: true, last: own(4000), cleaned: 1 },
      found: { own: false, options: { flowLimit: 500, limit: 20_000, orphanMask: 1023, horizonUs: 10_000_000 } },
      left: expect.stringMatching(/^qdisc fq 5: root /),
      refused: expect.stringContaining("its root qdisc pfifo is not cnpd's and is no fq"),
    });
  });

  test('a held flow leaves at its rate, and others at once', () => {
    const { ms, qpns, sent, stamped, entered } = seen.rate;
    // The ninth, ten milliseconds a packet.
    expect(ms).toBeGreaterThanOrEqual(80);
    expect(qpns.indexOf(1)).toBeLessThan(9);
    expect([stamped, entered]).toEqual([sent, sent]);
  });

  test('a paused flow is silent for as long as it was told, in order, and its answers are not', () => {
    const { first, psns } = seen.pause;
    expect(first).toBeGreaterThanOrEqual(65.535);
    expect(psns).toEqual([99, 0, 1, 2, 3, 4]);
  });

  test('no packet overtakes another when a flow is held, slowed down, paused, let go and held again', () => {
    expect(seen.order.psns).toEqual(inOrder(seen.order.sent));
  });

  test('nothing overtakes what waits of a hold that nobody renews', () => {
    expect(seen.dead.psns).toEqual(inOrder(30));
  });

  test('LHCNP-5.6-d, LHCNP-5.6-g: a flow is slowed down as nodes say, recovers by itself, loses nothing and keeps its order', () => {
    const { made, restored, sent, psns, states, counts } = seen.enforcement;
    expect(made).toMatch(/^qdisc fq 6e71: root /);
    expect(states).toEqual(expect.arrayContaining(['recovering']));
    expect(psns).toEqual(inOrder(sent));
    expect(counts).toMatchObject({ 'source.hold.recovered': 1, 'source.hold.held': 2 });
    expect(Object.keys(counts).filter((name) => /refused|overdue/.test(name))).toEqual([]);
    expect(restored).toBe(seen.queues['before']);
  });

  test('an fq that the kernel makes by default gives way; one with a short horizon holds nothing; several below an mq do', () => {
    const theirs = { by: 'fq', removesFq: false, makesFq: false, changesFq: false };
    const short = expect.stringMatching(/^the fq of t-hold-a keeps no packet for more than 300 ms \(horizon\)/);
    expect(seen.unfit).toMatchObject({
      byDefault: { own: false, isDefault: true, options: { flowLimit: 100, orphanMask: 1023 } },
      auto: { by: 'classes' },
      fq: { by: 'fq', makesFq: true },
      made: { own: true, options: { flowLimit: 4000, orphanMask: 1_048_575 } },
      below: { own: false, isDefault: false, options: { flowLimit: 100 } },
      ...{ manyQueues: theirs, shortAuto: short, shortFq: short, long: theirs },
    });
  });

  test.each(['restarted', 'by classes', 'by an fq again', 'removed', 'removed while dead'])(
    'no packet is lost or overtakes another while packets wait and cnpd dies or its file changes: %s',
    (step) => {
      const { ok, sent, psns } = seen.life.steps[step]!;
      expect(ok).toBe(true);
      expect(psns).toEqual(inOrder(sent));
    },
  );

  test('the program stays until nothing waits any more, also that of an agent that has died', () => {
    const { kept, keptOfDead, counts } = seen.life;
    expect([kept, keptOfDead]).toEqual([['hold@t-hold-a:egress'], ['hold@t-hold-a:egress']]);
    expect(Object.keys(counts).filter((name) => /refused|failed/.test(name))).toEqual([]);
  });

  test('a port that vanishes is forgotten', () => {
    expect(seen.vanished).toEqual({ before: true, after: false, failed: 0 });
  });

  test('at another port the same flow has a class, if there is an HTB', () => {
    expect(seen.both).toMatchObject({ stamped: 0, entered: 3 });
  });
});
