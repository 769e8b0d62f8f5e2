// K_max from what is measured: the congested node probes the routers that IS-IS advertises (STAMP), takes R from its
// qdisc, and recomputes its threshold when either changes. The round-trip time changes for real: the answers take
// another link, with a delay.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOOPBACK, P, Wan, identity } from './support/wan.ts';
import type { Row } from './support/network.ts';
import { is, moreThan, until } from '../support/until.ts';

/** One way, milliseconds: topologies/wan. */
const DELAY = 20;
/** The product of rate and round-trip time is greater with the delay, and far less without. */
const K_BASE = 40_000;
const SENDERS = [{ prefix: '2001:db8:1::/64', order: ['long-haul-icmpv6'] }];
const node = (port: object, stamp: object = { learn: true, interval: '20ms' }): object =>
  P(SENDERS, { 'k-max': 'auto', 'k-base': '40kB', ...port }, { stamp });
/** Its answers will take another way than the probes came: both ports are the core's, and the check stays on. */
const REFLECTOR = {
  ...identity('pe2'),
  stamp: { reflector: true, 'accept-from': ['2001:db8:ffff::/48'] },
};

let wan: Wan;
beforeAll(async () => {
  wan = await Wan.up();
  await Promise.all([wan.p.start(node({})), wan.pe2.start(REFLECTOR)]);
  await wan.routes([
    [wan.p, LOOPBACK.pe2],
    [wan.pe2, LOOPBACK.p],
  ]);
});
afterAll(() => wan?.down());
beforeEach(async () => {
  await answersTake('the short way');
  await wan.rate('20mbit');
  await wan.reload(REFLECTOR, wan.pe2);
  await wan.reload(node({}));
  await probed();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(wan.net.logs());
  for (const router of [wan.p, wan.pe2]) expect(await router.counter('daemon.unexpected-error')).toBe(0);
});

/** pe2 answers p over the link that IS-IS uses, or over the one with the delay. */
async function answersTake(way: 'the short way' | 'the long way'): Promise<void> {
  const route =
    `ip -6 route ${way === 'the long way' ? 'replace' : 'del'} ${LOOPBACK.p}/128 via ` + 'fe80::5 dev eth3 metric 1';
  await wan.pe2.exec('sh', '-c', way === 'the long way' ? route : `${route} 2>/dev/null || true`);
}
const probed = (): Promise<unknown> =>
  until(
    'pe2 is measured over the short way',
    () => port(),
    (now) => now['k-max'] === K_BASE && typeof now['rtt-ms'] === 'number' && now['rtt-ms'] < DELAY,
  );
const port = async (): Promise<Row> => (await wan.p.get('ports'))[0]!;
const explanation = async (): Promise<string[]> => (await port())['explanation'] as string[];
/** The round-trip time is shown in whole microseconds: bytes that this makes at 40 Mbit/s. */
const ROUNDING = 5;
/** What is claimed of a longer path ends within 1/32 of what is measured (src/stamp/port-rtt.ts). */
const LONG = DELAY / (1 + 1 / 32);
/** Whether K_max is alpha × R × RTT / 8 at a round-trip time with the delay. */
const follows = (row: Row, rateBps: number, alpha = 1): boolean => {
  const rttMs = Number(row['rtt-ms']);
  return rttMs >= LONG && Math.abs(Number(row['k-max']) - (alpha * rateBps * rttMs) / 8000) <= ROUNDING;
};

describe('K_max', () => {
  test('A1 LHCNP-5.3.1-d LHCNP-5.3.1-e LHCNP-5.3.2-a: over a short path k-base wins; `show rtt` shows who was probed, `show ports` how each threshold came about', async () => {
    const rows = await wan.p.show('rtt');
    expect(rows.find((row) => row['target'] === LOOPBACK.pe2)).toMatchObject({ port: 'eth2', source: 'learned' });
    expect((await wan.p.ctl('show', 'rtt')).stdout).toContain(LOOPBACK.pe2);
    const [shown] = await wan.p.show('ports');
    expect(shown).toMatchObject({ 'k-max': K_BASE, 'k-min': K_BASE / 2 });
    const lines = shown!['explanation'] as string[];
    expect(lines[0]).toMatch(
      new RegExp(`^k-max: ${K_BASE} B = max\\(k-base ${K_BASE} B, alpha 1 × R × RTT / 8 = \\d+ B\\)$`),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/R: 20 Mbit\/s = rate of the TBF/),
        expect.stringMatching(/RTT: .* ms = measured/),
        `k-min: ${K_BASE / 2} B = k-max / 2`,
      ]),
    );
    expect((await wan.p.ctl('show', 'ports')).stdout).toContain('rate of the TBF');
  });

  test('A1 LHCNP-5.3.2-h LHCNP-5.3.2-e: it is recomputed when the round-trip time grows and shrinks, and when the rate of the TBF or alpha changes', async () => {
    await answersTake('the long way');
    const grown = await until(
      'k-max follows the round-trip time',
      () => port(),
      (now) => Number(now['rtt-ms']) >= LONG && now,
    );
    expect(follows(grown, 20e6)).toBe(true);
    expect(Number(grown['k-max'])).toBeGreaterThan(K_BASE);
    expect(Number(grown['k-min'])).toBe(Math.floor(Number(grown['k-max']) / 2));
    expect((grown['explanation'] as string[])[0]).toContain(`k-max: ${String(grown['k-max'])} B = max(`);

    await wan.rate('40mbit');
    await until(
      'k-max follows the rate',
      () => port(),
      (now) => follows(now, 40e6) && (now['explanation'] as string[]).join().includes('R: 40 Mbit/s'),
    );
    await wan.reload(node({ alpha: 0.5 }));
    await until(
      'k-max follows alpha',
      () => port(),
      (now) => follows(now, 40e6, 0.5) && (now['explanation'] as string[])[0]!.includes('alpha 0.5'),
    );

    await answersTake('the short way');
    await until('k-max is k-base again', async () => (await port())['k-max'], is(K_BASE));
  });

  test('LHCNP-5.3.1-e: a configured round-trip time needs no probe; a probe that is not answered is shown, with what to do', async () => {
    await wan.reload(node({ rtt: '100ms' }));
    expect(await port()).toMatchObject({ 'k-max': 250_000, 'rtt-ms': 100 });
    expect((await explanation()).join()).toContain('RTT: 100 ms = configured');
    await wan.reload({ ...identity('pe2') }, wan.pe2);
    await wan.reload(node({}, { targets: ['2001:db8:ffff::77'], interval: '20ms' }));
    const { problem, remedy } = await until(
      'the problem is shown',
      () => wan.p.get<{ problems?: { problem: string; remedy: string }[] }>('status'),
      ({ problems }) => problems?.find((each) => each.problem.includes('no round-trip time through eth2')),
    );
    expect(problem).toContain(`k-max is k-base, ${K_BASE} bytes`);
    expect(remedy).toContain('cnpctl show rtt');
    expect(await port()).toMatchObject({ 'k-max': K_BASE });
    expect((await explanation()).join()).toContain('RTT: not measured yet');
  });
});

describe('the reflector', () => {
  test('it answers only whom it accepts, and counts the others', async () => {
    await wan.reload({ ...identity('pe2'), stamp: { reflector: true, 'accept-from': ['2001:db8:77::/48'] } }, wan.pe2);
    const refused = (): Promise<number> => wan.pe2.counter('stamp.reflector.not-accepted');
    const before = await refused();
    await until('refused', () => refused(), moreThan(before));
    // From here on nothing is answered.
    const answered = await wan.pe2.counter('stamp.reflector.answered');
    await until('refused again', () => refused(), moreThan(before + 10));
    expect(await wan.pe2.counter('stamp.reflector.answered')).toBe(answered);
  });
});
