// How soon the sender hears of congestion: from p1's trigger to the CNP on h1's wire, by way of cnpd, and by way of the receiver, for the same packet of the same flow.
// p1 marks and notifies from the same queue depth on, so the packet that makes p1's cnpd speak is also the first that h2 answers. The scene is containerlab/proxy as it is,
// where all delay is behind p1, and again with a delayed access link, so that p1 is half way.
//
// A node at the place x of a path whose one-way delay is D hears back after x·D by cnpd and (2−x)·D by the receiver: ideally (2−x)/x times sooner.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Document, parseDocument } from 'yaml';
import { startListener } from '../demo/endpoints.ts';
import { SCENE, daemonLogs, waitForMapping, waitForRoutes } from '../demo/scene.ts';
import { openBpfObject } from '../kernel/bpf/object.ts';
import { attachTcx } from '../kernel/bpf/tcx.ts';
import { u32Key, viewOf } from '../kernel/dataplane/layout.ts';
import { Netns } from '../kernel/netns.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Lab, labDown, labUp, readTopology } from '../lab/lab.ts';
import { program } from '../lab/program.ts';
import { type Bench, type Figure, bpfObject, until } from './bench.ts';
import type { Row } from './report.ts';
import { summary } from './statistics.ts';

const LAB = 't-bench';
const ACCESS_DELAY = '10ms';
/** Nodes from the sender to the congested one. */
const BEFORE = ['h1', 'leaf1', 'p1'];
const FLOWS = 8;
const THRESHOLD_BYTES = 10_000;
const RATE = '60mbit';
const DURATION = '300ms';
const NEAR = 0.8;

/** The scene under another name, its files by absolute path, and with a delay on h1's link if one is given. Returns the file. */
function topology(bench: Bench, accessDelay: string | undefined): string {
  const document: Document = parseDocument(readFileSync(SCENE, 'utf8'));
  document.set('name', LAB);
  for (const group of ['router', 'cnpd']) {
    const binds = document.getIn(['topology', 'groups', group, 'binds']) as { toJSON(): string[] };
    document.setIn(['topology', 'groups', group, 'binds'], document.createNode(binds.toJSON().map(absolute)));
  }
  if (accessDelay !== undefined) document.setIn(['topology', 'links', 0], document.createNode({ type: 'veth', endpoints: [end('h1', 'eth1'), end('leaf1', 'eth1')], mtu: 1500, vars: { delay: accessDelay } }));
  const file = join(bench.directory, `feedback-${accessDelay ?? 'as-it-is'}.clab.yml`);
  writeFileSync(file, document.toString());
  return file;
}

function absolute(bind: string): string {
  const [source, ...rest] = bind.split(':');
  return [resolve(dirname(SCENE), source!), ...rest].join(':');
}

const end = (node: string, name: string): object => ({ node, interface: name });

/** One-way delay of the path, ms, and p1's place on it. */
function place(file: string): { delayMs: number; x: number } {
  const { links } = readTopology(file);
  const sum = (nodes: readonly string[] | undefined): number =>
    links.filter((l) => nodes === undefined || (nodes.includes(l.a.node) && nodes.includes(l.b.node))).reduce((total, l) => total + l.delayMs, 0);
  return { delayMs: sum(undefined), x: sum(BEFORE) / sum(undefined) };
}

/** Milliseconds of CLOCK_MONOTONIC, of one flow; in the order of the map in bpf/bench/feedback.bpf.c. */
const EVENTS = ['trigger', 'cnpd', 'marked', 'receiver'] as const;
type Times = Record<(typeof EVENTS)[number], number>;

/** What is seen on three wires, by programs there. */
async function tapWires(bench: Bench, lab: Lab): Promise<{ clear(): void; times(): Times | undefined }> {
  const object = openBpfObject(bpfObject('bench_feedback'));
  bench.finally(() => object.close());
  const tap = async (node: string, name: string, direction: 'ingress' | 'egress', how: string): Promise<void> => {
    const netns = Netns.open(lab.netnsPath(node));
    bench.finally(() => netns.close());
    const rtnetlink = Rtnetlink.open({ netns }, bench);
    const { ifindex } = (await rtnetlink.link(name))!;
    rtnetlink.close();
    const link = attachTcx({ program: object.program(how), ifindex, direction, netns });
    bench.finally(() => link.close());
  };
  // The notice leaves p1 some microseconds after the trigger.
  await tap('p1', 'eth1', 'egress', 'notice_left');
  await tap('h1', 'eth1', 'ingress', 'cnp_arrived');
  await tap('h2', 'eth1', 'ingress', 'mark_arrived');
  const map = object.map('seen_at');
  return {
    clear: () => EVENTS.forEach((_, i) => map.update(u32Key(i), new Uint8Array(8))),
    times: () => {
      const at = EVENTS.map((_, i) => Number(viewOf(map.lookup(u32Key(i))!).getBigUint64(0, true)) / 1e6);
      return at.includes(0) ? undefined : (Object.fromEntries(EVENTS.map((event, i) => [event, at[i]])) as Times);
    },
  };
}

async function watchBoth(bench: Bench, lab: Lab): Promise<void> {
  const document = parseDocument(readFileSync(join(dirname(SCENE), 'p1/cnpd.yaml'), 'utf8'));
  document.set('ports', document.createNode([{ interface: 'eth2', 'k-min': `${THRESHOLD_BYTES - 1}B`, 'k-max': `${THRESHOLD_BYTES}B` }]));
  const file = join(bench.directory, 'p1.yaml');
  writeFileSync(file, document.toString());
  await lab.cover('p1', file, '/etc/cnpd/cnpd.yaml');
  await lab.mustExec('p1', ['/opt/cnpd/dist/cnpctl.js', 'reload']);
}

async function scene(bench: Bench, accessDelay: string | undefined): Promise<{ x: number; delayMs: number; flows: Times[] }> {
  const file = topology(bench, accessDelay);
  await labDown(LAB);
  const lab = await labUp(file, { signal: bench.signal });
  try {
    await waitForRoutes(lab, bench.signal);
    await waitForMapping(lab, bench.signal);
    await watchBoth(bench, lab);
    const wires = await tapWires(bench, lab);
    const listener = startListener(lab, true);
    await listener.waitFor('ready');
    const flows: Times[] = [];
    const argv = ['send', '--interface', 'eth1', '--address', '2001:db8:1::2', '--peer', '2001:db8:2::2', '--reaction', 'none', '--rate', RATE, '--duration', DURATION];
    for (let flow = 0; flow < FLOWS; flow++) {
      bench.signal.throwIfAborted();
      wires.clear();
      await lab.mustExec('h1', [process.execPath, program('roce-endpoint'), ...argv]);
      await until('feedback both ways', () => wires.times() !== undefined, bench.signal, 5000);
      flows.push(wires.times()!);
      await delay(200);
    }
    await listener.stop();
    return { ...place(file), flows };
  } catch (error) {
    bench.say(await daemonLogs(lab));
    throw error;
  } finally {
    await lab.down();
  }
}

async function row(bench: Bench, name: string, accessDelay: string | undefined): Promise<Row> {
  bench.say(`the scene ${name}`);
  const { x, delayMs, flows } = await scene(bench, accessDelay);
  const cnpd = summary(flows.map((f) => f.cnpd - f.trigger));
  const receiver = summary(flows.map((f) => f.receiver - f.trigger));
  const queue = summary(flows.map((f) => f.marked - f.trigger - (1 - x) * delayMs)).median;
  const ideal = (2 - x) / x;
  const ratio = receiver.median / cnpd.median;
  const withoutQueue = (receiver.median - queue) / cnpd.median;
  return {
    figure: 'feedback', what: `trigger → CNP at h1, ${name} (x = ${x.toFixed(2)})`, unit: 'ms', measured: cnpd.median, spread: cnpd, reference: 'by way of the receiver', referenceValue: receiver.median,
    referenceSpread: receiver, ratio, target: x > 0 ? `near ${ideal.toFixed(1)}` : 'ideal unbounded', met: x > 0 ? withoutQueue >= NEAR * ideal : null,
    note: `D = ${delayMs} ms; ideally ${(x * delayMs).toFixed(0)} against ${((2 - x) * delayMs).toFixed(0)} ms; the marked packet waited ${queue.toFixed(1)} ms in p1's queue and the line, without which the ratio is ` +
      `${withoutQueue.toFixed(2)}${x > 0 ? `; near: at least ${NEAR} of the ideal without that wait` : ''}`,
  };
}

export const feedback: Figure = {
  name: 'feedback',
  title: 'feedback time in the scene, by cnpd and by the receiver',
  measure: async (bench) => [await row(bench, 'as it is', undefined), await row(bench, `${ACCESS_DELAY} access link`, ACCESS_DELAY)],
};
