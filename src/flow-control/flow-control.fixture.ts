// Traffic, and neighbors, for the tests of flow control.
import { address } from '../model/address.ts';
import type { FilledQueue, HeldTraffic, Traffic } from '../model/flow-control.ts';
import type { AskedOptions } from './asked.ts';
import type { PausedOptions } from './paused.ts';

export const SERVICE: Traffic = {
  mode: 'service',
  source: address('2001:db8:ffff::1'),
  destination: address('2001:db8:ffff::9'),
  protocol: 41,
};
export const OTHER_SERVICE: Traffic = { ...SERVICE, destination: address('2001:db8:ffff::8') };
export const FLOW: Traffic = {
  mode: 'flow',
  source: address('2001:db8:a::1'),
  destination: address('2001:db8:b::1'),
  sourcePort: 0xc001,
  destinationPort: 4791,
};
export const PRIORITY: Traffic = { mode: 'priority', priority: 3 };

export const NEIGHBOR = address('fe80::2');
export const OTHER_NEIGHBOR = address('fe80::3');
export const EGRESS = 7;
export const INGRESS = 5;
export const held = (traffic: Traffic = SERVICE, egress = EGRESS): HeldTraffic => ({ traffic, egress });

export const filled = (change: Partial<FilledQueue> = {}): FilledQueue => ({
  atNs: 0n,
  traffic: SERVICE,
  ingress: INGRESS,
  cameFrom: address('2001:db8:ffff::1'),
  sourceMac: Uint8Array.of(2, 0, 0, 0, 0, 1),
  egress: EGRESS,
  reason: 'queue',
  depth: 150_000,
  ...change,
});

export const LINE = 100e6;
export const pausedOptions: PausedOptions = {
  lineRate: LINE,
  mostTraffic: 4,
  mostAtPort: 4,
  longestPauseMs: 100,
  watchdogMs: 1000,
  leastBreakMs: 5,
  lifetimeMs: 3000,
  renewMs: 400,
  drainMs: 5000,
};
export const askedOptions: AskedOptions = { pauseMs: 10, limit: { perSecond: 1000, burst: 10 }, mostAsked: 4 };
