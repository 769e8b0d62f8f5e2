// Every scene of containerlab/ as it is in the repository: it comes up, its routers learn what they have to know, and a
// short run shows the main claims, observed as the demo observes them: on the wire, by other code than the dataplane's,
// and once by tshark. The figures of time are the demo's.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NotificationSeen, RunResult } from '../../src/demo/results.ts';
import { daemonLogs, portStates, waitForRoutes } from '../../src/demo/routers.ts';
import { type Observers, makeRun, openObservers } from '../../src/demo/run.ts';
import type { Mode } from '../../src/demo/results.ts';
import type { Scene } from '../../src/demo/scene.ts';
import { checkNotifications } from '../../src/demo/checks.ts';
import { bgp } from '../../src/demo/scenes/bgp.ts';
import { longhaul } from '../../src/demo/scenes/longhaul.ts';
import { proxy } from '../../src/demo/scenes/proxy.ts';
import { source } from '../../src/demo/scenes/source.ts';
import { srv6Wan } from '../../src/demo/scenes/srv6-wan.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import { dissect } from '../support/tshark.ts';
import { ownLabName } from './support/network.ts';
import { until } from '../support/until.ts';

const LONG_ENOUGH_MS = 3000;
const never = new AbortController().signal;

class Stage {
  readonly #scene: Scene;
  readonly #output = mkdtempSync(join(tmpdir(), 'cnpd-scene-'));
  readonly #errors: unknown[] = [];
  readonly #poller = Poller.open({ onError: (error) => this.#errors.push(error) });
  #observers: Observers | undefined;
  #kMin: readonly number[] = [];
  lab!: Lab;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** @returns what the routers learned, and what of that is wrong */
  async up(): Promise<{ readonly sentences: readonly string[]; readonly failures: readonly string[] }> {
    const scene = this.#scene;
    this.lab = await labUp(scene.file, { name: await ownLabName(`t-scene-${scene.name}`) });
    await waitForRoutes(this.lab, scene, never);
    const learned = await scene.learn(this.lab, never);
    this.#kMin = (await portStates(this.lab, scene.watched)).map((state) => state.kMin!);
    this.#observers = await openObservers(this.lab, scene, {
      poller: this.#poller,
      onError: (error) => this.#errors.push(error),
    });
    return learned;
  }

  run(mode: Mode): Promise<RunResult> {
    const spec = this.#scene.runs.find((run) => run.mode === mode)!;
    const modules = {
      lab: this.lab,
      observers: this.#observers!,
      kMin: this.#kMin,
      output: this.#output,
      signal: never,
      progress: () => {},
    };
    return makeRun(this.#scene, { ...spec, durationMs: LONG_ENOUGH_MS }, modules);
  }

  get notifications(): readonly NotificationSeen[] {
    return this.#observers!.notifications.seen;
  }

  /** Another cnpd.yaml for a node, and a reload. */
  async configure(node: string, text: string): Promise<void> {
    const file = join(this.#output, `${node}.yaml`);
    writeFileSync(file, text);
    await this.lab.cover(node, file, '/etc/cnpd/cnpd.yaml');
    await this.lab.mustExec(node, ['cnpctl', 'reload']);
  }

  async down(): Promise<void> {
    this.#observers?.close();
    this.#poller.close();
    await this.lab?.down();
    rmSync(this.#output, { recursive: true });
    expect(this.#errors).toEqual([]);
  }
}

/** Before and after all tests of a scene; its learning is what its beforeAll asserts. */
function staged(scene: Scene): Stage {
  const stage = new Stage(scene);
  beforeAll(async () => {
    expect((await stage.up()).failures).toEqual([]);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.log(await daemonLogs(stage.lab, scene.routers));
  });
  afterAll(() => stage.down());
  return stage;
}

/**
 * The notifications that the routers count as sent arrived, and no others. A Resume is sent by the agent and is not
 * among the triggers of a port.
 */
function expectAllArrived(run: RunResult): void {
  const counted = run.ports.reduce((sum, port) => sum + port.counted.notifications, 0);
  const resumes = run.notifications.nodes.reduce((sum, node) => sum + (node.actions.resume ?? 0), 0);
  expect(run.notifications.count - resumes).toBe(counted);
  expect(run.receiverCnps).toBe(0);
}

describe('containerlab/proxy', () => {
  const stage = staged(proxy);

  test('PNC-3-a PNC-5-c: p1 notifies the proxy that IS-IS taught it, and the proxy sends h1 standard CNPs for its own Queue Pair', async () => {
    const run = await stage.run('cnpd');
    expect(checkNotifications(run, 'cnp')).toEqual([]);
    expectAllArrived(run);
  });
});

describe('containerlab/source', () => {
  const stage = staged(source);

  test('LHCNP-5.6-d A5: leaf1 obeys for h1, which has no congestion control: the queue is bounded, nothing is lost, and h1 hears nothing', async () => {
    const run = await stage.run('cnpd');
    expect(run.notifications.count).toBe(0);
    expect(run.ports[0]!.counted.notifications).toBeGreaterThan(0);
    expect(run.ports[0]!.drops).toBe(0);
  });
});

describe('containerlab/bgp', () => {
  const stage = staged(bgp);

  test('PNC-3-a PNC-5-c A14: leaf2 notifies the proxy that BGP taught it, across a route reflector and a transit AS, and the proxy sends h1 standard CNPs for its own Queue Pair', async () => {
    const run = await stage.run('cnpd');
    expect(checkNotifications(run, 'cnp')).toEqual([]);
    expectAllArrived(run);
  });
});

describe('containerlab/longhaul', () => {
  const stage = staged(longhaul);

  /** Of the nodes that spoke. */
  const speakers = (run: RunResult): string[] => run.notifications.nodes.map(({ node }) => node).sort();

  test('LHCNP-5.5.1-e LHCNP-5.5.1-i LHCNP-5.5-h A6: both nodes send h1 Long-haul CNPs: Reduce, then Resume, no node more than one in a round-trip time', async () => {
    // On a busy machine h1 may not send fast enough for n1 to congest.
    const run = await until(
      'a run in which both nodes spoke, and one of them sent a Resume',
      () => stage.run('cnpd'),
      (tried) =>
        speakers(tried).length > 1 && tried.notifications.nodes.some(({ actions }) => actions.resume)
          ? tried
          : undefined,
      60_000,
    );
    expect(checkNotifications(run, 'long-haul-icmpv6')).toEqual([]);
    expectAllArrived(run);
    expect(speakers(run)).toEqual(['2001:db8:ffff::2', '2001:db8:ffff::3']);
    for (const { node, actions } of run.notifications.nodes) expect(actions['rate-reduce'], node).toBeGreaterThan(0);
    for (const { port, counted, rttMs } of run.ports)
      expect(counted.notifications, port).toBeLessThanOrEqual(run.durationMs / rttMs! + 1);
  });

  test('A9 LHCNP-5.7-a LHCNP-5.7-b LHCNP-5.7-d: n1, nearer to the sender, speaks first; n2 sees the rate fall and waits: its own counters, and those of its kernel, say so', async () => {
    const held = async (): Promise<number> => {
      const rows = JSON.parse(await stage.lab.mustExec('n2', ['cnpctl', 'show', 'counters', '-o', 'json'])) as {
        readonly name: string;
        readonly value: string | number;
      }[];
      return Number(rows.find(({ name }) => name === 'egress.suppressed.deferral')?.value ?? 0);
    };
    const before = await held();
    const first = (run: RunResult, node: string): number =>
      run.notifications.nodes.find((each) => each.node === node)?.firstMs ?? Infinity;
    const run = await until(
      'a run in which n1 spoke first and n2 waited',
      () => stage.run('cnpd'),
      (tried) =>
        first(tried, '2001:db8:ffff::2') < first(tried, '2001:db8:ffff::3') && tried.ports[1]!.counted.deferred > 0
          ? tried
          : undefined,
      60_000,
    );
    // Every packet that found n2's queue above its thresholds meanwhile would have caused a notification, and did not.
    expect(run.ports[1]!.counted.triggers).toBeGreaterThanOrEqual(run.ports[1]!.counted.deferred);
    expect((await held()) - before).toBeGreaterThanOrEqual(run.ports[1]!.counted.deferred);
    expectAllArrived(run);
  });

  test('LHCNP-6.1-a: each of them is 4 octets of ICMPv6 header and 12 of body; tshark finds type 200 and a right checksum', () => {
    const packets = stage.notifications.map(({ packet }) => packet);
    const seen = dissect('raw-ip', packets, ['ipv6.plen', 'icmpv6.type', 'icmpv6.code', 'icmpv6.checksum.status']);
    expect(seen.length).toBeGreaterThan(0);
    for (const s of seen)
      expect(s).toMatchObject({
        'ipv6.plen': ['16'],
        'icmpv6.type': ['200'],
        'icmpv6.code': ['0'],
        'icmpv6.checksum.status': ['1'],
      });
  });
});

describe('containerlab/srv6-wan', () => {
  const stage = staged(srv6Wan);

  test('A17 FCN-4-a FCN-4.2.2-e: p1 sends Fast CNPs to END.CON, pe1 hands them to h1 byte for byte, and p1 has no route to h1', async () => {
    const run = await stage.run('cnpd');
    expect(checkNotifications(run, 'fast-cnp')).toEqual([]);
    expectAllArrived(run);
    expect(run.tunneled).toEqual({ count: run.notifications.count, unchanged: true });
    expect((await stage.lab.exec('p1', ['ip', '-6', 'route', 'get', srv6Wan.sender.address])).code).not.toBe(0);
  });

  test('A16: every mark that p1 makes on an outer header reaches h2 on the inner one', async () => {
    const run = await stage.run('receiver');
    expect(run.ports[0]!.counted.ceMarked).toBeGreaterThan(0);
    expect(run.ceAtReceiver).toBe(run.ports[0]!.counted.ceMarked);
    expect(checkNotifications(run, 'cnp')).toEqual([]);
  });

  test('A16: with the kernel alone at pe2 no mark does', async () => {
    await stage.configure('pe2', 'router: { name: pe2 }\n');
    const run = await stage.run('receiver');
    expect(run.ports[0]!.counted.ceMarked).toBeGreaterThan(0);
    expect(run.ceAtReceiver).toBe(0);
    expect(run.notifications.count).toBe(0);
  });
});
