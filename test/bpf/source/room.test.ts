// The agent and the program together: which notifications the program takes from hosts follows, at once, from what the
// agent can hold at real ports. A flow that nobody slows down is always left to its host.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SourceSupervisor } from '../../../src/daemon/source-supervisor.ts';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { silentLog } from '../../../src/model/log.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import type { DesiredState } from '../../../src/plan/desired.ts';
import { type Hold, hold as holdKind } from '../../../src/reconcile/hold.ts';
import { type Source, source as sourceKind } from '../../../src/reconcile/source.ts';
import { inNetns, ip } from '../../support/netns.ts';
import { is, until } from '../../support/until.ts';
import { object } from '../support/congested-router.ts';
import { A, B, DATA_SPORT, DROP, NEXT, testPort } from '../support/proxy-under-test.ts';
import { SourceUnderTest, longHaulRoce } from '../support/source-under-test.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';

const directory = mkdtempSync(join(tmpdir(), 't-room-'));
const pins = join(directory, 'bpffs');
const flow = (n: number) => ({ sender: A, receiver: B, senderQpn: 0x100 + n, receiverQpn: 0x200 + n });

let netns: Netns;
let poller: Poller;
let hold: Hold;
let source: SourceUnderTest;
let feature: Source;
let supervisor: SourceSupervisor;
let rttMs: Map<string, number>;
const errors: unknown[] = [];

const desired = (flows: number): DesiredState =>
  ({
    source: {
      senders: [{ id: 'a', prefix: prefix('2001:db8:a::/64'), action: 'enforce' }],
      enforce: {
        queueing: 'auto',
        ports: ['t-room-a', 't-room-b'].map((name) => ({
          ...{ id: name, interface: name },
          ifindex: netns.run(() => interfaceIndex(name)),
        })),
        // None recovers while the test looks.
        ...{ lineRate: 1e9, rttMs: 10_000, response: 50, buffer: 1_000_000, flows },
      },
    },
  }) as unknown as DesiredState;

beforeEach(async () => {
  mountBpffs(pins);
  netns = Netns.create();
  for (const name of ['t-room-a', 't-room-b']) {
    ip(netns, `link add ${name} type veth peer name ${name}-far`);
    ip(netns, `link set ${name} up`);
  }
  poller = Poller.open({ onError: (error) => void errors.push(error) });
  const dependencies = { clock: systemClock, work: eventLoopWork(), log: silentLog, count: () => {} };
  hold = netns.run(() => holdKind.open(openBpfObject(object('hold'), { pinDir: pins }), dependencies));
  source = new SourceUnderTest(pins).teach([1, 2, 3, 4].map(flow)).configure('enforce');
  feature = sourceKind.open(source.object, dependencies);
  rttMs = new Map();
  supervisor = new SourceSupervisor({ poller, ...dependencies, rttMs: () => rttMs });
  const state = desired(2);
  supervisor.apply(state, { source: feature, hold });
  hold.apply(state);
  await hold.settled;
});
afterEach(async () => {
  await supervisor.stop();
  hold.close();
  source.close();
  poller.close();
  netns.close();
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
  expect(errors.splice(0)).toEqual([]);
});

let parameter = 0;
/** Lets a node notify the sender of a flow, each time otherwise than before. Whether the host hears of it. */
const hears = (n: number): boolean => {
  parameter = (parameter % 50) + 1;
  return source.send(longHaulRoce({ sourceQpn: 0x100 + n, parameter })).verdict === NEXT;
};
/** The same of the receiver itself. */
const hearsReceiver = (n: number): boolean => {
  const packet = buildCnp({ source: B, destination: A, destQpn: 0x100 + n, sourcePort: DATA_SPORT });
  const { verdict } = source.send(packet);
  expect([NEXT, DROP]).toContain(verdict);
  return verdict === NEXT;
};
const held = (): number[] => supervisor.holds().map((view) => view.flow.receiverQpn - 0x200);

test('slots: the flow that finds none is its host’s, those that are held stay so, and the next free slot is used', async () => {
  expect([hears(1), hears(2)]).toEqual([false, false]);
  await until('both are held', held, (flows) => flows.length === 2);
  await until('in classes', () => [hears(1), hearsReceiver(1), hears(2), hearsReceiver(2)].includes(true), is(false));
  await until('the third is the host’s', () => hears(3), is(true));
  expect([hearsReceiver(3), hears(1), hearsReceiver(1), hears(2), hearsReceiver(2)]).toEqual([
    ...[true, false, false, false, false],
  ]);
  await until(
    'it is a problem',
    () => supervisor.problems(),
    ([found]) => found?.code === 'source.holds-full',
  );
  expect(supervisor.problems()[0]!.problem).toContain(`Queue Pair ${0x203}, are left to their hosts`);
  expect(supervisor.release({ ...flow(1) })).toBe(1);
  await until('the third is held', () => !hears(3) && held().includes(3), is(true));
  await until('the fourth is the host’s', () => hears(4), is(true));
  expect(hearsReceiver(4)).toBe(true);
});

test('ports: without any, nothing is taken from hosts; with one again, everything is', async () => {
  expect(hears(1)).toBe(false);
  await until('it is held', held, (flows) => flows.length === 1);
  inNetns(netns, 'tc', ...'qdisc replace dev t-room-a root handle 5: pfifo'.split(' '));
  await until('the agent has seen it', () => [hears(1), hold.isReady], is([false, true]));
  ip(netns, 'link del t-room-b');
  await until('the held flow is the host’s', () => hears(1), is(true));
  expect([hearsReceiver(1), hears(2), hearsReceiver(2)]).toEqual([true, true, true]);
  hold.fullPass();
  await hold.settled;
  expect([hold.problems()[0]!.code, hears(1), hears(2)]).toEqual(['source.queue-taken', true, true]);
  inNetns(netns, 'tc', ...'qdisc del dev t-room-a root'.split(' '));
  hold.fullPass();
  await until('it is held again', () => [hears(1), hears(2)], is([false, false]));
});

test('LHCNP-5.6-f: RTT_est is what STAMP measures at the port to the node, otherwise the configured one', async () => {
  const { source: plan } = desired(2);
  const measured = { id: 'a', interface: 'measured', ifindex: testPort().ifindex };
  supervisor.apply(
    { source: { ...plan!, enforce: { ...plan!.enforce!, ports: [measured] } } },
    { source: feature, hold },
  );
  /** How long the flow is held at most from its notification on. */
  const heldMs = async (n: number): Promise<number> => {
    hears(n);
    const { until: end, since } = await until('it is held', () =>
      supervisor.holds().find((view) => view.flow.receiverQpn === 0x200 + n),
    );
    return end - since;
  };
  rttMs.set('another', 30);
  expect(await heldMs(1)).toBeGreaterThan(20_000);
  rttMs.set('measured', 30);
  expect(await heldMs(2)).toBeLessThan(10_000);
});

test('a stopped agent leaves hosts what it has taken before, at once', async () => {
  expect(hears(1)).toBe(false);
  await until('it is held', held, (flows) => flows.length === 1);
  const stopped = supervisor.stop();
  expect([hears(1), hears(2), hearsReceiver(1)]).toEqual([true, true, true]);
  await stopped;
});
