// How fast own paths come into gobgpd: a bare AddPathStream client, cnpd's client and the whole carrier, all in this
// process, into one gobgpd, in turns. Each has the same paths, a hundred a message, encodes them as it goes with the
// same encoder, and is done when gobgpd's own count of the table says so. The bare client does nothing else: it does
// not watch what gobgpd has.
import { type BgpCarrier, createBgpCarrier } from '../../carriers/bgp/carrier.ts';
import { createGobgpClient } from '../../carriers/bgp/gobgp/client.edge.ts';
import type { GobgpClient } from '../../carriers/bgp/gobgp/gobgp.ts';
import { v3 } from '../../carriers/bgp/gobgp/v3.ts';
import { address } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
import { systemClock } from '../../model/clock.ts';
import { eventLoopWork } from '../../model/work.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { silentLog } from '../../model/log.ts';
import { routerNamespace } from '../support/agent/agent.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { BenchGobgpd, MAX_MESSAGE_BYTES, NEXT_HOP, bgpPath, bgpPrefix, inMessages } from '../support/network/gobgp.ts';
import type { Row } from '../support/report.ts';
import { inTurns, summary } from '../support/statistics.ts';

const ORIGINATED = 20_000;
const ROUNDS = 10;
const PROXY = address('2001:db8:ffff::1');

const prefixes = Array.from({ length: ORIGINATED }, (_, i) => bgpPrefix(i));
const paths = prefixes.map((prefix) => bgpPath(prefix, PROXY));
const origination: Origination = prefixes.map((prefix) => ({ kind: 'sender-prefix', prefix, proxy: PROXY }));

interface Contender {
  /** Puts all of it in. Resolves when gobgpd has answered. */
  put(): Promise<unknown>;
  /** Takes all of it out again and ends. */
  end(): Promise<unknown>;
}

function bare(gobgpd: BenchGobgpd): Contender {
  return {
    put: () => gobgpd.upload(inMessages(paths, (some) => v3.addRequest(some))),
    end: () => gobgpd.upload(inMessages(prefixes, (some) => v3.withdrawRequest(some))),
  };
}

async function client({ socket }: BenchGobgpd): Promise<Contender> {
  let own: GobgpClient | undefined;
  await new Promise<void>((listed) => {
    const listener = { connected: () => {}, routes: () => {}, listed: () => listed(), lost: () => {} };
    own = createGobgpClient(
      { target: `unix:${socket}`, maxMessageBytes: MAX_MESSAGE_BYTES, learn: 'best' },
      { listener, clock: systemClock, work: eventLoopWork(), log: silentLog, count: () => {} },
    );
    own.start();
  });
  return {
    put: () => own!.add(paths),
    end: async () => {
      await own!.withdraw(prefixes);
      await own!.close();
    },
  };
}

async function carrier({ socket }: BenchGobgpd, { signal }: Bench): Promise<Contender> {
  let added = 0;
  let done = (): void => {};
  const count = (name: string, by = 1): void => {
    if (name === 'bgp.own.added' && (added += by) === ORIGINATED) done();
  };
  const own: BgpCarrier = createBgpCarrier(
    {
      gobgp: { target: `unix:${socket}`, maxMessageBytes: MAX_MESSAGE_BYTES },
      nextHop6: NEXT_HOP,
      advertise: 'senders',
      communities: [],
      largeCommunities: [],
      domain: [65002],
      confederation: [],
      policy: true,
      learn: 'best',
      viaNextHop: false,
      holdUnreachableMs: 120_000,
    },
    {
      sink: { learned: () => {}, reachability: () => {}, topology: () => {} },
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      count,
      codePoints: DEFAULT_CODE_POINTS,
    },
  );
  await own.start();
  await until('the carrier is ready', () => own.session().state === 'ready', signal);
  return {
    put: () => {
      own.originate(origination);
      return new Promise<void>((resolve) => (done = resolve));
    },
    end: () => own.stop(),
  };
}

/** @returns how long it took until all of it was there, ms */
async function timed(gobgpd: BenchGobgpd, { put, end }: Contender): Promise<number> {
  const start = performance.now();
  await put();
  const there = await gobgpd.paths();
  const took = performance.now() - start;
  if (there !== ORIGINATED) throw new Error(`gobgpd has ${there} of ${ORIGINATED} paths`);
  await end();
  return took;
}

async function originate(bench: Bench): Promise<Row[]> {
  const gobgpd = await BenchGobgpd.spawn(bench, await routerNamespace(bench));
  const contenders = {
    bare: () => timed(gobgpd, bare(gobgpd)),
    client: async () => timed(gobgpd, await client(gobgpd)),
    carrier: async () => timed(gobgpd, await carrier(gobgpd, bench)),
  };
  const backwards = { carrier: contenders.carrier, client: contenders.client, bare: contenders.bare };
  await inTurns(2, contenders);
  const ms: Record<keyof typeof contenders, number[]> = { bare: [], client: [], carrier: [] };
  // There and back, so that nobody always follows the same one.
  for (let round = 0; round < ROUNDS; round++) {
    const once = await inTurns(1, round % 2 === 0 ? contenders : backwards);
    for (const [who, [took]] of Object.entries(once) as [keyof typeof ms, number[]][]) ms[who].push(took!);
  }
  const rate = (took: readonly number[]): number[] => took.map((t) => (ORIGINATED / t) * 1000);
  const reference = summary(rate(ms.bare));
  const row = (who: string, took: readonly number[], note: string): Row => {
    const measured = summary(rate(took));
    const ratio = measured.median / reference.median;
    return {
      figure: bgpOrigination.name,
      what: `${ORIGINATED} paths into gobgpd, ${who}`,
      unit: 'paths/s',
      measured: measured.median,
      spread: measured,
      reference: 'bare AddPathStream client',
      referenceValue: reference.median,
      referenceSpread: reference,
      ratio,
      target: '≥ 0.90',
      met: ratio >= 0.9,
      note,
    };
  };
  return [
    row('cnpd’s client', ms.client, "from the paths until gobgpd's count has them all; it watches gobgpd all the time"),
    row(
      'the carrier',
      ms.carrier,
      "from the declaration of the prefixes until gobgpd's count has them all: the paths are made from them first",
    ),
  ];
}

export const bgpOrigination: Figure = {
  name: 'bgp-origination',
  title: `BGP: ${ORIGINATED} paths put into gobgpd`,
  measure: originate,
};
