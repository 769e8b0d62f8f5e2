import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { arnFor } from '../../flow-control/received-arn.ts';
import { readTopology } from '../../lab/lab.ts';
import { address } from '../../model/address.ts';
import type { Traffic } from '../../model/flow-control.ts';
import { evaluateArn, meanRate } from './evaluate.ts';
import { arnHtml, arnTable } from './report.ts';
import type { ArnReport, ArnResult } from './results.ts';
import { configuration, grown } from './routers.ts';
import { arnObservations, goodArnResults } from './runs.fixture.ts';
import { ARN, HOLD_PORTS, NARROW_BPS, PORTS, ROUTERS, RUNS, SERVICES, type ServiceName, WIRES } from './scene.ts';
import { headline } from './sentences.ts';
import { arnChecks, arnVerdict } from './verdict.ts';
import { readArn } from './wire.ts';

const [NONE, PRIORITY, SERVICE] = [0, 1, 2] as const;

const set = (i: number, change: (run: ArnResult) => Partial<ArnResult>) => (runs: ArnResult[]) =>
  void (runs[i] = { ...runs[i]!, ...change(runs[i]!) });
const setService = (i: number, name: ServiceName, fields: Partial<ArnResult['services']['A']>) =>
  set(i, ({ services }) => ({ services: { ...services, [name]: { ...services[name], ...fields } } }));
const setWire = (i: number, wire: string, fields: Partial<ArnResult['wires'][number]>) =>
  set(i, ({ wires }) => ({ wires: wires.map((w) => (w.wire === wire ? { ...w, ...fields } : w)) }));
const setPort = (i: number, port: string, drops: number) =>
  set(i, ({ ports }) => ({ ports: ports.map((p) => (p.port === port ? { ...p, drops } : p)) }));
const setRouter = (i: number, node: string, fields: Partial<ArnResult['routers'][number]>) =>
  set(i, ({ routers }) => ({ routers: routers.map((r) => (r.node === node ? { ...r, ...fields } : r)) }));
const received = (togetherBps: number): Partial<ArnResult['services']['A']> => ({
  received: { aloneBps: 7.4e6, togetherBps },
});

test('three runs in which all is well have nothing to criticize', () => {
  expect(arnVerdict(goodArnResults())).toEqual([]);
});

test.each<[string, RegExp, (runs: ArnResult[]) => void]>([
  ['a port that drops nothing', /none: pe2 eth1 dropped nothing/, setPort(NONE, 'pe2 eth1', 0)],
  ['a service that does not suffer', /none: service A got 9.30 Mbit/, setService(NONE, 'A', received(9.3e6))],
  ['a host that repeats little', /none: h1 repeated 7\.\d %/, setService(NONE, 'A', { retransmitted: 900 })],
  ['an ARN without flow control', /none: 3 ARNs on the wire p – pe1/, setWire(NONE, 'p – pe1', { asks: 3 })],
  ['a drop in spite of the pause', /priority: p eth2 dropped 7/, setPort(PRIORITY, 'p eth2', 7)],
  ['another service that goes on', /delivered 97\.\d % .* in spite/, setService(PRIORITY, 'B', received(7e6))],
  ['a drop of the service', /service: pe1 eth2 dropped 1 packets/, setPort(SERVICE, 'pe1 eth2', 1)],
  ['packets out of order', /A repeated 4 packets, and 0/, setService(SERVICE, 'A', { retransmitted: 4 })],
  ['gaps of the other service', /B repeated 0 packets, and 2/, setService(SERVICE, 'B', { outOfOrder: 2 })],
  ['a port that is idle', /service A got 75\.3 % of what/, setService(SERVICE, 'A', received(7e6))],
  ['another service that is hindered', /service B delivered 95\.0 %/, setService(SERVICE, 'B', received(7e6))],
  ['no ARN on a wire', /no ARN asked for a pause on the wire p – pe1/, setWire(SERVICE, 'p – pe1', { asks: 0 })],
  ['an ARN with another hop limit', /2 ARNs on the wire pe2 – p are not/, setWire(SERVICE, 'pe2 – p', { unsound: 2 })],
  ['an ARN for other traffic', /name priority 3, expected/, setWire(SERVICE, 'pe2 – p', { traffic: ['priority 3'] })],
  ['an ARN to a host', /service: 1 ARNs on the wire h3/, setWire(SERVICE, 'h3', { asks: 1 })],
  ['a pause that is asked for too early', /wire p – pe1 precedes/, setWire(SERVICE, 'p – pe1', { firstMs: 1 })],
  ['a router that does not ask', /service: p sent 0 ARNs/, setRouter(SERVICE, 'p', { asked: 0 })],
  ['a router that asks hosts', /service: pe1 sent 5 ARNs/, setRouter(SERVICE, 'pe1', { asked: 5 })],
  ['a router that pauses nothing', /priority: pe1 paused traffic 0 times/, setRouter(PRIORITY, 'pe1', { paused: 0 })],
  ['a run that is missing', /not all three runs/, (runs) => void runs.pop()],
])('%s fails the demo', (_, message, change) => {
  const runs = goodArnResults();
  change(runs);
  expect(arnVerdict(runs)).toEqual([expect.stringMatching(message)]);
});

test('what a host was too slow to receive is not lost in the network', () => {
  const runs = goodArnResults();
  setService(SERVICE, 'A', { hostDrops: 9, retransmitted: 40, outOfOrder: 30 })(runs);
  expect(arnVerdict(runs)).toEqual([]);
});

test('a rate is what events say of the time before them, in parts of the intervals that are within', () => {
  const events = [
    { event: 'connected', t: 100 },
    { event: 'rate', t: 200, sentBps: 10 },
    { event: 'timeout', t: 250 },
    { event: 'rate', t: 300, sentBps: 30 },
  ];
  const what = { begin: 'connected', name: 'rate', field: 'sentBps' };
  expect(meanRate(events, what, 100, 300)).toBe(20);
  expect(meanRate(events, what, 150, 250)).toBe(20);
  expect(meanRate(events, what, 200, 400)).toBe(15);
  expect(meanRate(events, what, 300, 300)).toBe(0);
  expect(meanRate([], what, 0, 100)).toBe(0);
});

test('a run becomes rates before and after A begins, queues, and ARNs by wire', () => {
  const result = evaluateArn(RUNS[SERVICE]!, arnObservations(RUNS[SERVICE]!));
  expect(result).toMatchObject({ name: 'service', durationMs: 7284, aStartsMs: 2284 });
  expect(result.services.A).toMatchObject({ sent: { aloneBps: 0, togetherBps: 18_419_903 }, retransmitted: 0 });
  expect(result.services.B.received).toEqual({ aloneBps: 7_366_163, togetherBps: 7_366_163 });
  expect(result.ports.map(({ port, peakBytes }) => [port, peakBytes])).toEqual([
    ['pe2 eth1', 136_648],
    ['p eth2', 274_010],
    ['pe1 eth2', 6_310_392],
  ]);
  expect(result.wires[0]).toMatchObject({ wire: 'pe2 – p', asks: 112, ends: 62, firstMs: 2384, unsound: 0 });
  expect(result.wires.slice(2).map(({ firstMs }) => firstMs)).toEqual([null, null, null, null]);
  const seen = arnObservations(RUNS[NONE]!);
  const silent = { ...seen, services: { ...seen.services, A: { sender: [], receiver: [] } } };
  expect(() => evaluateArn(RUNS[NONE]!, silent)).toThrow('the sender reported no summary');
});

test('an ARN with another class, port or hop limit, or that names nothing, is not sound', () => {
  const seen = arnObservations(RUNS[SERVICE]!);
  const odd = [{ hopLimit: 64 }, { trafficClass: 0 }, { sourcePort: 9 }, { type: null }, { traffic: null }];
  const arns = seen.arns.map((arn, i) => ({ ...arn, ...odd[i] }));
  expect(evaluateArn(RUNS[SERVICE]!, { ...seen, arns }).wires[0]).toMatchObject({ unsound: odd.length });
});

/** In Ethernet, IPv6 and UDP. */
function frameOf(payload: Uint8Array, { destinationPort = 1022, hopLimit = 255 } = {}): Uint8Array {
  const frame = new Uint8Array(14 + 40 + 8 + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint16(12, 0x86dd);
  view.setUint32(14, (6 << 28) | (0xc0 << 20));
  view.setUint16(18, 8 + payload.length);
  frame.set([17, hopLimit], 20);
  view.setUint16(54, 1022);
  view.setUint16(56, destinationPort);
  view.setUint16(58, 8 + payload.length);
  frame.set(payload, 62);
  return frame;
}

test('FCN-4.1.2-b: an ARN is known by its port, and read with what it names', () => {
  const service: Traffic = {
    ...{ mode: 'service', protocol: 43 },
    source: address('2001:db8:ffff::1'),
    destination: address(SERVICES.A.sid),
  };
  const sound = { hopLimit: 255, trafficClass: 0xc0, sourcePort: 1022, destinationPort: 1022 };
  expect(readArn(frameOf(arnFor(service, 60, 9, 'msb-first')))).toEqual({
    ...sound,
    type: 'congestion',
    traffic: 'service 2001:db8:ffff::1 to 2001:db8:c2::a',
  });
  expect(readArn(frameOf(arnFor({ mode: 'priority', priority: 3 }, undefined, 0, 'msb-first')))).toEqual({
    ...sound,
    type: 'congestion-eliminated',
    traffic: 'priority 3',
  });
  const flow: Traffic = { ...service, mode: 'flow', sourcePort: 50_000, destinationPort: 4791 };
  expect(readArn(frameOf(arnFor(flow, 60, 9, 'msb-first')))).toMatchObject({ traffic: null });
  expect(readArn(frameOf(Uint8Array.of(1), { destinationPort: 53, hopLimit: 64 }))).toEqual({
    ...{ ...sound, destinationPort: 53, hopLimit: 64 },
    ...{ type: null, traffic: null },
  });
  const other = frameOf(Uint8Array.of(1), { destinationPort: 53 });
  new DataView(other.buffer).setUint16(54, 53);
  expect(readArn(other)).toBeUndefined();
  expect(readArn(other.subarray(0, 50))).toBeUndefined();
});

test('table, headline and report have every run; the report has all charts and every failure', () => {
  const runs = goodArnResults();
  expect(arnTable(runs).trim().split('\n')).toHaveLength(4);
  expect(headline(runs)).toMatch(
    /dropped 7644 packets, h1 repeated .* % of what it sent, and A got 4\.46 Mbit\/s .* delivered 51\.6 %.* B delivered 100/,
  );
  expect(headline(runs.slice(1))).toMatch(/not all made/);
  const report: ArnReport = {
    ...{ version: 1, scene: 'arn', title: 'a <title>', path: 'a path', startedAt: 'now' },
    ...{ ok: false, failures: ['one & two'], evidence: ['p asks pe1'], runs },
    checks: [...arnChecks(runs), { claim: 'three', failures: ['not < three'] }],
  };
  const html = arnHtml(report);
  expect(html).toContain('a &lt;title&gt;');
  expect(html).toContain('one &amp; two');
  expect(html).toContain('✗</b>three<br><span>not &lt; three');
  expect(html.match(/<svg/g)).toHaveLength(4);
  expect(html).not.toMatch(/<script|https?:|NaN/);
  expect(arnHtml({ ...report, ok: true, runs: [] })).toContain('checks passed');
});

test('the description of the scene is that of its topology and its cnpd.yaml files', () => {
  const { nodes } = readTopology(ARN.file);
  const hosts = Object.values(SERVICES).flatMap(({ sender, receiver }) => [sender.node, receiver.node]);
  expect(nodes.map(({ name }) => name).sort()).toEqual([...ROUTERS, ...hosts].sort());
  expect(new Set(WIRES.map(({ at }) => at.node))).toEqual(new Set([...hosts, 'p', 'pe1']));
  const commands = nodes.flatMap(({ exec }) => exec.map((argv) => argv.join(' '))).join('\n');
  expect(commands).toContain(`dev ${PORTS[0]!.interface} root tbf rate ${NARROW_BPS / 1e6}mbit`);
  for (const { sid } of Object.values(SERVICES))
    expect(commands).toContain(`${sid}/128 encap seg6local action End.DT6`);
  const text = (node: string): string => readFileSync(join(dirname(ARN.file), node, 'cnpd.yaml'), 'utf8');
  for (const { node, interface: port } of HOLD_PORTS)
    expect(parse(text(node))).toMatchObject({ 'flow-control': { mode: 'service', hold: [port] } });
  expect(parse(text('pe2'))).toMatchObject({ 'flow-control': { watch: [{ interface: PORTS[0]!.interface }] } });
  expect(parse(configuration(text('p'), 'service'))).toEqual(parse(text('p')));
  expect(parse(configuration(text('p'), 'priority'))).toMatchObject({
    'flow-control': { mode: 'priority', hold: ['eth2'] },
  });
  expect(parse(configuration(text('p'), 'none'))).toEqual({ router: expect.any(Object) });
});

test('a router’s counts are how much they grew during a run', () => {
  const counts = (asked: number) => [{ node: 'p', asked, paused: 2 * asked, extended: 1 }];
  expect(grown(counts(3), counts(10))).toEqual([{ node: 'p', asked: 7, paused: 14, extended: 0 }]);
});
