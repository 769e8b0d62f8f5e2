import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { Facts } from './facts.ts';
import { planFlowControl } from './flow-control.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { plan } from './plan.ts';

const planned = (fields: string, facts = FACTS, more = ''): ReturnType<typeof planFlowControl> =>
  planFlowControl(intentOf(`flow-control: { ${fields} }\n${more}`), facts);
const codes = (...args: Parameters<typeof planned>): string[] => planned(...args).problems.map(({ code }) => code);
const port = (name: string, ifindex: number): object => ({ id: name, interface: name, ifindex });
const WATCH = 'mode: flow, watch: [{ interface: wan }]';
const HOLD = 'mode: flow, hold: [eth1, eth2], accept-from: ["fe80::/10"]';

test('an intent without flow control plans none', () => {
  expect(planFlowControl(intentOf(''), FACTS)).toEqual({ problems: [] });
  expect(plan(intentOf(`flow-control: { ${WATCH} }\n`), learnedTable(), FACTS).flowControl).toMatchObject({
    mode: 'flow',
  });
});

test('the plan has every queue and port, by index, and times in their units', () => {
  const { flowControl, problems } = planned(
    'mode: priority, watch: [{ interface: wan, pause-above: 300kB }], hold: [eth1], accept-from: ["fe80::/10"], ' +
      'interfaces: [eth1, eth2], neighbors: [{ interface: eth2, address: "fe80::2" }], bandwidth: 10Gbit, ' +
      'pause: 100us, rate: 50/s, priorities: [{ dscp: 46, priority: 3 }]',
    FACTS,
    'code-points: { arn-udp-port: 50022, arn-bit-order: lsb-first }\n',
  );
  expect(problems).toEqual([]);
  expect(flowControl).toEqual({
    mode: 'priority',
    udpPort: 50_022,
    bitOrder: 'lsb-first',
    interfaces: [port('eth1', 2), port('eth2', 3)],
    watch: [{ ...port('wan', 5), above: 300_000, below: 100_000 }],
    hold: [port('eth1', 2)],
    above: 200_000,
    below: 100_000,
    lineRate: 10e9,
    buffer: 4_000_000,
    neighbors: [{ id: 'eth2 fe80::2', ifindex: 3, address: address('fe80::2') }],
    acceptFrom: [{ id: 'fe80::/10', prefix: prefix('fe80::/10') }],
    pauseUs: 100,
    longestPauseUs: 100_000,
    watchdogMs: 1000,
    perSecond: 50,
    burst: 5,
    priorities: expect.any(Array),
  });
});

test('the priority is the upper three bits of the DSCP, but where the file says otherwise', () => {
  const { priorities } = planned(
    `${WATCH}, priorities: [{ dscp: 46, priority: 3 }, { dscp: 0, priority: 7 }]`,
  ).flowControl!;
  expect(priorities).toHaveLength(64);
  expect([0, 1, 7, 8, 45, 46, 47, 48, 63].map((dscp) => priorities[dscp])).toEqual([7, 0, 0, 1, 5, 3, 5, 6, 7]);
});

test('traffic arrives everywhere but at the border and at the veths of carriers', () => {
  const more = 'border-ports: [eth3]\nisis: { system-id: 0000.0000.c001, area: 49.0001 }\n';
  expect(planned(WATCH, FACTS, more).flowControl!.interfaces.map(({ id }) => id)).toEqual(['eth1', 'eth2', 'wan']);
  expect(codes(WATCH, FACTS, 'border-ports: [far]\n')).toEqual(['border-ports.missing']);
  const { flowControl } = planned(`${WATCH}, interfaces: [eth1]`, FACTS, 'border-ports: [far]\n');
  expect(flowControl!.interfaces.map(({ id }) => id)).toEqual(['eth1']);
  expect(codes(WATCH, { ...FACTS, links: FACTS.links.filter(({ name }) => name === 'lo') })).toEqual([
    'flow-control.no-interface',
    'interface.missing',
  ]);
});

test('the rate of the ports that hold: declared, else that of the fastest, else 100 Gbit/s', () => {
  const links = (speeds: Readonly<Record<string, number>>): Facts => ({
    ...FACTS,
    links: FACTS.links.map((link) => (speeds[link.name] ? { ...link, speedBitPerS: speeds[link.name]! } : link)),
  });
  const rate = (fields: string, facts: Facts): number => planned(fields, facts).flowControl!.lineRate;
  expect(rate(HOLD, links({ eth1: 25e9, eth2: 40e9, wan: 400e9 }))).toBe(40e9);
  expect(rate(HOLD, links({ eth1: 25e9 }))).toBe(25e9);
  expect(rate(HOLD, FACTS)).toBe(100e9);
  expect(rate(`${HOLD}, bandwidth: 1Gbit`, links({ eth1: 25e9 }))).toBe(1e9);
});

test('what is missing is a problem, and the rest is planned', () => {
  const { flowControl, problems } = planned(
    'mode: flow, watch: [{ interface: wan }, { interface: eth7 }], hold: [eth1, eth8, lo], accept-from: ["fe80::/10"], ' +
      'interfaces: [eth2], neighbors: [{ interface: eth2, address: "fe80::1" }]',
  );
  expect(problems.map(({ code, feature }) => [code, feature])).toEqual([
    ['interface.missing', 'flow-control.hold'],
    ['flow-control.not-ethernet', 'flow-control'],
    ['interface.missing', 'flow-control.watch'],
  ]);
  expect(flowControl!.watch.map(({ id }) => id)).toEqual(['wan']);
  expect(flowControl!.hold.map(({ id }) => id)).toEqual(['eth1']);
  expect(codes(`${WATCH}, neighbors: [{ interface: eth9, address: "fe80::1" }]`)).toEqual(['interface.missing']);
});

test('a queue whose depth is not one number is not watched, unless the port gets an HTB because it holds', () => {
  const { flowControl, problems } = planned('mode: flow, watch: [{ interface: eth2, pause-above: 1MB }]');
  expect(flowControl!.watch).toEqual([]);
  expect(problems).toEqual([
    {
      code: 'flow-control.queue-unreadable',
      feature: 'flow-control',
      problem: expect.stringContaining('the root qdisc of eth2 is pfifo_fast'),
      remedy: expect.stringContaining('limit 4000000'),
    },
  ]);
  expect(planned(`${HOLD}, watch: [{ interface: eth2 }]`)).toMatchObject({
    flowControl: { watch: [{ id: 'eth2' }] },
    problems: [],
  });
  expect(codes('mode: flow, watch: [{ interface: wan, pause-above: 1MB }]')).toEqual(['flow-control.never-exceeded']);
});

test('a neighbor at a port at which no traffic arrives is never asked', () =>
  expect(
    codes(
      `${WATCH}, neighbors: [{ interface: cnpd-isis, address: "fe80::1" }]`,
      FACTS,
      'ospfv3: { router-id: 192.0.2.1, areas: [{ area: 0, interface: cnpd-isis }] }\n',
    ),
  ).toEqual(['flow-control.neighbor-elsewhere']));

test('a router that forwards nothing pauses nothing; one family is enough', () => {
  const forwarding = (v4: boolean, v6: boolean): string[] => codes(WATCH, { ...FACTS, forwarding: { 4: v4, 6: v6 } });
  expect(forwarding(false, false)).toEqual(['flow-control.not-forwarding']);
  expect([forwarding(true, false), forwarding(false, true)]).toEqual([[], []]);
});

test('a kernel without what the programs need runs no flow control', () => {
  const features = [{ name: 'packet-memory', ok: false, detail: 'EINVAL', remedy: 'boot Linux 6.2' }];
  expect(planned(WATCH, { ...FACTS, features })).toEqual({
    problems: [expect.objectContaining({ code: 'kernel.feature-missing', feature: 'flow-control' })],
  });
});
