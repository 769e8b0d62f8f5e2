// Precise flow control with something in every list, for tests.
import type { FlowControlState } from '../model/flow-control-state.ts';

const SERVICE = {
  traffic: 'service 2001:db8:a::1 to 2001:db8:b::1 protocol 41',
  source: '2001:db8:a::1',
  destination: '2001:db8:b::1',
  protocol: 41,
  sourcePort: null,
  destinationPort: null,
  priority: null,
};

const FLOW = {
  traffic: 'flow 2001:db8:1::1 port 49152 to 2001:db8:2::1 port 4791',
  source: '2001:db8:1::1',
  destination: '2001:db8:2::1',
  protocol: null,
  sourcePort: 49_152,
  destinationPort: 4791,
  priority: null,
};

const PRIORITY = {
  traffic: 'priority 3',
  source: null,
  destination: null,
  protocol: null,
  sourcePort: null,
  destinationPort: null,
  priority: 3,
};

/** Each mode once, although a router has one. */
export const exampleFlowControl = (): FlowControlState => ({
  mode: 'service',
  udpPort: 1022,
  bitOrder: 'msb-first',
  ports: [
    { interface: 'eth2', watched: true, holds: true, pauseAbove: 200_000, resumeBelow: 100_000, asked: 0, paused: 1 },
    { interface: 'eth3', watched: true, holds: false, pauseAbove: 400_000, resumeBelow: 150_000, asked: 1, paused: 0 },
    { interface: 'eth4', watched: false, holds: true, pauseAbove: null, resumeBelow: null, asked: 0, paused: 0 },
  ],
  asked: [
    {
      ...SERVICE,
      ingress: 'eth1',
      neighbor: 'fe80::1',
      interface: 'eth3',
      reason: 'queue',
      since: '2026-11-20T12:00:05.000Z',
      until: '2026-11-20T12:00:10.008Z',
      times: 500,
    },
    // The port watches its queue, and holds: both are full.
    {
      ...SERVICE,
      ingress: 'eth1',
      neighbor: 'fe80::1',
      interface: 'eth3',
      reason: 'held',
      since: '2026-11-20T12:00:06.000Z',
      until: '2026-11-20T12:00:10.009Z',
      times: 7,
    },
    {
      ...FLOW,
      ingress: 'eth1',
      neighbor: 'fe80::1',
      interface: 'eth3',
      reason: 'held',
      since: '2026-11-20T12:00:05.000Z',
      until: '2026-11-20T12:00:10.008Z',
      times: 1,
    },
    {
      ...PRIORITY,
      ingress: 'eth1',
      neighbor: 'fe80::1',
      interface: 'eth3',
      reason: 'queue',
      since: '2026-11-20T12:00:05.000Z',
      until: '2026-11-20T12:00:10.008Z',
      times: 2,
    },
  ],
  paused: [
    {
      ...SERVICE,
      interface: 'eth2',
      neighbor: 'fe80::2',
      state: 'paused',
      since: '2026-11-20T12:00:07.000Z',
      until: '2026-11-20T12:00:12.000Z',
      pauseUs: 10_000,
      times: 300,
    },
    {
      ...FLOW,
      interface: 'eth2',
      neighbor: 'fe80::2',
      state: 'leaving',
      since: '2026-11-20T12:00:07.000Z',
      until: '2026-11-20T12:00:12.000Z',
      pauseUs: 10_000,
      times: 4,
    },
    {
      ...PRIORITY,
      interface: 'eth2',
      neighbor: 'fe80::2',
      state: 'watchdog',
      since: '2026-11-20T12:00:07.000Z',
      until: '2026-11-20T12:00:12.000Z',
      pauseUs: 10_000,
      times: 5,
    },
  ],
});
