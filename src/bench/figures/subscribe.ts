// gNMI Subscribe against a bare stream of the same library: how fast ONCE sends 100,000 leaves, and how old a change is
// when it reaches a subscriber with ON_CHANGE, at 1,000 changes a second.
import { create } from '@bufbuild/protobuf';
import type { SenderState, StateSource } from '../../model/state.ts';
import { eventLoopWork, finish } from '../../model/work.ts';
import {
  Encoding,
  SubscribeRequestSchema,
  SubscriptionList_Mode,
  SubscriptionMode,
} from '../../northbound/gen/gnmi/gnmi_pb.js';
import { checkSubscriptions } from '../../northbound/subscribe/request.ts';
import { Allowance } from '../../northbound/subscribe/allowance.ts';
import { Remembered } from '../../northbound/subscribe/remembered.ts';
import { SubscribeStream } from '../../northbound/subscribe/stream.ts';
import { Watches } from '../../northbound/subscribe/watch.ts';
import type { Bench, Figure } from '../support/bench.ts';
import { type BareStream, runSubscriber, serveBare, serveState, writeAll } from '../support/gnmi-server.ts';
import type { Row } from '../support/report.ts';
import { inTurns, quantile, summary } from '../support/statistics.ts';

/** Ten leaves each. */
const SENDERS = 10_000;
const ROUNDS = 7;
const CHANGING = 1000;
const CHANGES = 10_000;
const CHANGES_PER_SECOND = 1000;
const CHANGE_TARGET_MS = 20;

const sender = (i: number): SenderState => ({
  prefix: `2001:db8:${(i >> 8).toString(16)}:${(i & 0xff).toString(16)}::/64`,
  proxy: '2001:db8:ffff::1',
  best: true,
  pnc: true,
  metric: 0xfe000001,
  carrier: 'isis',
  originator: 'L2 0000.0000.c001',
  source: `L2 0000.0000.c001.${(i & 0xff).toString(16).padStart(2, '0')}-00`,
  since: '2026-11-20T12:00:00.000Z',
  supports: ['fast-cnp'],
});

const request = (mode: SubscriptionList_Mode) =>
  create(SubscribeRequestSchema, {
    request: {
      case: 'subscribe',
      value: {
        mode,
        encoding: Encoding.PROTO,
        subscription: [{ mode: SubscriptionMode.ON_CHANGE, path: { elem: [{ name: 'cnpd' }, { name: 'senders' }] } }],
      },
    },
  });

/** What cnpd would send, in its messages. */
async function recorded(source: StateSource): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  const once = request(SubscriptionList_Mode.ONCE).request;
  if (once.case !== 'subscribe') throw new Error('no list');
  const [work, count, now] = [eventLoopWork(), () => undefined, () => 0n];
  const stream = new SubscribeStream(checkSubscriptions(once.value), {
    ...{ source, count, now, maxQueued: 1 },
    watches: new Watches({ source, work, now }),
    remembered: new Remembered(),
    allowance: new Allowance(),
    sink: { write: (message) => messages.push(message) > 0, drained: () => Promise.resolve() },
  });
  await finish(work, stream.run(), 1000);
  return messages;
}

async function once(bench: Bench, figure: string): Promise<Row> {
  const senders = Array.from({ length: SENDERS }, (_, i) => sender(i));
  const source = { senders: () => senders } as unknown as StateSource;
  const messages = await recorded(source);
  const [ours, bare] = [
    await serveState(bench, source),
    await serveBare(bench, (stream) => void writeAll(stream, messages)),
  ];
  const list = request(SubscriptionList_Mode.ONCE);
  const bytes = new Set<number>();
  const read = (socket: string) => async (): Promise<number> => {
    const seen = await runSubscriber(socket, list);
    bytes.add(seen.bytes);
    return (SENDERS * 10) / (seen.ms / 1000);
  };
  const rates = await inTurns(ROUNDS, { ours: read(ours), bare: read(bare) });
  const [measured, reference] = [summary(rates.ours), summary(rates.bare)];
  const size = [...bytes].map((n) => (n / 1e6).toFixed(1)).join(' or ');
  return {
    figure,
    what: `Subscribe ONCE, ${SENDERS * 10} leaves`,
    unit: 'leaves/s',
    measured: measured.median,
    spread: measured,
    reference: 'the same messages over a bare grpc-js stream',
    referenceValue: reference.median,
    referenceSpread: reference,
    ratio: measured.median / reference.median,
    target: '≥ 0.5×',
    met: measured.median / reference.median >= 0.5,
    note: `PROTO, ${messages.length} messages, ${size} MB; the subscriber is a process of its own`,
  };
}

/** Calls `change` so often on average, with the number of the change, until it was called for all. */
async function changing(change: (i: number) => void): Promise<void> {
  const begun = performance.now();
  for (let i = 0; i < CHANGES;) {
    const due = Math.min(CHANGES, Math.floor(((performance.now() - begun) / 1000) * CHANGES_PER_SECOND));
    while (i < due) change(i++);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const stamp = (): string => String(process.hrtime.bigint());

async function changes(bench: Bench, figure: string): Promise<Row> {
  const senders = Array.from({ length: CHANGING }, (_, i) => sender(i));
  const ours = await serveState(bench, { senders: () => senders } as unknown as StateSource);
  let stream: BareStream | undefined;
  const bare = await serveBare(bench, (opened) => void (stream = opened));
  // A notification with one update that has a value, and no path.
  const bareChange = (): void => {
    const value = Buffer.from(stamp());
    const val = Buffer.concat([Buffer.from([0x1a, value.length + 2, 0x0a, value.length]), value]);
    const update = Buffer.concat([Buffer.from([0x22, val.length]), val]);
    stream?.write(Buffer.concat([Buffer.from([0x0a, update.length]), update]));
  };
  const list = request(SubscriptionList_Mode.STREAM);
  const medians: number[] = [];
  const ages = async (socket: string, change: (i: number) => void): Promise<number> => {
    const subscriber = runSubscriber(socket, list, CHANGES);
    // The subscriber is there, and has the first values.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await changing(change);
    const { agesMs } = await subscriber;
    medians.push(quantile(agesMs, 0.5));
    return quantile(agesMs, 0.99);
  };
  const measured = await ages(
    ours,
    (i) => void (senders[i % CHANGING] = { ...senders[i % CHANGING]!, since: stamp() }),
  );
  const reference = await ages(bare, bareChange);
  return {
    figure,
    what: `ON_CHANGE p99, ${CHANGES_PER_SECOND} changes a second among ${CHANGING} entries`,
    unit: 'ms',
    measured,
    reference: 'one message a change over a bare grpc-js stream',
    referenceValue: reference,
    ratio: measured / reference,
    target: `≤ ${CHANGE_TARGET_MS} ms`,
    met: measured <= CHANGE_TARGET_MS,
    note: `${CHANGES} changes, none coalesced; medians ${medians.map((ms) => ms.toFixed(1)).join(' and ')} ms`,
  };
}

export const subscribe: Figure = {
  name: 'subscribe',
  title: 'gNMI Subscribe: ONCE of a large table, and the age of changes',
  async measure(bench) {
    return [await once(bench, this.name)];
  },
};

export const onChange: Figure = {
  name: 'on-change',
  title: 'gNMI Subscribe: the age of changes',
  async measure(bench) {
    return [await changes(bench, this.name)];
  },
};
