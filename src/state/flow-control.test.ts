import { expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import type { Intent } from '../intent/intent.ts';
import { address } from '../model/address.ts';
import type { Traffic } from '../model/flow-control.ts';
import { type FlowControlView, trafficState } from '../model/flow-control-state.ts';
import { isoOf } from '../model/wall-time.ts';
import { flowControlState } from './flow-control.ts';
import { namesOf } from './names.ts';

function intentOf(section: string): Intent {
  const loaded = loadIntent(`router: { name: r1 }\n${section}`, 'cnpd.yaml');
  if (!loaded.ok) throw new Error(loaded.error.map(({ message }) => message).join('\n'));
  return loaded.value;
}

const FILE =
  'flow-control: { mode: flow, watch: [{ interface: wan }, { interface: lan, pause-above: 1MB }], ' +
  'hold: [lan, far], accept-from: ["fe80::/10"] }\n';
const link = (ifindex: number, name: string) => ({ ifindex, name, up: true, kind: undefined, etherLike: true });
const NAMES = namesOf({ links: [link(2, 'wan'), link(3, 'lan')] });
const FLOW: Traffic = {
  mode: 'flow',
  source: address('2001:db8:1::1'),
  destination: address('2001:db8:2::1'),
  sourcePort: 49_152,
  destinationPort: 4791,
};
const never = (): never => {
  throw new Error('nothing has a time');
};

test('a router without flow control shows nothing', () => {
  const nothing = { mode: null, udpPort: null, bitOrder: null, ports: [], asked: [], paused: [] };
  expect(flowControlState(intentOf(''), undefined, NAMES, never)).toEqual(nothing);
});

test('what is declared is shown also while nothing runs', () => {
  const { ports, ...rest } = flowControlState(intentOf(FILE), undefined, NAMES, never);
  expect(rest).toEqual({ mode: 'flow', udpPort: 1022, bitOrder: 'msb-first', asked: [], paused: [] });
  const [none, low] = [
    { asked: 0, paused: 0 },
    { pauseAbove: 200_000, resumeBelow: 100_000 },
  ];
  expect(ports).toEqual([
    { interface: 'wan', watched: true, holds: false, ...low, ...none },
    { interface: 'lan', watched: true, holds: true, pauseAbove: 1_000_000, resumeBelow: 100_000, ...none },
    { interface: 'far', watched: false, holds: true, pauseAbove: null, resumeBelow: null, ...none },
  ]);
});

test('what is asked and paused has names, addresses and times of day, and counts at its port', () => {
  const now = 50_000;
  const view: FlowControlView = {
    paused: [
      {
        ...{ traffic: FLOW, egress: 3, neighbor: address('fe80::2'), state: 'watchdog' },
        ...{ since: now - 2000, until: now + 1000, pauseUs: 10_000, times: 7 },
      },
    ],
    asked: [
      {
        ...{ traffic: { mode: 'priority', priority: 3 }, ingress: 9, egress: 3, reason: 'held' },
        ...{ neighbor: address('fe80::1'), since: now - 1000, until: now + 10, times: 5 },
      },
    ],
  };
  const { ports, asked, paused } = flowControlState(intentOf(FILE), view, NAMES, (at) => isoOf(at, 1_000_000));
  expect(ports.map(({ interface: name, asked: a, paused: p }) => [name, a, p])).toEqual([
    ['wan', 0, 0],
    ['lan', 1, 1],
    ['far', 0, 0],
  ]);
  expect(paused).toEqual([
    {
      traffic: 'flow 2001:db8:1::1 port 49152 to 2001:db8:2::1 port 4791',
      ...{ source: '2001:db8:1::1', destination: '2001:db8:2::1', protocol: null, priority: null },
      ...{ sourcePort: 49_152, destinationPort: 4791, interface: 'lan', neighbor: 'fe80::2', state: 'watchdog' },
      ...{ since: isoOf(1_048_000, 0), until: isoOf(1_051_000, 0), pauseUs: 10_000, times: 7 },
    },
  ]);
  expect(asked).toMatchObject([
    { traffic: 'priority 3', priority: 3, source: null, ingress: '#9', interface: 'lan', reason: 'held', times: 5 },
  ]);
});

test('a service is its outer header, without ports', () => {
  const service: Traffic = {
    ...{ mode: 'service', source: address('192.0.2.1'), destination: address('192.0.2.2'), protocol: 4 },
  };
  expect(trafficState(service)).toEqual({
    traffic: 'service 192.0.2.1 to 192.0.2.2 protocol 4',
    ...{ source: '192.0.2.1', destination: '192.0.2.2', protocol: 4 },
    ...{ sourcePort: null, destinationPort: null, priority: null },
  });
});
